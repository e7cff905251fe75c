"""Short answer spans: a linear model over where a span starts, what it holds, where it ends.

The score of words `i..j` within a sentence is start(i) + Σ inside(k) + end(j) + length(j - i + 1),
so all spans of a sentence are scored in one pass. This does the trimming: pronouns, verbs of
being, fillers and clauses begun by a function word cost; names, numbers, quoted titles and the
words right after what the question says pay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from memgene.agents.extractive.evidence import Evidence, Scene
from memgene.agents.extractive.question import Asked, Kind
from memgene.agents.extractive.sentences import Sentence
from memgene.agents.extractive.weights import SPAN

LONGEST = 13  # words in a span
_POOL = 20  # spans that are weighed against each other
_ARTICLES = frozenset(("a", "an", "the"))
_SORTS = {
    Kind.WHO: "person",
    Kind.WHERE: "place",
    Kind.NUMBER: "amount",
    Kind.HOW_LONG: "amount",
    Kind.WHY: "reason",
    Kind.MANNER: "manner",
    Kind.LIST: "several",
}
_SORTED_TAGS = frozenset(("name", "num", "match", "person"))


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
        """The words as they stand in the context, with an article right before them."""
        sentence, first = self.evidence.sentence, self.first
        if first and not sentence.breaks[first] and sentence.words[first - 1] in _ARTICLES:
            first -= 1
        return sentence.cut(first, self.last)

    def overlaps(self, other: Span) -> bool:
        """Whether both say some content word."""
        return not self._content().isdisjoint(other._content())

    def _content(self) -> frozenset[str]:
        stems = self.evidence.sentence.stems[self.first : self.last + 1]
        return self.evidence.sentence.content.intersection(stems)


def wanted(asked: Asked) -> str:
    """What sort of span a question wants; kinds of questions with few examples share weights."""
    sort = _SORTS.get(asked.kind, "thing")
    return "title" if sort == "thing" and asked.titled else sort


def tags(scene: Scene, sentence: Sentence) -> list[str]:
    """Per word: its class; `match` where the question says it too; `person` for a speaker."""
    return [
        "person" if s in scene.persons else "match" if s in scene.about else str(c)
        for s, c in zip(sentence.stems, sentence.classes, strict=True)
    ]


def start_features(first: str, before: str, gap: int, tail: bool, focus: bool) -> list[str]:
    """Where a span starts: its first tag, the tag or mark before it, and how many words before
    it a word of the question stands (0 = none within five), and whether that is a key word."""
    found = [f"first={first}", f"before={before}", f"after-match={gap}"]
    if tail:
        found.append(f"after-tail={gap}")
    if focus:
        found.append(f"after-focus={gap}")
    return found


def end_features(last: str, after: str, last_is_focus: bool, focus_follows: bool) -> list[str]:
    """Where a span ends: its last tag, the tag or mark after it, and the thing asked for."""
    found = [f"last={last}", f"next={after}"]
    if last_is_focus:
        found.append("last-focus")
    if focus_follows:
        found.append("next-focus")
    return found


def inner_features(sort: str, tag: str) -> list[str]:
    """A word inside a span."""
    return [f"in={tag}", f"{sort}:in={tag}"] if tag in _SORTED_TAGS else [f"in={tag}"]


def length_features(sort: str, words: int) -> list[str]:
    """How long a span is, in five sizes."""
    size = 0 if words < 2 else 1 if words < 4 else 2 if words < 7 else 3 if words < 11 else 4
    return [f"{sort}:size={size}"]


def _sum(features: list[str]) -> float:
    return sum(SPAN.get(name, 0.0) for name in features)


# The arguments take few values, so that sums are looked up instead of added again.
@lru_cache(maxsize=1 << 14)
def _start(first: str, before: str, gap: int, tail: bool, focus: bool) -> float:
    return _sum(start_features(first, before, gap, tail, focus))


@lru_cache(maxsize=1 << 12)
def _end(last: str, after: str, last_is_focus: bool, focus_follows: bool) -> float:
    return _sum(end_features(last, after, last_is_focus, focus_follows))


@lru_cache(maxsize=1 << 10)
def _inner(sort: str, tag: str) -> float:
    return _sum(inner_features(sort, tag))


@lru_cache(maxsize=1 << 10)
def _length(sort: str, words: int) -> float:
    return _sum(length_features(sort, words))


def start_of(
    asked: Asked, sentence: Sentence, tag: list[str], i: int
) -> tuple[str, str, int, bool, bool]:
    """What `start_features` looks at for a span that starts at word `i`."""
    gap = next((d for d in range(1, min(i, 5) + 1) if tag[i - d] == "match"), 0)
    key = sentence.stems[i - gap] if gap else None
    before = sentence.breaks[i] or tag[i - 1]
    return tag[i], before, gap, gap > 0 and key == asked.tail, gap > 0 and key == asked.focus


def end_of(asked: Asked, sentence: Sentence, tag: list[str], j: int) -> tuple[str, str, bool, bool]:
    """What `end_features` looks at for a span that ends at word `j`."""
    after = sentence.breaks[j + 1] or tag[j + 1]
    follows = j + 1 < len(tag) and sentence.stems[j + 1] == asked.focus
    return tag[j], after, sentence.stems[j] == asked.focus, follows


def best_spans(scene: Scene, evidence: Sequence[Evidence]) -> list[Span]:
    """The likeliest spans of these sentences, best first.

    The score is the log chance of the sentence among these times that of the span within it, up
    to a constant: a sentence full of names does not win by having many good spans.
    """
    scored: list[tuple[float, int, int, int]] = []
    for n, e in enumerate(evidence):
        spans = _score_spans(scene, e)
        top = max(score for score, _, _ in spans)
        total = top + math.log(sum(math.exp(score - top) for score, _, _ in spans))
        base = SPAN.get("evidence", 0.0) * e.score - total
        scored.extend((-(base + score), n, i, j) for score, i, j in spans)
    scored.sort()
    return [Span(evidence[n], i, j, -cost) for cost, n, i, j in scored[:_POOL]]


def _score_spans(scene: Scene, e: Evidence) -> list[tuple[float, int, int]]:
    """Score, first and last word of every span of one sentence."""
    asked, sentence = scene.asked, e.sentence
    sort = wanted(asked)
    tag = tags(scene, sentence)
    count = len(tag)
    across = [SPAN.get(f"across={b}", 0.0) if b else 0.0 for b in sentence.breaks]
    inner = [_inner(sort, t) for t in tag]
    rare = SPAN.get("rare", 0.0)
    for k, s in enumerate(sentence.stems):
        if tag[k] != "match" and s in sentence.content:
            inner[k] += rare * scene.rare[s]
    end = [_end(*end_of(asked, sentence, tag, j)) for j in range(count)]
    size = [_length(sort, n) for n in range(1, min(count, LONGEST) + 1)]
    found: list[tuple[float, int, int]] = []
    for i in range(count):
        score = _start(*start_of(asked, sentence, tag, i)) - across[i]
        for j in range(i, min(count, i + LONGEST)):
            score += inner[j] + across[j]
            found.append((score + end[j] + size[j - i], i, j))
    return found


def settle(spans: Sequence[Span]) -> list[Span]:
    """Reorder spans by the F1 each can expect if softmaxed scores are taken as probabilities.

    Minimum Bayes risk (Kumar & Byrne 2004): rank by Σ p(other) · F1(span, other) over the sets
    of their words, so that a span wins that shares words with many good ones.
    """
    if not spans:
        return []
    top = spans[0].score
    chance = [math.exp(s.score - top) for s in spans]
    bit: dict[str, int] = {}
    masks = []
    for span in spans:
        mask = 0
        for word in span.words:
            if word not in _ARTICLES:
                mask |= 1 << bit.setdefault(word, len(bit))
        masks.append(mask)
    sizes = [m.bit_count() for m in masks]
    others = list(zip(chance, masks, sizes, strict=True))
    gains = [
        sum(p * (mask & other).bit_count() / (size + count or 1) for p, other, count in others)
        for mask, size in zip(masks, sizes, strict=True)
    ]
    return [spans[i] for i in sorted(range(len(spans)), key=lambda i: (-gains[i], i))]
