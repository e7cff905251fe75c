"""What a model is told of a diagnosis: compact tables within a bound on their size.

Everything here comes from the diagnosis, which saw dev questions only, and from the scores of
earlier attempts. The worst cases fill what room the tables leave.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from pydantic import BaseModel

from memgene.core import InputError
from memgene.evaluation.case import Case, HitTrace
from memgene.evolution.changes import LEARNED, has_effect, settings_of
from memgene.evolution.diagnosis import Cause, Diagnosis, Failing, Part
from memgene.evolution.means import Means
from memgene.evolution.proposers import Attempt
from memgene.evolution.rules import IDLE, complaints
from memgene.evolution.steps import is_off
from memgene.llm.prompts.diagnosis import DIAGNOSIS
from memgene.llm.prompts.structured import FORM
from memgene.llm.protocol import ChatMessage
from memgene.llm.schemas import json_schema, outline, sketch
from memgene.retrieval.config import RetrievalConfig, levers
from memgene.retrieval.levers import Lever, Need

LEAST_TOKENS = 2_000
MOST_TOKENS = 6_000
_BYTES_PER_TOKEN = 3  # of UTF-8; tables and numbers take more tokens than prose
_CASES = 12
_HITS = 3
_NAME, _LINE, _ANSWER = 24, 140, 80
_COUNTED = (Cause.NEVER_STORED, Cause.NOT_RETRIEVED, Cause.RANKED_LOW, Cause.ANSWERED_WRONG)
_NONE = "none"
_BETWEEN = 2  # bytes between one part of a message and the next


@dataclass(frozen=True, slots=True)
class _Detail:
    """How much the tables say: all levers or those that treat what is wrong, their description,
    how many attempts, how many kinds of question."""

    all_levers: bool
    about: bool
    attempts: int
    kinds: int


_DETAILS = (
    _Detail(True, True, 12, 24),
    _Detail(False, True, 8, 16),
    _Detail(False, False, 4, 8),
    _Detail(False, False, 2, 4),
)


class Briefing:
    """Writes the prompt of a diagnosis, at most `max_tokens` long (estimated from its bytes).

    Raises InputError when `max_tokens` is below 2,000, which the smallest tables need.
    """

    def __init__(
        self, available: Means, metric: str, max_changes: int, max_tokens: int = MOST_TOKENS
    ) -> None:
        if max_tokens < LEAST_TOKENS:
            raise InputError(f"a diagnosis needs at least {LEAST_TOKENS} tokens, got {max_tokens}")
        self._available = available
        self._metric = metric
        self._most = most_of(max_changes)
        self._room = max_tokens * _BYTES_PER_TOKEN

    def messages(
        self,
        diagnosis: Diagnosis,
        config: RetrievalConfig,
        history: Sequence[Attempt],
        form: type[BaseModel],
    ) -> tuple[ChatMessage, ...]:
        """The messages of the first request. `structured.ask` adds the fields of `form`."""
        schema = json_schema(form)
        room = self._room - _size(
            FORM.render(kind="object", sketch=sketch(schema), fields=outline(schema))
        )
        for detail in _DETAILS:
            values = self._tables(diagnosis, config, history, detail)
            left = room - _size(DIAGNOSIS.render(**values, cases=""))
            if left >= self._room // 4:
                break
        return DIAGNOSIS.render(**values, cases=_fitting(map(_case, _mixed(diagnosis)), left))

    def _tables(
        self,
        diagnosis: Diagnosis,
        config: RetrievalConfig,
        history: Sequence[Attempt],
        detail: _Detail,
    ) -> dict[str, str]:
        present = {complaint.symptom for complaint in complaints(diagnosis, config)}
        usable = [
            lever
            for name, lever in levers().items()
            if has_effect(config, name, self._available, self._metric)
            and not (name in IDLE and config.extraction == "off")
        ]
        treating = [lever for lever in usable if present.intersection(lever.treats)]
        shown = usable if detail.all_levers or not treating else treating
        off = [lever.name for lever in treating if is_off(config, lever.name)]
        return {
            "most": self._most,
            "result": _result(diagnosis),
            "causes": _causes(diagnosis),
            "kinds": _kinds(diagnosis, detail.kinds),
            "levers": "\n".join([*(self._lever(x, config, detail) for x in shown), *_own(config)]),
            "checklist": ", ".join(off) or _NONE,
            "history": _history(history, config, detail.attempts),
        }

    def _lever(self, lever: Lever, config: RetrievalConfig, detail: _Detail) -> str:
        now = json.dumps(getattr(config, lever.name))
        about = f" | {lever.about}" if detail.about else ""
        treats = ", ".join(lever.treats)
        return f"{lever.name} = {now} | {self._allowed(lever)}{about} | {treats}"

    def _allowed(self, lever: Lever) -> str:
        if lever.kind is bool:
            return "true or false"
        if lever.kind is str:
            refused = () if Need.TRAINING in self._available else (LEARNED,)
            return ", ".join(json.dumps(c) for c in lever.choices if c not in refused)
        return f"{lever.low:g} to {lever.high:g}"


def most_of(max_changes: int) -> str:
    """How many changes may be made, in words."""
    return "one change" if max_changes == 1 else f"at most {max_changes} changes"


def _result(found: Diagnosis) -> str:
    return (
        f"{found.metric} {found.mean:.3f} on {found.questions} questions; {len(found.failing)} "
        f"fail; {found.abstained:.0%} were not answered; {found.multi_hop:.0%} of the failing ones "
        "need several facts"
    )


def _causes(found: Diagnosis) -> str:
    lines = ["cause | questions | points lost"]
    told = [c for c in Cause if c is not Cause.UNDETERMINED or found.causes[c]]
    lines += [f"{c} | {found.causes[c]} | {100 * found.lost[c]:.1f}" for c in told]
    return "\n".join(lines)


def _kinds(found: Diagnosis, most: int) -> str:
    """Means and causes by predicted type and by category, what loses most first."""
    lines = ["kind | questions | mean | " + " | ".join(_COUNTED)]
    tables: list[tuple[str, Mapping[str, Part]]] = [("type", found.by_type)]
    if len(found.by_category) > 1:
        tables.append(("category", found.by_category))
    rows = [
        (part.questions * (1 - part.mean), f"{what} {_short(name, _NAME)}", part)
        for what, table in tables
        for name, part in table.items()
    ]
    for _, name, part in sorted(rows, key=lambda row: (-row[0], row[1]))[:most]:
        counts = " | ".join(str(part.causes[cause]) for cause in _COUNTED)
        lines.append(f"{name} | {part.questions} | {part.mean:.2f} | {counts}")
    return "\n".join(lines)


def _own(config: RetrievalConfig) -> Iterator[str]:
    """Levers that some question types have values of their own for."""
    for kind, overrides in config.per_type.items():
        said = ", ".join(f"{name} = {json.dumps(value)}" for name, value in overrides.items())
        yield f"(for {kind}: {said})"


def _history(history: Sequence[Attempt], config: RetrievalConfig, most: int) -> str:
    """The last attempts: what was changed, what came of it."""
    lines = []
    for number, attempt in list(enumerate(history, start=1))[-most:]:
        said = ", ".join(f"{n} = {_value(v)}" for n, v in settings_of(attempt.changes).items())
        fate = "kept" if attempt.accepted else "not kept"
        where = "" if attempt.parent == config.digest else ", from other settings"
        lines.append(f"round {number}: {said}: {attempt.delta:+.4f}, {fate}{where}")
    return "\n".join(lines) or _NONE


def _value(value: Any) -> str:
    return json.dumps(value)


def _mixed(found: Diagnosis) -> Iterator[Failing]:
    """The worst cases, causes taking turns: twenty of one kind would hide the others."""
    costliest = sorted(Cause, key=lambda cause: -found.lost[cause])
    by_cause = [[f for f in found.worst if f.cause is cause] for cause in costliest]
    return (failing for turn in zip_longest(*by_cause) for failing in turn if failing is not None)


def _case(failing: Failing) -> str:
    case = failing.case
    answered = "(not answered)" if case.abstained else _short(case.answer, _ANSWER) or "(not asked)"
    expected = " / ".join(case.gold[:3]) or "(not answerable)"
    lines = [
        f"Q ({failing.question_type}): {_short(case.question, _LINE)}",
        f"expected: {_short(expected, _ANSWER)} | answered: {answered} | "
        f"{failing.cause}, score {failing.score:.2f}",
        *_retrieved(case),
    ]
    return "\n".join(lines)


def _retrieved(case: Case) -> Iterator[str]:
    """The first lines of the ranking, and the first that holds evidence where it comes later."""
    wanted = set(case.evidence)
    marked = [
        (place, hit, not wanted.isdisjoint(_refs(hit)))
        for place, hit in enumerate(case.hits or (), start=1)
    ]
    later = [row for row in marked[_HITS:] if row[2]][:1]
    for place, hit, holds in (*marked[:_HITS], *later):
        yield f"{'*' if holds else '-'} {place}. {_short(hit.rendered, _LINE)}"


def _refs(hit: HitTrace) -> tuple[str, ...]:
    return hit.refs if hit.source is None else (*hit.refs, hit.source)


def _fitting(cases: Iterator[str], room: int) -> str:
    """As many cases as fit, in order."""
    taken: list[str] = []
    for _, text in zip(range(_CASES), cases, strict=False):
        room -= len(text.encode()) + 2
        if room < 0:
            break
        taken.append(text)
    return "\n\n".join(taken) or _NONE


def _short(text: str, limit: int) -> str:
    """One line of at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _size(messages: Sequence[ChatMessage]) -> int:
    return sum(len(message.content.encode()) + _BETWEEN for message in messages)
