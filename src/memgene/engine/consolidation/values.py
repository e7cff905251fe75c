"""What must be equal in two statements before one may stand for both."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from memgene.bank.unit import MemoryUnit
from memgene.engine.extraction.mentions import capitals, find_mentions
from memgene.retrieval.text import words

# Read from the text as written: folding cuts the `'t` of `can't`.
_NEGATION = re.compile(
    r"n['’]t\b|\b(?:not|no|nor|never|none|nobody|nothing|nowhere|neither|cannot|without|dont|cant"
    r"|doesnt|didnt|wont|isnt|wasnt|longer|anymore|un\w{3,}|non-?\w{3,})\b",
    re.IGNORECASE,
)
_SPEAKER = frozenset({"i", "me", "my", "mine", "we", "us", "our", "ours", "you", "your"})
_ARTICLES = frozenset({"a", "an", "the"})
_HEDGES = (
    "almost nearly hardly barely maybe perhaps probably possibly might may can could would should"
    " will shall must allegedly supposedly if unless until before after instead except only even"
    " than rather but or against all some any every each most many few several both either half"
    " more less first last next other another former formerly previously once again still already"
    " yet soon used stopped failed refused cancelled canceled quit plans planned planning wants"
    " wanted hopes hoped wishes considers considered thinks thought dreams tried tries fake false"
    " ex old new now currently today yesterday tomorrow"
)
_TURNING = frozenset(_HEDGES.split())
"""Words that turn a statement when they are added to it."""


@dataclass(frozen=True)
class Statement:
    """A unit's words with what is a value among them."""

    unit: MemoryUnit

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Folded words without articles; inflection is kept, for it tells past from present."""
        return tuple(w for w in words(self.unit.content) if w not in _ARTICLES)

    @cached_property
    def values(self) -> tuple[object, ...]:
        """Numbers, dates, names and negations: different values are never duplicates."""
        text, event = self.unit.content, self.unit.event_time
        day = None if event is None else event.date()
        told = find_mentions(text, day)
        inner, _ = capitals(text, day)
        return (
            tuple(sorted(told.numbers)),
            tuple(sorted((p.first, p.last) for p in told.dates)),
            tuple(sorted({w for name in inner for w in words(name)})),
            len(_NEGATION.findall(text)),
            self.unit.speaker if _SPEAKER.intersection(self.words) else None,
        )

    def stands_for(self, other: Statement) -> bool:
        """Whether this statement says all that the other says, in the same words and order, and
        what it adds turns nothing around."""
        if self.values != other.values or not _is_subsequence(other.words, self.words):
            return False
        added = Counter(self.words) - Counter(other.words)
        return _TURNING.isdisjoint(added)


def _is_subsequence(part: Sequence[str], whole: Sequence[str]) -> bool:
    left = iter(whole)
    return all(word in left for word in part)
