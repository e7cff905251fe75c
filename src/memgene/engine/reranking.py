"""A language model orders the first hits anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, create_model
from pydantic.config import JsonDict

from memgene.core import Hit, ModelError, Why
from memgene.engine.lines import numbered
from memgene.llm.prompts.reranking import RERANKING
from memgene.llm.protocol import LLM
from memgene.llm.structured import ask

RERANK = "rerank"


class Order(BaseModel):
    """The reply to RERANKING: numbers of notes, the most helpful first."""

    order: list[int]


@dataclass(frozen=True, slots=True)
class Reranked:
    """Hits in their new order; `degraded` says why it is the old one, when the model failed."""

    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()


def rerank(llm: LLM | None, question: str, hits: Sequence[Hit], first: int) -> Reranked:
    """Order the `first` hits as a model does that sees the question and their lines, cut to 400
    characters each.

    Numbers that are no hit's, or come again, are ignored; hits the model does not name follow in
    the order they had. Hits it names carry its place for them (from 1) as `why.factors["rerank"]`.
    Scores belong to places, so that they still fall along the ranking. Fewer than two hits need no
    call. A model that fails leaves the order as it was and is told of in `degraded`.
    """
    block, rest = hits[:first], tuple(hits[first:])
    if len(block) < 2:
        return Reranked(tuple(hits))
    assert llm is not None, "rerank is on, and the engine has checked that there is a model"
    messages = RERANKING.render(question=question, notes=numbered(block))
    try:
        named = ask(llm, messages, _order_of(len(block))).value.order
    except ModelError as failed:
        return Reranked(tuple(hits), (f"rerank: {failed}",))
    places = [number - 1 for number in named]
    places += [place for place in range(len(block)) if place not in places]
    ordered = [
        replace(block[old], score=block[new].score, why=_why(block[old], new, len(named)))
        for new, old in enumerate(places)
    ]
    return Reranked((*ordered, *rest))


def _why(hit: Hit, place: int, named: int) -> Why:
    if place >= named:
        return hit.why
    return replace(hit.why, factors={**hit.why.factors, RERANK: float(place + 1)})


def _order_of(count: int) -> type[Order]:
    """The reply about so many hits: distinct numbers from 1. An empty one says that none helps;
    one that names only numbers beyond is refused, with the reason."""

    def usable(numbers: list[int]) -> list[int]:
        known = [n for n in dict.fromkeys(numbers) if 1 <= n <= count]
        if numbers and not known:
            raise ValueError(f"holds no number from 1 to {count}")
        return known

    bounds: JsonDict = {
        "maxItems": count,
        "items": {"type": "integer", "minimum": 1, "maximum": count},
    }
    checked = Annotated[list[int], AfterValidator(usable)]
    return create_model("Order", __base__=Order, order=(checked, Field(json_schema_extra=bounds)))
