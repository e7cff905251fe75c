"""What an evolution has to work with: declared needs that are met, and models by their use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from memgene.retrieval.levers import Need


class Use(StrEnum):
    """What a language model does for a memory. A lever that needs a model needs it for one of
    these: writing facts down, rewriting queries (and reranking), answering."""

    EXTRACT = "extract"
    REWRITE = "rewrite"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Held:
    """A lever that must stay as it is."""

    lever: str


Means: TypeAlias = frozenset[Need | Use | Held]

_USES: Mapping[str, Use] = {
    "extraction": Use.EXTRACT,
    "extraction_window": Use.EXTRACT,
    "extraction_tail": Use.EXTRACT,
    "extraction_chunk": Use.EXTRACT,
    "coverage_pass": Use.EXTRACT,
    "extraction_focus": Use.EXTRACT,
    "decomposition": Use.REWRITE,
    "decomposition_max": Use.REWRITE,
    "intent_planning": Use.REWRITE,
    "rerank": Use.REWRITE,
    "rerank_k": Use.REWRITE,
    "answer_style": Use.ANSWER,
    "verification": Use.ANSWER,
    "verification_threshold": Use.ANSWER,
}


def use_of(lever: str) -> Use:
    """What the model is for that a lever with `Need.LLM` needs."""
    return _USES[lever]
