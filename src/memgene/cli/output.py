"""What verbs print: one JSON object, or text for people. Nothing else goes to stdout."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from memgene.cli.app import INTERRUPTED

if TYPE_CHECKING:
    from memgene.api import EvolutionRun, MemoryPage, MemoryRecord
    from memgene.core import Why
    from memgene.evaluation.report import EvaluationReport


def say(text: str = "") -> None:
    """A line for people."""
    typer.echo(text)


def warn(text: str) -> None:
    """Print a line a person should see beside the result."""
    typer.echo(f"memgene: {text}", err=True)


def json_line(value: Mapping[str, Any]) -> None:
    """The one object `--json` promises, on one line."""
    typer.echo(json.dumps(value, ensure_ascii=False, allow_nan=False))


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right_from: int = 99) -> None:
    """Aligned columns; those from `right_from` on are numbers."""
    if not rows:
        return
    for line in _lines(head, rows, right_from):
        say(line)


def wide_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table of numbers, turned on its side where it is wider than the screen."""
    upright = _lines(head, rows, 1)
    width = shutil.get_terminal_size((120, 24)).columns
    if max(map(len, upright)) > width and len(rows) < len(head):
        turned = list(zip(head, *rows, strict=True))
        upright = _lines(turned[0], turned[1:], 1)
    for line in upright:
        say(line)


def _lines(head: Sequence[str], rows: Sequence[Sequence[str]], right_from: int) -> list[str]:
    widths = [max(len(str(line[place])) for line in (head, *rows)) for place in range(len(head))]
    rule = ["─" * width for width in widths]
    lines = []
    for line in (head, rule, *rows):
        cells = [
            str(cell).rjust(width) if place >= right_from else str(cell).ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def reasons(why: Why) -> str:
    """`view #rank (score)` per view that found it, then the factors that moved it."""
    parts = [
        f"{name} #{view.rank} ({view.score:.2f})"
        for name, view in why.views.items()
        if view.rank is not None
    ]
    parts += [f"{name} {value:+.2f}" for name, value in why.factors.items() if value]
    return ", ".join(parts)


def record(one: MemoryRecord) -> None:
    """One memory, its empty parts left out."""
    for name, value in one.model_dump().items():
        if value not in (None, {}, ""):
            say(f"{name:<11} {value}")


def records(page: MemoryPage) -> None:
    """A page of memories, and how to see the next."""
    rows = [(m.id, m.user_id or "–", m.status, m.text.replace("\n", " ")[:100]) for m in page]
    table(("id", "user", "status", "text"), rows)
    if page.next is not None:
        say(f"more: --after {page.next}")


def evaluation(report: EvaluationReport, category_metric: str | None = None) -> None:
    """A report's tables, percent with 95 % intervals."""
    tables = [report.table(), report.text_table(), report.agreement_table()]
    if category_metric is not None:
        tables.append(report.category_table(category_metric))
    for one in filter(None, tables):
        say(f"{one.title} (percent, 95 % intervals)")
        wide_table(one.header, one.rows)
        for note in one.notes:
            say(note)
        say()


def scores(report: EvaluationReport, metrics: Sequence[str]) -> None:
    """One row per memory with a few metrics, percent with 95 % intervals."""
    from memgene.reports.numbers import interval, points

    rows = []
    for harness in report.harnesses:
        found = [harness.metrics.get(name) for name in metrics]
        cells = [f"{points(f.mean)} {interval(f.low, f.high)}" if f else "–" for f in found]
        rows.append((harness.name, *cells))
    table(("memory", *metrics), rows, 1)
    say()


@contextmanager
def finishing_on_interrupt() -> Iterator[None]:
    """A run that was stopped by Ctrl-C after a whole round ends with its message and code 130."""
    from memgene.evolution.interrupt import RunInterruptedError

    try:
        yield
    except RunInterruptedError as stopped:
        typer.echo(f"memgene: {stopped}", err=True)
        raise typer.Exit(INTERRUPTED) from stopped


def evolution(run: EvolutionRun) -> None:
    """Held-out scores and paired differences of a finished run, and where its parts are."""
    rows = run.rows()
    say(f"{run.metric} on {run.questions} held-out questions (percent, 95 % intervals)")
    table(("memory", run.metric, "evolved minus it"), rows)
    say()
    say(f"best genome  {run.best}")
    say(f"report       {run.report}")
