"""memgene genome diff."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memgene.cli import options, output
from memgene.cli.output import printable
from memgene.cli.verbs.genome.paths import FORMS

if TYPE_CHECKING:
    from memgene.api import GenomeDiff
    from memgene.genome.comparing import Change

First = Annotated[Path, typer.Argument(metavar="A", help=f"From: {FORMS}.")]
Second = Annotated[Path, typer.Argument(metavar="B", help="To.")]


def diff(a: First, b: Second, json: options.Json = False) -> None:
    """Show what differs from one genome to another: levers, stages, program, origin, scores."""
    from memgene.api import diff_genomes

    found = diff_genomes(a, b)
    if json:
        output.json_line(found.model_dump())
    else:
        _show(found)


def _show(found: GenomeDiff) -> None:
    here, there = found.ids
    output.say(f"genome {here} to {there}" + (": both do the same" if found.same else ""))
    for name, state in (("router", found.router), ("learned", found.memory)):
        if state != "absent":
            output.say(f"{name} {state}")
    output.say()
    _changes("lever", found.levers)
    _changes("origin", found.origin)
    _changes("instruction", found.prompts)
    _scores(found.scores)
    rows = [(stage.name, _said(stage.a), _said(stage.b)) for stage in found.stages]
    _table(("stage", "A", "B"), rows)
    for patch in (found.program, *(stage.patch for stage in found.stages)):
        for line in patch.splitlines():
            output.say(printable(line, keep=" \t"))


def _changes(what: str, changes: Sequence[Change]) -> None:
    _table((what, "A", "B"), [(c.name, _said(c.a), _said(c.b)) for c in changes])


def _scores(changes: Sequence[Change]) -> None:
    from memgene.reports.numbers import interval, points

    def said(score: object) -> str:
        if score is None:
            return "–"
        mean, low, high, n = (getattr(score, part) for part in ("mean", "low", "high", "n"))
        return f"{points(mean)} {interval(low, high)}, {n} questions"

    _table(("score", "A", "B"), [(c.name, said(c.a), said(c.b)) for c in changes])


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    if rows:
        output.table(head, [tuple(map(printable, row)) for row in rows])
        output.say()


def _said(item: object) -> str:
    from memgene.reports.numbers import value

    return ", ".join(map(str, item)) or "none" if isinstance(item, tuple) else value(item)
