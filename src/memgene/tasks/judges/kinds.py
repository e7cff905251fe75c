"""Which rule a question is judged by."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from memgene.core import DataError
from memgene.tasks.metrics.scored import Scored

KIND = "judge"


class Kind(StrEnum):
    """Kinds of questions that are judged differently (LongMemEval's).

    temporal: counts of days, weeks, months may be off by one. update: the newest value counts.
    preference: the gold says what a good answer takes into account. abstention: only saying that
    the answer is not known is right.
    """

    PLAIN = "plain"
    TEMPORAL = "temporal"
    UPDATE = "update"
    PREFERENCE = "preference"
    ABSTENTION = "abstention"


# LongMemEval's question types. LoCoMo's category `temporal` asks for dates, where off by one is
# wrong, so it is none of these.
_BY_CATEGORY: Mapping[str, Kind] = MappingProxyType(
    {
        "temporal-reasoning": Kind.TEMPORAL,
        "knowledge-update": Kind.UPDATE,
        "single-session-preference": Kind.PREFERENCE,
    }
)


def kind_of(scored: Scored) -> Kind:
    """Abstention where there is no answer; else what the gold's metadata names under `judge`; else
    by the names LongMemEval gives its categories; else plain.

    Raises DataError when `judge` names no kind.
    """
    gold = scored.gold
    named = gold.metadata.get(KIND)
    if KIND in gold.metadata and named not in tuple(Kind):
        raise DataError(
            f"question {scored.question.id}: metadata {KIND!r} is {named!r}; it may be one of "
            f"{', '.join(Kind)}"
        )
    if not gold.answers:
        return Kind.ABSTENTION
    return Kind(named) if named else _BY_CATEGORY.get(gold.category, Kind.PLAIN)
