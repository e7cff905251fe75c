"""Which sentences of a context speak about the question: a linear model over plain features.

| feature | meaning |
|---|---|
| sentence, line, previous, next | share of the question's rarity said there (`Scene.cover`) |
| most | the sentence's share relative to the best one's in the context |
| rank | the line's prior: its place in the memory's ranking |
| named, other | its speaker is named in the question, or another one is |
| dated | it was said near a day the question names |
| day, day-cover | weight of the other lines of its day; share of the question said that day |
| echo | best share in a sentence another speaker said that day |
| opening, asks, aside, short, length | first in its line; a question; a caption; its size |
| pairs, tail, focus | neighbouring words, the last word and the thing asked for are in it |
| me, you, new | first person of one asked about; second person; content beyond the question |
| KIND:number, name, quote, reason, comma | what it holds, weighed apart per kind of question |
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from memgene.agents.extractive.lines import Line
from memgene.agents.extractive.question import Asked, same_person
from memgene.agents.extractive.sentences import Sentence
from memgene.agents.extractive.weights import EVIDENCE
from memgene.agents.extractive.words import WordClass
from memgene.retrieval.dates import Resolved
from memgene.retrieval.periods import Grain
from memgene.retrieval.text import english_stem

# Days a period lasts after its first, and how far outside it a line still counts as near.
_LASTS = {Grain.DAY: 0, Grain.WEEKEND: 1, Grain.WEEK: 6, Grain.MONTH: 30, Grain.SEASON: 91}
_NEAR = {Grain.DAY: 7, Grain.WEEKEND: 10, Grain.WEEK: 14, Grain.MONTH: 45, Grain.SEASON: 120}


_FIRST_PERSON = frozenset(("i", "my", "i'm", "i've", "we", "our"))


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence with its line, its features, and how far it speaks about the question."""

    line: Line
    sentence: Sentence
    features: Mapping[str, float]
    score: float


@dataclass(frozen=True, slots=True)
class Scene:
    """What is known of a question and a context before any sentence is looked at.

    `rare` is the inverse document frequency of each stem over the N lines of the context,
    `log(1 + (N - n + ½)/(n + ½))`, in units of that of a stem in one line; `persons` are the
    stems of the speakers' names; `about` the question's stems with their rarity, without the
    names of speakers; `mass` its sum.
    """

    asked: Asked
    lines: Sequence[Line]
    rare: Mapping[str, float]
    persons: frozenset[str]
    about: Mapping[str, float]
    mass: float

    def cover(self, content: frozenset[str]) -> float:
        """Share of the question's rarity found in these stems, in [0, 1]."""
        return sum(weight for s, weight in self.about.items() if s in content) / self.mass


def set_scene(asked: Asked, lines: Sequence[Line]) -> Scene:
    """Count stems over the lines and weigh the question's words by their rarity."""
    counts: dict[str, int] = {}
    for line in lines:
        for s in line.content:
            counts[s] = counts.get(s, 0) + 1
    total = len(lines)
    unique = math.log(1.0 + (total - 0.5) / 1.5) if total else 1.0
    by_count = [math.log(1.0 + (total - n + 0.5) / (n + 0.5)) / unique for n in range(total + 1)]
    rare = {s: by_count[n] for s, n in counts.items()}
    persons = frozenset(
        english_stem(p.lower()) for x in lines if x.speaker for p in x.speaker.split()
    )
    about = {s: rare.get(s, by_count[0]) for s in asked.stems if s not in persons}
    return Scene(asked, lines, rare, persons, about, sum(about.values()) or 1.0)


def find_evidence(scene: Scene) -> list[Evidence]:
    """All sentences, the most telling first; ties in the order of the context."""
    covers = [[scene.cover(x.content) for x in line.sentences] for line in scene.lines]
    most = max((c for cover in covers for c in cover), default=0.0) or 1.0
    found: list[Evidence] = []
    for line, cover, of_line in zip(
        scene.lines, covers, _line_features(scene, covers), strict=True
    ):
        base = _weigh(of_line)
        for i, sentence in enumerate(line.sentences):
            own = {
                "sentence": cover[i],
                "most": cover[i] / most,
                "previous": cover[i - 1] if i else 0.0,
                "next": cover[i + 1] if i + 1 < len(cover) else 0.0,
                "opening": float(i == 0),
                **_own_features(scene, sentence, of_line["named"] > 0),
            }
            found.append(Evidence(line, sentence, {**of_line, **own}, base + _weigh(own)))
    found.sort(key=lambda e: -e.score)
    return found


