"""Dialogue of any length for timing: made from a seeded Zipfian word list, or LoCoMo repeated.

Made dialogue has about the statistics of real talk: half of the words are function words, content
words follow a Zipf–Mandelbrot law (the most frequent stands in about a tenth of the units), two
speakers take turns in dated sessions. Its content words are pronounceable nonsense, so it says
nothing about the quality of a ranking.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from memgene.bank.unit import MemoryUnit
from memgene.core import Episode, Message, Scope
from memgene.engine import units_from_episode
from memgene.tasks.task import Task

SCOPE = Scope(user_id="bench")

_TURNS = 22
_WORDS = 40_000
_SHIFT = 10.0
_DRAWN = 1 << 16
_START = datetime(2020, 1, 1, 9)
_FUNCTION_WORDS = (
    "i you we it that this the a to of in on for with and but so my your was is are have had do "
    "did not at about from they he she just really what when how there then been would could"
)
_FUNCTION = tuple(_FUNCTION_WORDS.split())
_SPEAKERS = (
    "Ada Bea Cal Dan Eli Fay Gus Hal Ida Jon Kai Lea Max Nia Ola Pam Quin Ray Sue Tom Uma Vic Wes "
    "Xia Yan Zoe"
)
_NAMES = tuple(_SPEAKERS.split())
_QUESTIONS = (
    "What did {name} say about the {a} and the {b}?",
    "When did {name} go to the {a} with {b}?",
    "Where is the {a} that {name} got for the {b}?",
    "Who told {name} about {a} {b} and {c}?",
    "How did {name} feel when the {a} was {b}?",
    "Which {a} does {name} like: {b} or {c}?",
)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Units of one owner, and distinct questions about them."""

    units: tuple[MemoryUnit, ...]
    questions: tuple[str, ...]
    origin: str


def made(units: int, questions: int, seed: int = 0) -> Corpus:
    """Dialogue from the word list. Equal arguments give equal text; a longer one begins alike."""
    words = _Words(seed)
    said = tuple(itertools.islice(_made_units(words, seed), units))
    asked = random.Random(f"questions {seed}")
    return Corpus(said, _distinct(_made_questions(said, asked), questions), "made")


def repeated(task: Task, units: int, questions: int, seed: int = 0) -> Corpus:
    """A task's turns again and again, each time with other names and numbers in them."""
    said = tuple(itertools.islice(_repeated_units(task, seed), units))
    rounds = -(-units // sum(len(e.messages) for e in task.episodes))
    asked = random.Random(f"questions {seed}")

    def drawn() -> Iterator[str]:
        while True:
            question = asked.choice(task.questions).question.text
            yield _Disguise(task, seed, asked.randrange(rounds))(question)

    return Corpus(said, _distinct(drawn(), questions), task.name)


class _Words:
    """Content words by rank, drawn in blocks by Zipf–Mandelbrot frequency."""

    def __init__(self, seed: int) -> None:
        self._list = _word_list(seed)
        weight = 1 / (np.arange(len(self._list)) + 1 + _SHIFT)
        self._cumulative = np.cumsum(weight / weight.sum())
        self._rng = np.random.default_rng(seed)
        self._left: Iterator[int] = iter(())

    def draw(self) -> str:
        """The next word."""
        place = next(self._left, None)
        if place is None:
            drawn = np.searchsorted(self._cumulative, self._rng.random(_DRAWN))
            self._left = iter(np.minimum(drawn, len(self._list) - 1).tolist())
            place = next(self._left)
        return self._list[place]


def _word_list(seed: int) -> list[str]:
    """Distinct nonsense of two to four syllables."""
    draw = random.Random(f"words {seed}")
    onsets, vowels, codas = "bdfgklmnprstvz", "aeiou", ["", "", "n", "r", "l", "st", "m"]
    found: dict[str, None] = {}
    while len(found) < _WORDS:
        syllables = [
            draw.choice(onsets) + draw.choice(vowels) + draw.choice(codas)
            for _ in range(draw.choice((2, 2, 3, 4)))
        ]
        found["".join(syllables)] = None
    return list(found)


def _made_units(words: _Words, seed: int) -> Iterator[MemoryUnit]:
    draw = random.Random(seed)
    for number in itertools.count():
        pair = draw.sample(_NAMES, 2)
        time = _START + timedelta(hours=7 * number)
        messages = tuple(
            Message(_sentence(words, draw), f"{number}:{turn}", pair[turn % 2])
            for turn in range(_TURNS)
        )
        yield from units_from_episode(Episode(f"session-{number}", messages, "all", time), SCOPE)


def _sentence(words: _Words, draw: random.Random) -> str:
    length = max(3, round(draw.lognormvariate(2.9, 0.5)))
    said = [words.draw() if draw.random() < 0.5 else draw.choice(_FUNCTION) for _ in range(length)]
    if draw.random() < 0.1:
        said.append(str(draw.randrange(2, 400)))
    return " ".join(said).capitalize() + draw.choice(".!?")


def _made_questions(said: Sequence[MemoryUnit], draw: random.Random) -> Iterator[str]:
    """Questions that name a speaker and content words of one unit."""
    while True:
        unit = draw.choice(said)
        content = [w for w in re.findall(r"[a-z]+", unit.content.lower()) if w not in _FUNCTION]
        if len(content) >= 3:
            a, b, c = draw.sample(content, 3)
            yield draw.choice(_QUESTIONS).format(name=unit.speaker, a=a, b=b, c=c)


def _repeated_units(task: Task, seed: int) -> Iterator[MemoryUnit]:
    for number in itertools.count():
        disguise = _Disguise(task, seed, number)
        for episode in task.episodes:
            messages = tuple(
                replace(m, text=disguise(m.text), id=None, speaker=disguise(m.speaker or ""))
                for m in episode.messages
            )
            copy = replace(episode, id=f"{number}/{episode.id}", messages=messages)
            yield from units_from_episode(copy, SCOPE)


class _Disguise:
    """Other names and numbers for one repetition of a task; the first keeps its own."""

    def __init__(self, task: Task, seed: int, number: int) -> None:
        draw = random.Random(f"{seed} {number}")
        names = dict.fromkeys(m.speaker for e in task.episodes for m in e.messages if m.speaker)
        self._shift = draw.randrange(1, 50) if number else 0
        self._new = {name: f"{draw.choice(_NAMES)}{name[-2:]}" for name in names if number}
        either = "|".join(map(re.escape, self._new)) or r"(?!)"
        self._pattern = re.compile(rf"\b(?:{either}|\d+)\b")

    def __call__(self, text: str) -> str:
        return self._pattern.sub(self._changed, text)

    def _changed(self, found: re.Match[str]) -> str:
        word = found.group()
        return str(int(word) + self._shift) if word.isdigit() else self._new[word]


def _distinct(questions: Iterator[str], count: int) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for drawn, question in enumerate(questions):
        found[question] = None
        if len(found) == count:
            break
        if drawn > 100 * count:
            raise SystemExit(f"only {len(found)} distinct questions can be made, not {count}")
    return tuple(found)
