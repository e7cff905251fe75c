"""A joint evolution in Markdown, in short: its passes, its arms, what changed."""

from __future__ import annotations

from memgene.reports.joint_model import Joint, totals
from memgene.reports.joint_parts import per_thousand
from memgene.reports.markdown_tables import line, table
from memgene.reports.numbers import counted, points, signed


def joint(found: Joint, where: str) -> list[str]:
    """Lines about one joint evolution; `where` names its fold, if any."""
    if not found.passes:
        return []
    lines = ["", f"Passes{where}, {found.schedule}, scores on val:", ""]
    head = ("pass", "arm", "val", "gain", "questions", "gain per 1,000", "best", "became")
    lines += table(
        head,
        (
            (
                str(one.number),
                one.arm,
                points(one.score),
                signed(one.gain),
                str(one.questions),
                signed(per_thousand(one)),
                points(one.best),
                _became(one.finished, one.accepted, one.candidate),
            )
            for one in found.passes
        ),
    )
    lines += ["", f"By arm{where}:", ""]
    lines += table(
        ("arm", "passes", "accepted", "gain", "questions", "gain per 1,000"),
        (
            (
                total.arm,
                str(total.passes),
                str(total.accepted),
                signed(total.gain),
                str(total.questions),
                signed(total.per_thousand),
            )
            for total in totals(found)
        ),
    )
    if found.skips:
        told = (f"{skip.arm} after pass {skip.after} ({line(skip.why)})" for skip in found.skips)
        lines += ["", f"Left out: {'; '.join(told)}."]
    return lines + _change(found)


def _became(finished: bool, accepted: bool, candidate: str) -> str:
    if not finished:
        return "goes on"
    return f"{candidate}, accepted" if accepted else f"{candidate}, not accepted"


def _change(found: Joint) -> list[str]:
    change = found.change
    if change is None or change.a == change.b:
        return []
    lines = ["", f"From the start ({change.a}) to the best ({change.b}):", ""]
    if change.levers:
        rows = ((c.lever, c.before, c.after) for c in change.levers)
        lines += [*table(("lever", change.a, change.b), rows, numbers=0), ""]
    lines += [f"{words}\n" for words in change.learned]
    if change.patch:
        added = sum(r.startswith("+") and not r.startswith("+++") for r in change.patch.split("\n"))
        gone = sum(r.startswith("-") and not r.startswith("---") for r in change.patch.split("\n"))
        lines.append(f"The program: {counted(added, 'line')} added, {gone} removed.")
    return lines
