"""Short answer spans: a linear model over where a span starts, what it holds, where it ends.

The score of words `i..j` of a sentence is the sentence's own score + start(i) + Σ word(k) +
end(j) + length(j - i + 1), so all spans of a sentence are scored in one pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memgene.agents.extractive.evidence import Evidence, Scene
from memgene.agents.extractive.question import Asked, Kind
from memgene.agents.extractive.sentences import Sentence
from memgene.agents.extractive.weights import EVIDENCE, SPAN

LONGEST = 13


@dataclass(frozen=True, slots=True)
class Span:
    """Words `first..last` (inclusive) of a sentence, and their score."""

    evidence: Evidence
    first: int
    last: int
    score: float

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


def word_features(asked: Asked, sentence: Sentence, tag: list[str], k: int) -> Iterable[str]:
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
    """The best span of each sentence, best first."""
    found = [span for e in evidence if (span := _best_span(scene, e))]
    return sorted(found, key=lambda s: -s.score)


def _best_span(scene: Scene, e: Evidence) -> Span | None:
    sentence = e.sentence
    asked = scene.asked
    tag = tags(scene, sentence)
    count = len(tag)
    weigh = SPAN.get
    start = [
        sum(weigh(f, 0.0) for f in start_features(asked, sentence, tag, i)) for i in range(count)
    ]
    end = [sum(weigh(f, 0.0) for f in end_features(asked, sentence, tag, j)) for j in range(count)]
    inner = [
        sum(weigh(f, 0.0) for f in word_features(asked, sentence, tag, k)) for k in range(count)
    ]
    across = [weigh(f"across={b}", 0.0) if b else 0.0 for b in sentence.breaks]
    rarity = weigh("rare", 0.0)
    size = [
        sum(weigh(f, 0.0) for f in length_features(asked, n))
        for n in range(1, min(count, LONGEST) + 1)
    ]
    for k in range(count):
        if tag[k] != "match" and sentence.stems[k] in sentence.content:
            inner[k] += rarity * scene.rare[sentence.stems[k]]
    best: Span | None = None
    for i in range(count):
        score = start[i] + inner[i]
        for j in range(i, min(count, i + LONGEST)):
            if j > i:
                score += inner[j] + across[j]
            total = SPAN.get("evidence", 0.0) * e.score + score + end[j] + size[j - i]
            if best is None or total > best.score:
                best = Span(e, i, j, total)
    return best
