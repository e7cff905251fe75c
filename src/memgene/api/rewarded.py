"""What a reward is for: which memories were shown, which counts as used, what was asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memgene.api import checking
from memgene.api.learned import Learned
from memgene.api.results import SearchHit, SearchResult
from memgene.bank.protocol import Value
from memgene.bank.unit import MemoryUnit
from memgene.core import Hit, InputError
from memgene.engine.credit.attributing import CITED, SHOWN, attribute_cited
from memgene.engine.credit.interaction import Credited, Exposure

Feedback = SearchResult | SearchHit | str | Iterable[SearchHit | str]
USED = CITED
_GIVEN = "hits_or_ids"


@dataclass(frozen=True, slots=True)
class Use:
    """One use of the memory: what was asked, what was shown, and each one's part in the answer."""

    query: str | None
    exposed: tuple[Exposure, ...]

    @property
    def ids(self) -> list[str]:
        """Ids of what was shown."""
        return [one.unit_id for one in self.exposed]


def use_of(given: Feedback, query: object, answer: object) -> Use:
    """What of the given counts as used: all that is named; of a whole result the hits whose words
    the answer has, or the first hit where there are none.

    `query` is by default what all hits were found for. Raises InputError for what cannot be used,
    and when an answer comes with anything but a whole result.
    """
    asked = checking.optional_text(query, "query")
    said = checking.optional_text(answer, "answer")
    if isinstance(given, SearchResult):
        asked = given.query if asked is None else asked
        ids = checking.ids([hit.id for hit in given], _GIVEN)
        used = _cited(given, said, asked or "") or ids[:1]
        return Use(asked, tuple(Exposure(id, USED if id in used else SHOWN) for id in ids))
    if said is not None:
        raise InputError("answer= goes with a whole SearchResult; hits that are named were used")
    if isinstance(given, Iterable) and not isinstance(given, str | SearchHit):
        named = tuple(given)
    else:
        named = (given,)
    found = {hit.query for hit in named if isinstance(hit, SearchHit)}
    if asked is None and len(found) == 1:
        (asked,) = found
    ids = checking.ids([one.id if isinstance(one, SearchHit) else one for one in named], _GIVEN)
    return Use(asked, tuple(Exposure(id, USED) for id in ids))


def _cited(result: SearchResult, answer: str | None, query: str) -> list[str]:
    """Ids of the hits whose words an answer has."""
    if answer is None:
        return []
    hits = [Hit(id=hit.id, text=hit.text, score=hit.score, rendered=hit.line) for hit in result]
    found = attribute_cited(answer, hits, question=query)
    return [one.unit_id for one in found if one.attribution == CITED]


def learned(
    units: Sequence[MemoryUnit],
    shown: Sequence[Exposure],
    credited: Credited | None,
    values: Sequence[Value],
) -> tuple[Learned, ...]:
    """What became of each memory's values: `units` as they were before, `values` as they are.

    Without `credited` nothing was applied yet.
    """
    kind = "" if credited is None else credited.cluster
    before = {(c.unit_id, c.cluster): c.before for c in credited.changes} if credited else {}
    now = {(v.unit_id, v.cluster): v.q for v in values}
    parts = {one.unit_id: one.attribution for one in shown}
    return tuple(
        Learned(
            id=unit.id,
            before=unit.utility,
            utility=now.get((unit.id, ""), unit.utility),
            used=parts[unit.id] == USED,
            before_for_kind=before.get(key, now.get(key)) if kind else None,
            utility_for_kind=now.get(key) if kind else None,
        )
        for unit in units
        for key in ((unit.id, kind),)
    )
