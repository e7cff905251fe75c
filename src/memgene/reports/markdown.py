"""The result of a run as a Markdown table, for a README or an issue."""

from __future__ import annotations

from collections.abc import Sequence

from memgene.reports import coevolve_markdown, joint_markdown
from memgene.reports.markdown_tables import line, table
from memgene.reports.model import RunView
from memgene.reports.node import Node
from memgene.reports.numbers import duration, interval, points, probability, signed
from memgene.reports.rounds import UNASKED


def markdown(view: RunView) -> str:
    """Headline, result table with intervals, paired differences, categories, programs, training."""
    lines = [f"# {view.task}: {view.strategy} evolution", ""]
    if not view.finished:
        lines += ["The run is not finished; this is its state so far.", ""]
    if view.caution:
        lines += [view.caution, ""]
    lines += _result(view)
    if view.differences:
        lines += ["", "Evolved minus each, on the same questions:", ""]
        lines += table(
            ("memory", "difference", "95 % interval", "p"),
            (
                (d.name, signed(d.delta), interval(d.low, d.high), probability(d.p))
                for d in view.differences
            ),
        )
    if view.categories:
        names = list(dict.fromkeys(name for row in view.categories for name in row.means))
        lines += ["", f"{view.metric} by category:", ""]
        lines += table(
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
    for one in view.trajectories:
        if one.learning is not None:
            where = f" of {one.name}" if len(view.trajectories) > 1 else ""
            lines += coevolve_markdown.learning(one.learning, where)
        if one.joint is not None:
            where = f" of {one.name}" if len(view.trajectories) > 1 else ""
            lines += joint_markdown.joint(one.joint, where)
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
    return [words, "", *table(("memory", view.metric, "95 % interval", "questions"), cells)]


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
            lines += table(head, (_program(draft.node) for draft in one.drafts), numbers=2)
    if view.landscape is not None:
        counted = (f"{kind} {count}" for kind, count in view.landscape.storages.items())
        lines += ["", f"Different programs by storage architecture: {', '.join(counted)}."]
    if view.program is not None:
        lines += ["", f"{view.program.title}: {line(view.program.about)}"]
    return lines


def _program(node: Node) -> Sequence[str]:
    reasons = [f"{each.stage}: {each.reason}" for each in node.rejections]
    became = f"{node.status}, regressed" if node.regressed else str(node.status)
    told = line(" — ".join(filter(None, (node.title, *reasons))))
    return (node.id, points(node.score), signed(node.delta), node.parent or "–", became, told)
