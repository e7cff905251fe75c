"""Several runs as one self-contained page: their table, their differences, their programs."""

from __future__ import annotations

from pathlib import Path

from memgene.core import RunError
from memgene.reports import plots
from memgene.reports.elements import Markup, Piece, element, join, section, table
from memgene.reports.landscape_parts import landscape_part
from memgene.reports.numbers import counted, duration, interval, points, probability, signed
from memgene.reports.page import document
from memgene.reports.runs import RunRow, RunsView


def write_comparison(view: RunsView, path: Path) -> Path:
    """Write the page. Raises RunError where it cannot be written."""
    try:
        path.write_text(runs_page(view), encoding="utf-8")
    except OSError as error:
        told = error.strerror or error
        raise RunError(f"the page cannot be written to {path}: {told}") from error
    return path


def runs_page(view: RunsView) -> str:
    """HTML of a comparison."""
    title = f"{counted(len(view.rows), 'run')} compared"
    body = join((element("h1", title), _table(view), _paired(view), _programs(view)))
    return document(title, body)


def _table(view: RunsView) -> Markup:
    head = (
        "run", "task", "strategy", "metric", "start", "evolved", "gain, paired",
        "questions evaluated", "time",
    )  # fmt: skip
    rows = [_cells(row) for row in view.rows]
    lead = "Scores on the held-out questions of each run, in points of 100, 95 % intervals."
    return section("What each run gained", table(head, rows, numeric_from=4), lead=lead)


def _cells(row: RunRow) -> tuple[Piece, ...]:
    gain = row.gain
    evolved = row.evolved
    told: Piece = None
    if evolved is not None:
        told = f"{points(evolved.mean)} {interval(evolved.low, evolved.high)}"
    elif not row.finished:
        told = "not finished"
    return (
        row.name,
        row.task,
        row.strategy,
        row.metric,
        None if row.start is None else points(row.start.mean),
        told,
        None if gain is None else f"{signed(gain.delta)} {interval(gain.low, gain.high)}",
        row.evaluations,
        duration(row.seconds),
    )


def _paired(view: RunsView) -> Markup:
    if not view.differences:
        return Markup("")
    bars = [
        plots.Bar(
            d.name,
            d.delta,
            d.low,
            d.high,
            f"{signed(d.delta)} {interval(d.low, d.high)} p {probability(d.p)}, {d.n} questions",
            d.low > 0,
        )
        for d in view.differences
    ]
    first = view.differences[0]
    return section(
        f"Evolved memories against that of {first.against}, on the same questions",
        plots.intervals(bars, zero=True),
        lead=f"Paired differences of {first.metric}, resampling {first.method}.",
    )


def _programs(view: RunsView) -> Markup:
    return landscape_part(view.landscape, "score")
