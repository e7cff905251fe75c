"""The result of a run as a Markdown table, for a README or an issue."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memgene.reports.model import RunView
from memgene.reports.node import Node
from memgene.reports.numbers import duration, interval, points, probability, signed
from memgene.reports.rounds import UNASKED


def markdown(view: RunView) -> str:
    """Headline, result table with intervals, paired differences, categories."""
    lines = [f"# {view.task}: {view.strategy} evolution", ""]
    if not view.finished:
        lines += ["The run is not finished; this is its state so far.", ""]
    if view.caution:
        lines += [view.caution, ""]
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
    lines += _programs(view)
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


def _programs(view: RunView) -> list[str]:
    """Every program with what became of it, and which one the run yields."""
    lines: list[str] = []
    for one in view.trajectories:
        if one.drafts:
            where = f" of {one.name}" if len(view.trajectories) > 1 else ""
            lines += ["", f"Programs{where}, scores on val. {one.summary}", ""]
            head = (
                "candidate",
                "score",
                "to its parent",
                "from",
                "became",
                "what it is, or why not",
            )
            lines += _table(head, (_program(draft.node) for draft in one.drafts), numbers=2)
    if view.program is not None:
        lines += ["", f"{view.program.title}: {_line(view.program.about)}"]
    return lines


def _program(node: Node) -> Sequence[str]:
    reasons = [f"{each.stage}: {each.reason}" for each in node.rejections]
    became = f"{node.status}, regressed" if node.regressed else str(node.status)
    told = _line(" — ".join(filter(None, (node.title, *reasons))))
    return (node.id, points(node.score), signed(node.delta), node.parent or "–", became, told)


def _line(text: str) -> str:
    """Text on one line, without what Markdown would take for HTML."""
    return " ".join(text.split()).replace("<", "&lt;")


def _table(
    head: Sequence[str], rows: Iterable[Sequence[str]], numbers: int | None = None
) -> list[str]:
    """Rows under a head; `numbers` columns after the first are right-aligned (None: all)."""
    right = len(head) - 1 if numbers is None else numbers
    rule = ["---"] + ["---:"] * right + ["---"] * (len(head) - 1 - right)
    return [_row(head), _row(rule), *(_row(row) for row in rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
