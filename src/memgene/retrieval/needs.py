"""Which parts of a configuration a language model has to serve."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from memgene.retrieval.config import RetrievalConfig, levers

MODEL_LEVERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "extract": ("extraction",),
        "rewrite": ("decomposition", "intent_planning", "rerank", "self_routing"),
        "answer": ("answer_style", "verification"),
    }
)
"""What a model does → the levers that call for it. All are off by default; the numbers beside them
(windows, counts, thresholds) call for nothing on their own."""
WITHOUT_MODEL: Mapping[str, tuple[str, ...]] = MappingProxyType({"self_routing": ("off", "rules")})
"""Values, beside a lever's default, that call for no model."""


def needs_llm(config: RetrievalConfig) -> Mapping[str, tuple[str, ...]]:
    """What a language model has to do → the levers that are on, for all questions or for a type.

    `extract` is needed to write, `rewrite` to read, `answer` by the agent. Empty: none is needed.
    """
    values = [{name: getattr(config, name) for name in levers()}, *config.per_type.values()]
    on = {name for some in values for name, value in some.items() if _calls(name, value)}
    needed = {part: tuple(n for n in names if n in on) for part, names in MODEL_LEVERS.items()}
    return MappingProxyType({part: names for part, names in needed.items() if names})


def _calls(lever: str, value: Any) -> bool:
    return value != levers()[lever].default and value not in WITHOUT_MODEL.get(lever, ())
