"""memgene program check|run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memgene.cli import inputs, options, output
from memgene.cli.app import FAILED

if TYPE_CHECKING:
    from memgene.api.programs import ProgramRun

File = Annotated[
    str,
    typer.Argument(metavar="FILE", help="A program's file, or the name of one that is shipped."),
]
Write = Annotated[
    str | None, typer.Option("--write", metavar="TEXT", help="The text to write, or @FILE.")
]
Item = Annotated[
    str | None,
    typer.Option(
        "--item",
        metavar="JSON",
        help="Values of the item's fields. Default: the offline agent fills them from the text.",
    ),
]
Query = Annotated[
    str | None,
    typer.Option("--query", metavar="TEXT", help="A question to read with, put by that agent."),
]
QueryJson = Annotated[
    str | None,
    typer.Option("--query-json", metavar="JSON", help="Values of the query's fields instead."),
]


def check(
    program: File,
    sandbox: options.Sandbox = None,
    embedder: options.Embedder = None,
    json: options.Json = False,
) -> None:
    """Put a memory program through every gate: static checks, then a trial in the sandbox.

    Exit code 1 when something is found. A stub answers for the language model.
    """
    from memgene.api.programs import check_program
    from memgene.programs.gates import render_findings

    checked = check_program(program, sandbox=sandbox, embedder=embedder)
    if json:
        output.json_line(checked.model_dump())
    else:
        if checked.findings:
            output.say(render_findings(checked.findings))
            output.say()
        tried = "tried in" if checked.tried else "not run; available is"
        found = "passes every gate" if checked.ok else f"{len(checked.findings)} findings"
        output.say(f"program {checked.program}: {found} ({tried} sandbox level {checked.sandbox})")
    if not checked.ok:
        raise typer.Exit(FAILED)


def run(
    program: File,
    write: Write = None,
    item: Item = None,
    query: Query = None,
    query_json: QueryJson = None,
    sandbox: options.Sandbox = None,
    embedder: options.Embedder = None,
    json: options.Json = False,
) -> None:
    """Run a memory program by hand: one write, one read, each where it is asked for."""
    from memgene.api.programs import run_program
    from memgene.sandbox import GuestError

    if query is not None and query_json is not None:
        raise typer.BadParameter("give either --query or --query-json")
    values = inputs.json_object(query_json, "--query-json")
    try:
        done = run_program(
            program,
            write=_text(write),
            item=inputs.json_object(item, "--item"),
            query=query if values is None else values,
            sandbox=sandbox,
            embedder=embedder,
        )
    except GuestError as error:
        output.warn(str(error))
        if error.detail:
            typer.echo(error.detail, err=True)
        raise typer.Exit(FAILED) from error
    if json:
        output.json_line(done.model_dump())
    else:
        _show(done)


def _text(given: str | None) -> str | None:
    """The text itself, or that of the file behind an @."""
    if given is None or not given.startswith("@"):
        return given
    return Path(given[1:]).read_text(encoding="utf-8")


def _show(done: ProgramRun) -> None:
    for name, values in (("item", done.item), ("query", done.query)):
        for key, value in (values or {}).items():
            output.say(f"{name:<7} {key} = {value!r}")
    for line in done.logs:
        output.say(f"log     {line}")
    for step, seconds in done.seconds.items():
        output.say(f"{step:<7} {seconds * 1000:.1f} ms")
    output.say(f"sandbox {done.sandbox}")
    if done.text is not None:
        output.say()
        output.say(done.text)
