"""One attempt becomes one memory: what was asked, what was tried, and how it went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field

from memgene.bank.unit import MemoryUnit, UnitType
from memgene.core import Hit, InputError, ModelError, Scope, stable_id
from memgene.engine.lines import numbered, one_line
from memgene.llm.prompts.distillation import DISTILLATION
from memgene.llm.protocol import LLM
from memgene.llm.structured import ask

DISTILLED, PARENTS, REWARD = "distilled", "parents", "reward"
"""Keys of a distilled unit's metadata: true, ids of the memories that were shown, the reward."""
SUCCESS = 0.5
"""The least reward of an attempt that is remembered as a success (ours)."""
KEPT_QUESTION, KEPT_ANSWER, KEPT_MEMORY = 500, 1000, 600
MOST_NOTES = 20
_SHOWN_ANSWER = 4000
_MAX_TOKENS = 400


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One attempt: the question or task, the answer or the steps that were taken, its reward in
    [0, 1], the memories that were shown, whose memory it is, and when it was (None: unknown).

    Raises InputError when the question is blank or the reward out of range.
    """

    question: str
    answer: str
    reward: float
    hits: tuple[Hit, ...] = ()
    scope: Scope = field(default_factory=Scope)
    time: datetime | None = None

    def __post_init__(self) -> None:
        if not self.question.strip():
            raise InputError("an attempt without a question cannot be distilled: give its text")
        if not 0 <= self.reward <= 1:
            raise InputError(f"the reward of an attempt must lie in [0, 1], got {self.reward}")

    @property
    def outcome(self) -> str:
        """`success` or `failure`."""
        return "success" if self.reward >= SUCCESS else "failure"


def _told(text: str) -> str:
    line = one_line(text, KEPT_MEMORY)
    if not line:
        raise ValueError("is empty")
    return line


class Remembered(BaseModel):
    """The reply to DISTILLATION."""

    memory: Annotated[
        str, AfterValidator(_told), Field(json_schema_extra={"maxLength": KEPT_MEMORY})
    ]


def distil(tried: Trajectory, llm: LLM | None = None) -> tuple[MemoryUnit, tuple[str, ...]]:
    """The memory of one attempt, success or not (CoEvo-Mem §4), for the bank to store.

    Its text is `Attempt at "question": what was done (success)`; a model, where there is one, says
    what was done and learned in its own words (one structured call). It knows the outcome, never
    the right answer. The second value says why the text is the plain one when the model gave no
    usable reply.

    The unit belongs to the attempt's scope. Its time is the attempt's, or the latest of what was
    shown where that is later, so it never comes before its parents. Attempts at one question form
    a source of their own, in the order they are stored. Its id hashes all this: equal attempts
    make one unit (with a model: as long as it repeats itself, which the cache of its role sees to).

    Raises BudgetExhaustedError and ConfigError of the call.
    """
    plain = one_line(tried.answer, KEPT_ANSWER) or "no answer"
    done, degraded = (plain, ()) if llm is None else _remembered(llm, tried, plain)
    question = one_line(tried.question, KEPT_QUESTION)
    unit = MemoryUnit(
        content=_storable(f'Attempt at "{question}": {done} ({tried.outcome})'),
        scope=tried.scope,
        type=UnitType.PROCEDURAL_OBSERVATION,
        source=_source(question, tried.scope),
        event_time=_time(tried),
        metadata=_metadata(tried),
    )
    return replace(unit, id=unit.identity()), degraded


def _remembered(llm: LLM, tried: Trajectory, plain: str) -> tuple[str, tuple[str, ...]]:
    messages = DISTILLATION.render(
        notes=numbered(tried.hits[:MOST_NOTES]) or "(none)",
        question=one_line(tried.question, _SHOWN_ANSWER),
        answer=one_line(tried.answer, _SHOWN_ANSWER) or "(none)",
        outcome=f"{tried.outcome} (reward {tried.reward:.2f} of 1)",
    )
    try:
        return ask(llm, messages, Remembered, max_tokens=_MAX_TOKENS).value.memory, ()
    except ModelError as failed:
        return plain, (f"distillation: {failed}",)


def _metadata(tried: Trajectory) -> Mapping[str, Any]:
    parents = list(dict.fromkeys(hit.id for hit in tried.hits))
    return {DISTILLED: True, PARENTS: parents, REWARD: tried.reward}


def _source(question: str, scope: Scope) -> str:
    """One per question and owner, so that attempts at different things are no neighbours."""
    asked = _storable(question)
    return f"attempts/{stable_id(asked, scope.user_id, scope.agent_id, scope.run_id)}"


def _time(tried: Trajectory) -> datetime | None:
    """The latest of the attempt's time and its parents'; times with and without a zone are
    compared as they stand."""
    times = [hit.event_time for hit in tried.hits]
    known = [moment for moment in (tried.time, *times) if moment is not None]
    return max(known, key=lambda moment: moment.replace(tzinfo=None), default=None)


def _storable(text: str) -> str:
    """The text with `?` for what no bank takes: lone surrogates and NUL."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "?")
