"""Which turns a fact stands for: those the model cites, where they fit; never a whole window."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from memgene.engine.extraction.turns import Turn
from memgene.retrieval.text import content_words, stem

MOST = 3
_NEAR = 0.6
_BEATEN = 0.5


class Attributor:
    """Compares facts with the turns of one window by the words they share, rare words first."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._stems = [frozenset(stem(w) for w in content_words(t.line)) for t in turns]
        found = Counter(s for stems in self._stems for s in stems)
        self._weight = {s: math.log1p(len(turns) / n) for s, n in found.items()}

    def turns_of(self, statement: str, cited: Sequence[int]) -> tuple[Turn, ...]:
        """At most three turns, in their order.

        Cited numbers (from 1) are kept as far as they are turns of the window; of more than three
        the best-matching ones. When none is left, or another turn matches more than twice as well
        as the best of them, the best-matching turns stand in: the first, and those nearly as good.
        """
        scores = self._scores(statement)
        best = max(scores, default=0.0)
        places = [n - 1 for n in cited if 1 <= n <= len(self._turns)]
        if not places or max(scores[p] for p in places) < _BEATEN * best:
            places = [p for p, score in enumerate(scores) if score and score >= _NEAR * best]
        ranked = sorted(places, key=lambda p: (-scores[p], p))[:MOST]
        return tuple(self._turns[p] for p in sorted(ranked))

    def _scores(self, statement: str) -> list[float]:
        told = {stem(w) for w in content_words(statement)}
        # summed in one order: sets of strings iterate differently from process to process
        return [math.fsum(self._weight[s] for s in sorted(told & stems)) for stems in self._stems]
