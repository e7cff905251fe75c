"""What to search for: the question and, where levers say so, what a model makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field

from memgene.core import ModelError
from memgene.llm.prompts.rewriting import DECOMPOSITION, INTENT_PLANNING
from memgene.llm.protocol import LLM
from memgene.llm.structured import ask
from memgene.retrieval.config import RetrievalConfig

FACTS_MOST = 5
_Text = Annotated[str, Field(json_schema_extra={"maxLength": 400})]
"""Bounds stand in the schema alone: there they end a loop while it is written. Whoever is not held
to them and says more is not asked again; what is too much is left out."""


class SubQuestions(BaseModel):
    """The reply to DECOMPOSITION."""

    questions: list[_Text] = Field(min_length=1, json_schema_extra={"maxItems": 5})


class Facts(BaseModel):
    """The reply to INTENT_PLANNING."""

    facts: list[_Text] = Field(min_length=1, json_schema_extra={"maxItems": FACTS_MOST})


@dataclass(frozen=True, slots=True)
class Plan:
    """Searches in order, the question itself first; `degraded` says which step failed, and why."""

    queries: tuple[str, ...]
    degraded: tuple[str, ...] = ()


def plan_queries(llm: LLM | None, question: str, config: RetrievalConfig) -> Plan:
    """The searches that a configuration wants for a question (EvolveMem §3).

    `decomposition`: at most `decomposition_max` single-hop sub-questions. `intent_planning`: at
    most five facts the answer needs. The question itself is always searched too
    (docs/decisions/011); what repeats it, or an earlier search, is left out. A model that fails
    adds nothing and is named in `degraded`. No call is made while both levers are off.
    """
    queries = [question]
    degraded = []
    for lever, step in (("decomposition", _sub_questions), ("intent_planning", _facts)):
        if not getattr(config, lever):
            continue
        assert llm is not None, f"{lever} is on, and the engine has checked that there is a model"
        try:
            queries += step(llm, question, config)
        except ModelError as failed:
            degraded.append(f"{lever}: {failed}")
    return Plan(distinct(queries), tuple(degraded))


def _sub_questions(llm: LLM, question: str, config: RetrievalConfig) -> list[str]:
    most = config.decomposition_max
    messages = DECOMPOSITION.render(question=question, most=str(most))
    return _clean(ask(llm, messages, SubQuestions).value.questions)[:most]


def _facts(llm: LLM, question: str, config: RetrievalConfig) -> list[str]:
    messages = INTENT_PLANNING.render(question=question, most=str(FACTS_MOST))
    return _clean(ask(llm, messages, Facts).value.facts)[:FACTS_MOST]


def _clean(texts: list[str]) -> list[str]:
    return [text for text in (" ".join(t.split()) for t in texts) if text]


def distinct(queries: Sequence[str]) -> tuple[str, ...]:
    """Without repetitions, whatever their case, spaces and last sign."""
    kept: dict[str, str] = {}
    for query in queries:
        kept.setdefault(" ".join(query.casefold().split()).rstrip(" ?.!"), query)
    return tuple(kept.values())
