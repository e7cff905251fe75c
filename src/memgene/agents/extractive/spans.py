"""Short answer spans: a linear model over where a span starts, what it holds, where it ends.

The score of words `i..j` of a sentence is the sentence's own score + start(i) + Σ word(k) +
end(j) + length(j - i + 1), so all spans of a sentence are scored in one pass.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memgene.agents.extractive.evidence import Evidence, Scene
from memgene.agents.extractive.question import Asked, Kind
from memgene.agents.extractive.sentences import Sentence
from memgene.agents.extractive.weights import EVIDENCE, SPAN

LONGEST = 13
_POOL = 30
_ARTICLES = frozenset(("a", "an", "the"))


@dataclass(frozen=True, slots=True)
class Span:
    """Words `first..last` (inclusive) of a sentence, and their score."""

    evidence: Evidence
    first: int
    last: int
    score: float

    @property
    def words(self) -> tuple[str, ...]:
        """Its words, in lower case."""
        return self.evidence.sentence.words[self.first : self.last + 1]

    @property
    def text(self) -> str:
        """The words as they stand in the context."""
        return self.evidence.sentence.cut(self.first, self.last)

    def overlaps(self, other: Span) -> bool:
        """Whether both say some content word."""
        return not self._content().isdisjoint(other._content())

    def _content(self) -> frozenset[str]:
        stems = self.evidence.sentence.stems[self.first : self.last + 1]
        return self.evidence.sentence.content.intersection(stems)


_GROUPS = {
    Kind.WHO: "person",
    Kind.WHERE: "place",
    Kind.NUMBER: "amount",
    Kind.HOW_LONG: "amount",
    Kind.WHY: "reason",
    Kind.MANNER: "manner",
    Kind.LIST: "several",
}


def group(asked: Asked) -> str:
    """What sort of span is wanted; kinds with few examples share their weights."""
    found = _GROUPS.get(asked.kind, "thing")
    return "title" if found == "thing" and asked.titled else found


def tags(scene: Scene, sentence: Sentence) -> list[str]:
    """Per word: its class; `match` where the question says it too; `person` for a speaker."""
    return [
        "person" if s in scene.persons else "match" if s in scene.about else str(c)
        for s, c in zip(sentence.stems, sentence.classes, strict=True)
    ]


def start_features(asked: Asked, sentence: Sentence, tag: list[str], i: int) -> Iterable[str]:
    """Names of the features that hold where a span starts at word `i`."""
    before = sentence.breaks[i] or tag[i - 1]
    yield f"first={tag[i]}"
    yield f"before={before}"
    yield f"{group(asked)}:before={before}"
    gap = next((d for d in range(1, min(i, 5) + 1) if tag[i - d] == "match"), 0)
    yield f"after-match={gap}"
    if gap and sentence.stems[i - gap] == asked.tail:
        yield f"after-tail={gap}"
    if gap and sentence.stems[i - gap] == asked.focus:
        yield f"after-focus={gap}"


def end_features(asked: Asked, sentence: Sentence, tag: list[str], j: int) -> Iterable[str]:
    """Names of the features that hold where a span ends at word `j`."""
    after = sentence.breaks[j + 1] or tag[j + 1]
    yield f"last={tag[j]}"
    yield f"next={after}"
    if j + 1 < len(tag) and sentence.stems[j + 1] == asked.focus:
        yield "next-focus"
    if sentence.stems[j] == asked.focus:
        yield "last-focus"


def word_features(asked: Asked, tag: list[str], k: int) -> Iterable[str]:
    """Names of the features of a word inside a span."""
    yield f"in={tag[k]}"
    yield f"{group(asked)}:in={tag[k]}"


def length_features(asked: Asked, words: int) -> Iterable[str]:
    """Names of the features of a span's length."""
    yield f"words={words}"
    size = 0 if words < 2 else 1 if words < 4 else 2 if words < 7 else 3 if words < 11 else 4
    yield f"{group(asked)}:size={size}"


def break_feature(sentence: Sentence, k: int) -> str | None:
    """Name of the feature of a mark before word `k` when it lies inside a span."""
    return f"across={sentence.breaks[k]}" if sentence.breaks[k] else None


def best_spans(scene: Scene, evidence: Sequence[Evidence]) -> list[Span]:
    """The spans of these sentences with the highest scores, best first."""
    found = [span for e in evidence for span in _spans(scene, e)]
    found.sort(key=lambda s: -s.score)
    return found[:_POOL]


def settle(spans: Sequence[Span]) -> list[Span]:
    """Spans by the F1 they can expect if the spans' own scores are taken as probabilities.

    Minimum Bayes risk: rank by Σ p(other) · F1(span, other) over content and other words alike,
    so that a span wins that shares words with many good ones.
    """
    top = spans[0].score
    chance = [math.exp(s.score - top) for s in spans]
    bit: dict[str, int] = {}
    masks = [
        sum({1 << bit.setdefault(w, len(bit)) for w in s.words if w not in _ARTICLES})
        for s in spans
    ]
    sizes = [m.bit_count() for m in masks]
    gains = [
        sum(
            p * 2 * (mask & other).bit_count() / (size + count or 1)
            for p, other, count in zip(chance, masks, sizes, strict=True)
        )
        for mask, size in zip(masks, sizes, strict=True)
    ]
    order = sorted(range(len(spans)), key=lambda i: (-gains[i], i))
    return [spans[i] for i in order]


def _spans(scene: Scene, e: Evidence) -> list[Span]:
    """All spans of one sentence, scored in one pass."""
    asked, sentence = scene.asked, e.sentence
    tag = tags(scene, sentence)
    count = len(tag)
    start = [_weigh(start_features(asked, sentence, tag, i)) for i in range(count)]
    end = [_weigh(end_features(asked, sentence, tag, j)) for j in range(count)]
    inner = [_weigh(word_features(asked, tag, k)) for k in range(count)]
    across = [SPAN.get(f"across={b}", 0.0) if b else 0.0 for b in sentence.breaks]
    size = [_weigh(length_features(asked, n)) for n in range(1, min(count, LONGEST) + 1)]
    rare = SPAN.get("rare", 0.0)
    base = SPAN.get("evidence", 0.0) * e.score
    for k, s in enumerate(sentence.stems):
        if tag[k] != "match" and s in sentence.content:
            inner[k] += rare * scene.rare[s]
    found: list[Span] = []
    for i in range(count):
        score = base + start[i] - across[i]
        for j in range(i, min(count, i + LONGEST)):
            score += inner[j] + across[j]
            found.append(Span(e, i, j, score + end[j] + size[j - i]))
    return found


def _weigh(features: Iterable[str]) -> float:
    return sum(SPAN.get(name, 0.0) for name in features)
