"""What feedback changes: the utility of the memories that were used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memgene.api import checking
from memgene.api.results import FeedbackReceipt, Learned, SearchHit, SearchResult
from memgene.bank.protocol import Bank, Value
from memgene.bank.unit import MemoryUnit

LEARNING_RATE = 0.3
Feedback = SearchResult | SearchHit | str | Iterable[SearchHit | str]


def ids_of(given: Feedback) -> list[str]:
    """The ids of what was given, each once."""
    if isinstance(given, SearchHit):
        return [given.id]
    if isinstance(given, Iterable) and not isinstance(given, str):
        given = [one.id if isinstance(one, SearchHit) else one for one in given]
    return checking.ids(given, "hits_or_ids")


def learn(
    bank: Bank, units: Sequence[MemoryUnit], reward: float, query: str | None
) -> FeedbackReceipt:
    """Move each utility as `Q ← Q + 0.3 · (reward − Q)`, and log what was asked."""
    ids = [unit.id for unit in units]
    seen = {v.unit_id: v.exposures for v in bank.values(ids) if v.cluster == ""}
    learned = [
        Learned(unit.id, q := unit.utility, q + LEARNING_RATE * (reward - q)) for unit in units
    ]
    bank.set_values([Value(x.id, "", x.utility, seen.get(x.id, 0) + 1) for x in learned])
    bank.touch(ids, reward, query)
    return FeedbackReceipt(tuple(learned))
