"""The console script: every verb under its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated

import typer

from memgene import __version__
from memgene.cli.app import make_app
from memgene.cli.verbs.ablate import ablate
from memgene.cli.verbs.add import add
from memgene.cli.verbs.compare import compare
from memgene.cli.verbs.delete import delete
from memgene.cli.verbs.demo import demo
from memgene.cli.verbs.diff import diff
from memgene.cli.verbs.doctor import doctor
from memgene.cli.verbs.evaluate import evaluate
from memgene.cli.verbs.evolve import evolve
from memgene.cli.verbs.export import export
from memgene.cli.verbs.feedback import feedback
from memgene.cli.verbs.genome.diff import diff as genome_diff
from memgene.cli.verbs.genome.key import key as genome_key
from memgene.cli.verbs.genome.pack import pack as genome_pack
from memgene.cli.verbs.genome.show import show as genome_show
from memgene.cli.verbs.genome.verify import verify as genome_verify
from memgene.cli.verbs.get import get
from memgene.cli.verbs.harnesses import harnesses
from memgene.cli.verbs.history import history
from memgene.cli.verbs.import_ import import_
from memgene.cli.verbs.learn import learn
from memgene.cli.verbs.levers import levers
from memgene.cli.verbs.lineage import lineage
from memgene.cli.verbs.list import list_
from memgene.cli.verbs.program import check as program_check
from memgene.cli.verbs.program import run as program_run
from memgene.cli.verbs.reembed import reembed
from memgene.cli.verbs.report import report
from memgene.cli.verbs.search import search
from memgene.cli.verbs.stability import stability
from memgene.cli.verbs.stats import stats
from memgene.cli.verbs.task_check import check as task_check
from memgene.cli.verbs.tasks import tasks
from memgene.cli.verbs.transfer import transfer
from memgene.cli.verbs.update import update
from memgene.cli.verbs.verify import verify

_VERBS: Mapping[str, Callable[..., None]] = {
    "demo": demo,
    "tasks": tasks,
    "harnesses": harnesses,
    "levers": levers,
    "evaluate": evaluate,
    "evolve": evolve,
    "report": report,
    "lineage": lineage,
    "diff": diff,
    "compare": compare,
    "transfer": transfer,
    "stability": stability,
    "ablate": ablate,
    "add": add,
    "search": search,
    "get": get,
    "list": list_,
    "update": update,
    "delete": delete,
    "history": history,
    "feedback": feedback,
    "learn": learn,
    "verify": verify,
    "check": verify,
    "export": export,
    "import": import_,
    "reembed": reembed,
    "stats": stats,
    "doctor": doctor,
}


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"memgene {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Options before any verb."""


def build() -> typer.Typer:
    """The whole application."""
    app = make_app("Memory for LLM agents that evolves to fit the task it serves.")
    task = make_app("Work on task folders.")
    task.command("check")(task_check)
    genome = make_app("Look at what evolved, check it, hand it on.")
    genome.command("show")(genome_show)
    genome.command("diff")(genome_diff)
    genome.command("verify")(genome_verify)
    genome.command("pack")(genome_pack)
    genome.command("key")(genome_key)
    program = make_app("Try memory programs.")
    program.command("check")(program_check)
    program.command("run")(program_run)
    for name, verb in _VERBS.items():
        app.command(name)(verb)
    app.callback()(_root)
    app.add_typer(task, name="task")
    app.add_typer(genome, name="genome")
    app.add_typer(program, name="program")
    return app


def main() -> None:
    """Run the command line and exit."""
    build()(prog_name="memgene")


if __name__ == "__main__":
    main()
