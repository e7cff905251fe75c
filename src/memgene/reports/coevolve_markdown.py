"""A co-evolution in Markdown, in short: its phases, its routes, its values, its cost."""

from __future__ import annotations

from memgene.reports.coevolve_model import ALL_TYPES, Learning
from memgene.reports.coevolve_parts import totals
from memgene.reports.markdown_tables import line, table
from memgene.reports.numbers import counted, duration, points


def learning(found: Learning, where: str) -> list[str]:
    """Lines about one co-evolution; `where` names its fold, if any."""
    lines = ["", f"Training{where}, {found.schedule}, {found.training} questions a pass:", ""]
    lines += _phases(found)
    lines += _complaints(found)
    lines += _routes(found)
    lines += _memory(found)
    return lines


def _phases(found: Learning) -> list[str]:
    head = (
        "phase", "learned", "reward", "val", "played", "values moved", "distilled", "fell back",
        "calls", "tokens", "time",
    )  # fmt: skip
    rows = []
    for phase in found.phases:
        used = totals([phase.usage])
        counts = (phase.played, phase.credited, phase.distilled, phase.degraded)
        rows.append(
            (
                str(phase.number),
                f"{phase.phase}, cycle {phase.cycle}",
                points(phase.reward),
                points(found.scores.get(phase.candidate)),
                *map(str, counts),
                f"{used['calls']:.0f}",
                f"{used['tokens']:.0f}",
                duration(phase.seconds),
            )
        )
    lines = table(head, rows)
    questions = sum(phase.questions for phase in found.phases)
    if questions:
        used = totals([phase.usage for phase in found.phases])
        seconds = sum(phase.seconds for phase in found.phases)
        lines += [
            "",
            f"A training interaction took {used['calls'] / questions:.2f} calls, "
            f"{used['tokens'] / questions:.0f} tokens and {1000 * seconds / questions:.1f} ms.",
        ]
    return lines


def _complaints(found: Learning) -> list[str]:
    lines = []
    for phase in found.phases:
        if phase.degraded:
            steps = counted(phase.degraded, "step")
            told = f"{steps} fell back, the first because: {line(phase.complaint)}"
            lines += ["", f"Phase {phase.number}: {told}"]
    return lines


def _routes(found: Learning) -> list[str]:
    if not (found.routed and found.weights):
        return []
    lines = ["", f"Weights of the routes on val questions, prior → state {found.told}:", ""]
    return lines + table(
        ("question type", "questions", *found.routes),
        (
            (
                "all" if row.question_type == ALL_TYPES else row.question_type.replace("_", " "),
                str(row.n),
                *(f"{row.before[r]:.2f} → {row.after[r]:.2f}" for r in found.routes),
            )
            for row in found.weights
        ),
    )


def _memory(found: Learning) -> list[str]:
    last = next((phase for phase in reversed(found.phases) if phase.values.get("count")), None)
    lines = []
    if last is not None:
        values = last.values
        lines += [
            "",
            f"Values after phase {last.number}: {values['count']:.0f} memories, median "
            f"{values['p50']:.2f}, half of them from {values['p25']:.2f} to {values['p75']:.2f}.",
        ]
    if found.held is not None and (found.held.distilled or found.held.retired):
        lines += [
            "",
            f"Distilled memories in state {found.told}: {found.held.distilled}; "
            f"retired: {found.held.retired}.",
        ]
    return lines