def _weigh(features: Mapping[str, float]) -> float:
    weight = EVIDENCE.get
    return sum([weight(name, 0.0) * value for name, value in features.items() if value])


def _line_features(scene: Scene, covers: Sequence[Sequence[float]]) -> Iterator[dict[str, float]]:
    """What the sentences of each line share: who said it, when, and what else was said that day."""
    asked, lines = scene.asked, scene.lines
    speakers = dict.fromkeys(x.speaker for x in lines)
    named = {who: who is not None and same_person(who, asked.words) for who in speakers}
    days = _by_day(scene)
    said: dict[tuple[date | None, str | None], float] = {}
    for line, cover in zip(lines, covers, strict=True):
        key = (line.day, line.speaker)
        said[key] = max(said.get(key, 0.0), *cover, 0.0)
    for line in lines:
        weight, content = days[line.day]
        echoes = (c for (day, who), c in said.items() if day == line.day and who != line.speaker)
        yield {
            "line": scene.cover(line.content),
            "rank": line.prior,
            "named": float(named[line.speaker]),
            "other": float(any(named.values()) and not named[line.speaker]),
            "dated": _closeness(asked.days, line.day),
            "day": weight - line.prior,
            "day-cover": scene.cover(content),
            "echo": max(echoes, default=0.0),
        }


def _by_day(scene: Scene) -> dict[date | None, tuple[float, frozenset[str]]]:
    """Per day: the sum of the priors of its lines, and the stems of all of them."""
    days: dict[date | None, tuple[float, frozenset[str]]] = {}
    for line in scene.lines:
        weight, content = days.get(line.day, (0.0, frozenset()))
        days[line.day] = (weight + line.prior, content | line.content)
    return days


def _closeness(days: Sequence[Resolved], day: date | None) -> float:
    """1 where a line was said in a period the question names, falling to 0 within weeks."""
    if day is None:
        return 0.0
    best = 0.0
    for found in days:
        after = (day - found.day).days
        outside = max(-after, after - _LASTS.get(found.grain, 365), 0)
        best = max(best, 1.0 - outside / _NEAR.get(found.grain, 400))
    return best


def _own_features(scene: Scene, sentence: Sentence, named: bool) -> dict[str, float]:
    """What the sentence alone shows: its form, and which kinds of answers it could hold."""
    asked = scene.asked
    content = sentence.content
    fresh = {
        c
        for c, s in zip(sentence.classes, sentence.stems, strict=True)
        if s not in scene.about and s not in scene.persons
    }
    kind = asked.kind
    return {
        "asks": float(sentence.asks),
        "aside": float(sentence.aside),
        "short": float(len(sentence.words) < 5),
        "length": math.log(len(sentence.words)),
        "pairs": sum(p in asked.pairs for p in sentence.pairs) / (len(asked.pairs) or 1),
        "tail": float(asked.tail in content),
        "focus": float(asked.focus in content),
        "me": float((named or asked.first_person) and not _FIRST_PERSON.isdisjoint(sentence.words)),
        "you": float("you" in sentence.words or "your" in sentence.words),
        "new": min(sum(s not in scene.about and s not in scene.persons for s in content), 6) / 6.0,
        f"{kind}:number": float(WordClass.NUMBER in fresh),
        f"{kind}:name": float(WordClass.NAME in fresh),
        f"{kind}:quote": float("quote" in sentence.breaks),
        f"{kind}:reason": float(WordClass.SUBORDINATOR in fresh or WordClass.TO in fresh),
        f"{kind}:comma": float("comma" in sentence.breaks or WordClass.CONJUNCTION in fresh),
    }
