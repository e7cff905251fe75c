"""SR-QR: a language model makes one question ready for two routes (CoEvo-Mem §3)."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from memgene.core import ModelError
from memgene.engine.lines import one_line
from memgene.engine.writing import is_encodable
from memgene.llm.prompts.self_routing import SELF_ROUTING
from memgene.llm.protocol import LLM
from memgene.llm.structured import ask
from memgene.retrieval.router.observation import SelfRouting

SHOWN_QUESTION = 2000
_MOST = 400
_MAX_TOKENS = 400


def _search(text: str) -> str:
    line = one_line(text, _MOST)
    if not line:
        raise ValueError("is empty")
    if not is_encodable(line):
        raise ValueError("is not valid Unicode")
    return line


_Search = Annotated[str, AfterValidator(_search), Field(json_schema_extra={"maxLength": _MOST})]
"""The bound stands in the schema alone: whoever is not held to it and says more is cut, not asked
again."""
_Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Routed(BaseModel):
    """The reply to SELF_ROUTING. The weights are in proportion; they need not sum to 1."""

    dense: _Search
    sparse: _Search
    dense_weight: _Weight
    sparse_weight: _Weight
    confidence: float = Field(ge=0, le=1)

    @model_validator(mode="after")
    def _counts(self) -> Self:
        if not (self.dense_weight or self.sparse_weight):
            raise ValueError("one of dense_weight and sparse_weight must be above 0")
        return self

    @property
    def prior(self) -> float:
        """Share of the dense route, in [0, 1]."""
        most = max(self.dense_weight, self.sparse_weight)
        dense, sparse = self.dense_weight / most, self.sparse_weight / most
        return dense / (dense + sparse)


def self_route(llm: LLM, text: str) -> tuple[SelfRouting, tuple[str, ...]]:
    """A rewrite for each route, the prior over them, and its confidence: one structured call.

    The model sees the first 2,000 characters of the question and nothing else. The second value
    says why the routing is `SelfRouting.raw` (the raw question for both, uniform) when the model
    gave no usable reply. A blank text is not asked about.

    Raises BudgetExhaustedError and ConfigError of the call.
    """
    if not text.strip():
        return SelfRouting.raw(text), ()
    messages = SELF_ROUTING.render(question=one_line(text, SHOWN_QUESTION))
    try:
        said = ask(llm, messages, Routed, max_tokens=_MAX_TOKENS).value
    except ModelError as failed:
        return SelfRouting.raw(text), (f"self_routing: {failed}",)
    return SelfRouting(said.dense, said.sparse, said.prior, said.confidence, "llm"), ()
