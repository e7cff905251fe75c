"""The result of a run as a Markdown table, for a README or an issue."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memgene.reports.model import RunView
from memgene.reports.numbers import duration, interval, points, probability, signed
from memgene.reports.rounds import UNASKED


def markdown(view: RunView) -> str:
    """Headline, result table with intervals, paired differences, categories."""
    lines = [f"# {view.task}: {view.strategy} evolution", ""]
    if not view.finished:
        lines += ["The run is not finished; this is its state so far.", ""]
    lines += _result(view)
    if view.differences:
        lines += ["", "Evolved minus each, on the same questions:", ""]
        lines += _table(
            ("memory", "difference", "95 % interval", "p"),
            (
                (d.name, signed(d.delta), interval(d.low, d.high), probability(d.p))
                for d in view.differences
            ),
        )
    if view.categories:
        names = list(dict.fromkeys(name for row in view.categories for name in row.means))
        lines += ["", f"{view.metric} by category:", ""]
        lines += _table(
            ("memory", *names, "lowest", "spread"),
            (
                (
                    row.name,
                    *(points(row.means[n][0]) if n in row.means else "–" for n in names),
                    points(row.minimum),
                    points(row.std),
                )
                for row in view.categories
            ),
        )
    if not view.search_asked:
        lines += ["", UNASKED]
    lines += ["", f"Wall time {duration(view.seconds)}."]
    return "\n".join(lines) + "\n"


def _result(view: RunView) -> list[str]:
    rows = [(n, s[view.metric]) for n, s in view.rows.items() if view.metric in s]
    if not rows:
        return ["No held-out result."]
    method = f", resampling {rows[0][1].method}" if rows[0][1].method else ""
    words = (
        f"{view.metric} on {rows[0][1].n} held-out questions, in points of 100, "
        f"95 % bootstrap intervals{method}."
    )
    cells = ((n, points(s.mean), interval(s.low, s.high), str(s.n)) for n, s in rows)
    return [words, "", *_table(("memory", view.metric, "95 % interval", "questions"), cells)]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        _row(head),
        _row(["---"] + ["---:"] * (len(head) - 1)),
        *(_row(row) for row in rows),
    ]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
