"""The reflection prompt within a bound on its size.

What is left out first, until the rest fits: other programs, notes of the program, lineage (its
messages, then its oldest entries), cases that succeed, written episodes, the length of the
conversations, failing cases after the first, failures of the program. The interface, the program,
its score and the first failing case are always there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from memgene.core import InputError
from memgene.evolution.reflection import sections
from memgene.evolution.reflection.interface import SCOPE_RULES, interface_slots, scope_rule
from memgene.evolution.reflection.material import Material, Scope, ToolkitNotes
from memgene.evolution.reflection.sections import CaseDetail
from memgene.llm.prompts import reflection as words
from memgene.llm.protocol import ChatMessage, Request
from memgene.llm.role import prompt_tokens

MOST_TOKENS = 24_000

_WHOLE = CaseDetail(question=2_000, answer=2_000, turn=4_000, turns=12)
_SHORTER = (
    CaseDetail(question=2_000, answer=1_500, turn=1_500, turns=8),
    CaseDetail(question=1_500, answer=800, turn=600, turns=6),
    CaseDetail(question=1_000, answer=500, turn=250, turns=4),
)
_LEAST = CaseDetail(question=600, answer=250, turn=0, turns=0)
_SUCCESS = CaseDetail(question=1_000, answer=800, turn=1_200, turns=6)
_LINEAGE, _MESSAGE = 24, 600  # a long run must not make longer prompts
_LINEAGE_FEWER = (16, 8, 4, 0)
_WRITES, _RAW, _RAW_SHORT = 3, 2_000, 500
_LOGS, _LOGS_FEW, _LOG = 40, 10, 200
_VIOLATIONS, _DETAIL, _DETAIL_SHORT = 5, 1_200, 300

_ORDER = (
    "program",
    "score",
    "lineage",
    "writes",
    "logs",
    "successes",
    "references",
    "violations",
    "failing",
)


class PromptTooLongError(InputError):
    """Not even the shortest prompt about a program fits; the message names the tokens it needs."""


def reflection_messages(
    material: Material, max_tokens: int = MOST_TOKENS
) -> tuple[ChatMessage, ...]:
    """The messages of a reflection, at most `max_tokens` long (estimated from their bytes).

    Raises:
        PromptTooLongError: not even the shortest form fits.
    """
    whole = _whole(material)
    messages = _rendered(material, whole)
    if prompt_tokens(Request(messages)) <= max_tokens:
        return messages
    steps = list(_reductions(material))

    def reduced(count: int) -> tuple[ChatMessage, ...]:
        return _rendered(material, {**whole, **dict(steps[:count])})

    fewest = bisect_left(
        range(len(steps)),
        True,
        key=lambda count: prompt_tokens(Request(reduced(count))) <= max_tokens,
    )
    messages = reduced(fewest)
    needed = prompt_tokens(Request(messages))
    if needed > max_tokens:
        raise PromptTooLongError(
            f"the shortest reflection on this program needs {needed} tokens, {max_tokens} are "
            "allowed; allow more (the program and one failing case are always shown)"
        )
    return messages


def repair_messages(
    source: str,
    findings: str,
    *,
    toolkit: ToolkitNotes,
    scope: Scope = Scope.BOTH,
    max_tokens: int = MOST_TOKENS,
) -> tuple[ChatMessage, ...]:
    """The messages that ask for a repair; findings are shortened where they do not fit.

    Raises:
        PromptTooLongError: not even the program fits.
    """
    limit = len(findings)
    while True:
        messages = sections.cleaned(
            words.REPAIR.render(
                **interface_slots(toolkit),
                program=sections.fenced(source, "python"),
                findings=sections.fenced(sections.shortened(findings, limit)),
                scope="" if scope is Scope.BOTH else f" {SCOPE_RULES[scope]}",
            )
        )
        needed = prompt_tokens(Request(messages))
        if needed <= max_tokens:
            return messages
        if limit <= _LEAST_FINDINGS:
            raise PromptTooLongError(
                f"the shortest repair of this program needs {needed} tokens, {max_tokens} are "
                "allowed; allow more (the program is always shown)"
            )
        limit = max(_LEAST_FINDINGS, limit // 2)


_LEAST_FINDINGS = 400


def _whole(material: Material) -> dict[str, str]:
    """Every section at its longest."""
    return {
        "program": sections.program(material),
        "score": sections.score(material),
        "lineage": sections.lineage(material.lineage[-_LINEAGE:], material.id, _MESSAGE),
        "writes": sections.writes(material.writes[:_WRITES], _RAW),
        "logs": sections.logs(material.logs[-_LOGS:], _LOG),
        "successes": sections.cases(words.SUCCESSES, material.successes, _SUCCESS),
        "references": sections.references(material.references),
        "violations": sections.violations(material.violations[:_VIOLATIONS], _DETAIL),
        "failing": sections.cases(words.FAILING, material.failing, _WHOLE),
    }


def _reductions(material: Material) -> Iterator[tuple[str, str]]:
    """Shorter forms of the sections, the least useful part of the prompt first; each holds until
    a later one of the same section takes its place. None is longer than the one before it."""
    for count in reversed(range(len(material.references))):
        yield "references", sections.references(material.references[:count])
    yield "logs", sections.logs(material.logs[-_LOGS_FEW:], _LOG)
    yield "logs", ""
    entries = material.lineage[-_LINEAGE:]
    yield "lineage", sections.lineage(entries, material.id, 0)
    for count in _LINEAGE_FEWER:
        yield "lineage", sections.lineage(entries[max(0, len(entries) - count) :], material.id, 0)
    for count in reversed(range(len(material.successes))):
        yield "successes", sections.cases(words.SUCCESSES, material.successes[:count], _SUCCESS)
    examples = material.writes[:_WRITES]
    yield "writes", sections.writes(examples, _RAW_SHORT)
    for count in reversed(range(len(examples))):
        yield "writes", sections.writes(examples[:count], _RAW_SHORT)
    failing = material.failing
    for detail in _SHORTER:
        yield "failing", sections.cases(words.FAILING, failing, detail)
    for count in reversed(range(1, len(failing))):
        yield "failing", sections.cases(words.FAILING, failing[:count], _SHORTER[-1])
    found = material.violations[:_VIOLATIONS]
    yield "violations", sections.violations(found, _DETAIL_SHORT)
    for count in reversed(range(len(found))):
        yield "violations", sections.violations(found[:count], _DETAIL_SHORT)
    yield "failing", sections.cases(words.FAILING, failing[:1], _LEAST)


def _rendered(material: Material, shown: dict[str, str]) -> tuple[ChatMessage, ...]:
    return sections.cleaned(
        words.REFLECTION.render(
            **interface_slots(material.toolkit),
            scope=scope_rule(material.scope, material.toolkit),
            material="\n\n".join(shown[name] for name in _ORDER if shown[name]),
            task=words.TASK if material.failing else words.TASK_WITHOUT_CASES,
        )
    )
