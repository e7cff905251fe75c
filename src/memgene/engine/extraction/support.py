"""Whether what a fact says is in the turns it was made from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from memgene.engine.extraction.mentions import (
    Period,
    backs,
    capitals,
    find_mentions,
    numbers_of,
)
from memgene.engine.extraction.turns import Turn
from memgene.retrieval.periods import Grain
from memgene.retrieval.text import STOP_WORDS, content_words, stem, words

_SHARED = 1 / 3
_WHO = r"[\w'’.-]+(?: and [\w'’.-]+| [A-Z][\w'’-]+)?"
_TALK = re.compile(
    rf"^{_WHO} (?:also |then |again )?"
    rf"(?:ask(?:s|ed)?(?! {_WHO} (?:to|out)\b)|(?:greet|compliment|respond|wonder)(?:s|ed)?"
    r"|(?:thank(?:s|ed)?|congratulate[sd]?)(?!.* (?:for|on) )|repl(?:y|ies|ied)"
    r"|share[sd]? (?:her|his|their) (?:experience|thought|feeling|stor|excitement|appreciation)\w*"
    r"|express(?:es|ed) (?:her |his |their )?(?:gratitude|appreciation|excitement|interest|support"
    r"|admiration|happiness|joy|agreement))\b"
)
_ANYBODY = "people person someone somebody everyone everybody nobody friend friends"
_OPENERS = "recently currently lately previously finally eventually additionally also"
_NO_NAMES = frozenset(f"{_ANYBODY} {_OPENERS} speaker user assistant".split())


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a statement says that its source does not: a kind and the word."""

    kind: str
    word: str


def is_talk(statement: str) -> bool:
    """Whether an (English) statement only tells that somebody asked, greeted, thanked, …: what was
    asked about is in the answer, or is found missing by the coverage check."""
    return _TALK.match(statement) is not None


@dataclass(frozen=True, slots=True)
class Source:
    """Stems, numbers and dates of some turns, and of what else a model was shown."""

    stems: frozenset[str]
    numbers: frozenset[str]
    dates: tuple[Period, ...]
    day: date | None

    @classmethod
    def of(cls, turns: Sequence[Turn], known: Iterable[str] = ()) -> Source:
        """The source that turns make, with the facts that were shown beside them."""
        earlier = list(known)
        texts = [*(turn.line for turn in turns), *earlier]
        day = next((turn.day for turn in turns if turn.day is not None), None)
        said = [period for turn in turns for period in turn.mentions.dates]
        said += [p for text in earlier for p in find_mentions(text, day).dates]
        days = dict.fromkeys(turn.day for turn in turns if turn.day is not None)
        return cls(
            stems=frozenset(stem(w) for text in texts for w in words(text)),
            numbers=frozenset(n for text in texts for n in numbers_of(text)),
            dates=(*said, *(Period(d, d, Grain.DAY) for d in days)),
            day=day,
        )

    def refusal(self, statement: str) -> Refusal | None:
        """The first name, number or date that is not in the source; None when all are.

        Also refused (`words`): a statement two thirds of whose words are not in the source.
        """
        inner, first = capitals(statement, self.day)
        for word in (*inner, *first):
            if not self._knows(word):
                return Refusal("name", word)
        told = find_mentions(statement, self.day)
        for number in told.numbers:
            if number not in self.numbers:
                return Refusal("number", number)
        for period in told.dates:
            if not self.dated(period):
                return Refusal("date", period.text)
        content = [w for w in content_words(statement) if w not in numbers_of(statement)]
        known = sum(stem(w) in self.stems for w in content)
        if known < _SHARED * len(content):
            return Refusal("words", " ".join(content[:3]))
        return None

    def dated(self, period: Period) -> bool:
        """Whether a date follows from what was said, or from the day it was said."""
        return any(backs(source, period) for source in self.dates)

    def holds(self, label: str) -> bool:
        """Whether all words of a label are in the source."""
        return all(stem(w) in self.stems for w in words(label) if w not in STOP_WORDS)

    def _knows(self, word: str) -> bool:
        return all(stem(w) in self.stems or w in _NO_NAMES or w in STOP_WORDS for w in words(word))
