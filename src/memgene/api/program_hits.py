"""What a program read, as results of a search: the bank's units where its lines are some."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from memgene.api.results import SearchHit
from memgene.bank.unit import MemoryUnit
from memgene.core import Context, Hit, ViewScore, Why, stable_id

VIEW = "program"
"""What `why` names as the place where a program's results come from."""


class Lines:
    """Units of the bank by what a program may show of them: the line, or who said which words.

    Where several units read the same, the oldest stands for them by its line, none by the words.
    """

    def __init__(self, units: Iterable[MemoryUnit]) -> None:
        self._by_line: dict[str, MemoryUnit] = {}
        self._by_words: dict[tuple[str | None, str], MemoryUnit | None] = {}
        for unit in units:
            self._by_line.setdefault(unit.rendered, unit)
            words = unit.speaker, unit.content
            self._by_words[words] = None if words in self._by_words else unit

    def known(self, hit: Hit) -> Hit:
        """The hit as the unit it shows, its line as the program shows it; as the program made it,
        where it is no unit's."""
        unit = self._by_line.get(hit.rendered) or self._by_words.get((hit.speaker, hit.text))
        if unit is None:
            return hit
        return replace(
            hit,
            id=unit.id,
            text=unit.content,
            source=unit.source,
            refs=unit.refs,
            event_time=unit.event_time,
            speaker=unit.speaker,
            metadata=unit.metadata,
        )


def hits_of(context: Context, lines: Lines, query: str) -> tuple[SearchHit, ...]:
    """The hits of a context, as the bank's units where they are some; else its text as one."""
    if context.hits is None:
        if not context.text.strip():
            return ()
        own = Hit(f"{VIEW}:{stable_id(context.text)[:12]}", context.text, 1.0)
        return (SearchHit.of(_placed(own, 1), query),)
    return tuple(
        SearchHit.of(_placed(lines.known(hit), place), query)
        for place, hit in enumerate(context.hits, start=1)
    )


def _placed(hit: Hit, place: int) -> Hit:
    return replace(hit, why=Why(views={VIEW: ViewScore(place, hit.score)}, fused=hit.score))
