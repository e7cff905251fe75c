"""Which questions and which episodes a program is evaluated on (M* §5)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from memgene.core import Episode, LabelledQuestion
from memgene.embed.protocol import Embedder, Vectors
from memgene.evolution.sealed import DevVal
from memgene.tasks.subset import facility_location, static_subset
from memgene.tasks.task import Regime, Task

_T = TypeVar("_T")
_CHARACTERS = 4_000  # of an episode's text that stand for it


@dataclass(frozen=True, slots=True)
class Sample:
    """Questions, and the task cut to the episodes that memory holds when they are asked."""

    task: Task
    questions: tuple[LabelledQuestion, ...]

    def only(self, questions: Sequence[LabelledQuestion]) -> Sample:
        """The same memory, other questions of it."""
        return Sample(self.task, tuple(questions))


class Sampler:
    """Draws the samples of one run from dev and val. Everything follows from the seed.

    Static questions come from val, rotating ones from dev. For M = `per_item` × questions training
    episodes (None: all there are): under `own_group` they come from the questions' own groups, each
    group's share in proportion to its questions; under `shared` from the training groups, without
    those that are asked about (as in val and test), as long as others are left. Where that is all
    of them, all are used; else the subset that represents the questions best (facility location).
    Episodes that hold the evidence of rotating questions are among them in any case, unless that is
    switched off: a reflection on a question whose answer was never written leads nowhere, and dev
    may be looked at.
    """

    def __init__(self, data: DevVal, embedder: Embedder, per_item: int | None, seed: int) -> None:
        self._data = data
        self._embedder = embedder
        self._per_item = per_item
        self._seed = seed
        self._vectors: dict[str, Vectors] = {}
        self._of_group: dict[str, list[Episode]] = {}
        for episode in data.task.episodes:
            self._of_group.setdefault(episode.group, []).append(episode)

    def static(self, count: int) -> Sample:
        """k-means over the selection questions' embeddings, one random member of each cluster."""
        pool = self._data.select
        places = static_subset(self._embedded_questions(pool), min(count, len(pool)), self._seed)
        return self.sample([pool[place] for place in places])

    def rotating(self, count: int, key: str, *, keep_evidence: bool = True) -> Sample:
        """A fresh random sample of the dev questions; `key` tells the draws of a run apart."""
        pool = self._data.diagnose
        rng = random.Random(f"{self._seed}:rotating:{key}")
        chosen = sorted(rng.sample(range(len(pool)), min(count, len(pool))))
        questions = [pool[place] for place in chosen]
        told = {ref for question in questions for ref in question.gold.evidence}
        return self.sample(questions, told if keep_evidence else frozenset())

    def fresh(self) -> Sample:
        """The val questions that nothing selects by, for the check of the finalists."""
        return self.sample(self._data.fresh)

    def sample(
        self, questions: Sequence[LabelledQuestion], needed: Set[str] = frozenset()
    ) -> Sample:
        """These questions with their episodes, those among them that hold `needed` (ids of
        episodes or messages)."""
        chosen = tuple(questions)
        if not chosen:
            return Sample(self._data.task, ())
        if self._per_item is None:
            kept = frozenset(e.id for e in self._held(chosen))
        else:
            kept = self._episodes(chosen, self._per_item * len(chosen))
            held = self._held(chosen)
            kept |= {e.id for e in held if e.id in needed or needed & {m.id for m in e.messages}}
        episodes = tuple(e for e in self._data.task.episodes if e.id in kept)
        return Sample(replace(self._data.task, episodes=episodes), chosen)

    def _held(self, questions: Sequence[LabelledQuestion]) -> list[Episode]:
        """All that memory may hold when these questions are asked."""
        asked = list(dict.fromkeys(q.group for q in questions))
        groups: Iterable[str] = asked
        if self._data.task.regime is Regime.SHARED:
            training = self._data.training or ()
            groups = [group for group in training if group not in asked] or training
        return [e for group in groups for e in self._of_group.get(group, [])]

    def _episodes(self, questions: Sequence[LabelledQuestion], most: int) -> frozenset[str]:
        if self._data.task.regime is Regime.SHARED:
            return self._subset(questions, self._held(questions), most)
        kept: set[str] = set()
        for group in dict.fromkeys(q.group for q in questions):
            own = [q for q in questions if q.group == group]
            held = self._of_group.get(group, [])
            kept |= self._subset(own, held, max(1, round(most * len(own) / len(questions))))
        return frozenset(kept)

    def _subset(
        self, questions: Sequence[LabelledQuestion], episodes: Sequence[Episode], most: int
    ) -> frozenset[str]:
        if len(episodes) <= most:
            return frozenset(e.id for e in episodes)
        rows = self._embedded(
            [(f"episode:{e.id}", e) for e in episodes], lambda e: e.text[:_CHARACTERS]
        )
        similarity = self._embedded_questions(questions) @ rows.T
        return frozenset(episodes[place].id for place in facility_location(similarity, most))

    def _embedded_questions(self, questions: Sequence[LabelledQuestion]) -> Vectors:
        return self._embedded([(f"question:{q.id}", q) for q in questions], _words)

    def _embedded(self, named: Sequence[tuple[str, _T]], text: Callable[[_T], str]) -> Vectors:
        """One row each, embedded once in a run."""
        new = [(name, each) for name, each in named if name not in self._vectors]
        if new:
            rows = self._embedder.embed([text(each) for _, each in new])
            self._vectors.update(zip((name for name, _ in new), rows, strict=True))
        return np.stack([self._vectors[name] for name, _ in named])


def _words(question: LabelledQuestion) -> str:
    return question.question.text
