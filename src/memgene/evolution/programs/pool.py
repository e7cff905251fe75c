"""The pool of programs, and how a parent is drawn from it (M* §5)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from memgene.core import InputError
from memgene.evaluation.case import Case
from memgene.evolution.programs.plan import Search
from memgene.programs.program import Program


@dataclass(frozen=True, slots=True)
class Member:
    """A program in the pool, with its score and cases on the static questions. Seeds have no
    parent; `iteration` is 0 for them."""

    id: str
    program: Program
    score: float
    parent: str | None
    iteration: int
    title: str
    message: str = ""
    cases: Sequence[Case] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Draw:
    """A parent and the probability with which it was drawn."""

    member: Member
    probability: float


class Pool:
    """Programs in the order in which they joined. `drop_zero`: those that score 0 are not drawn
    while another one scores."""

    def __init__(self, search: Search, temperature: float, *, drop_zero: bool) -> None:
        self._search = search
        self._temperature = temperature
        self._drop_zero = drop_zero
        self._members: dict[str, Member] = {}
        self._scores = np.empty(64)
        self._order: list[Member] = []
        self._seeds = 0
        self._best: Member | None = None

    def add(self, member: Member) -> None:
        """Take a program in."""
        if member.id in self._members:
            raise InputError(f"program {member.id} is in the pool already")
        self._members[member.id] = member
        if len(self._order) == len(self._scores):
            self._scores = np.resize(self._scores, 2 * len(self._scores))
        self._scores[len(self._order)] = member.score
        self._order.append(member)
        self._seeds += member.parent is None
        if self._best is None or member.score > self._best.score:
            self._best = member

    @property
    def members(self) -> Sequence[Member]:
        """All, in the order in which they joined."""
        return self._order

    @property
    def best(self) -> Member:
        """The highest score; the first of equals."""
        if self._best is None:
            raise InputError("the pool is empty")
        return self._best

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, name: str) -> Member:
        return self._members[name]

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def ranked(self) -> list[Member]:
        """Best first; the first of equals first."""
        order = np.argsort(-self._scores[: len(self._order)], kind="stable")
        return [self._order[place] for place in order]

    def draw(self, number: int, rng: random.Random) -> Draw:
        """A parent; `number` counts the draws of the run from 0."""
        if self._search in (Search.MAX, Search.LINEAR):
            return Draw(self.best, 1.0)
        if self._search is Search.BEST_OF_N:
            seeds = [member for member in self._order if member.parent is None]
            return Draw(seeds[number % len(seeds)], 1.0)
        return self._softmax(rng)

    def _softmax(self, rng: random.Random) -> Draw:
        """p_i ∝ exp(score_i / τ)."""
        scores = self._scores[: len(self._order)]
        weights = np.exp((scores - scores.max()) / self._temperature)
        if self._drop_zero and scores.max() > 0:
            weights[scores <= 0] = 0.0
        shares = np.cumsum(weights)
        place = int(np.searchsorted(shares, rng.random() * shares[-1], side="right"))
        place = min(place, len(self._order) - 1)
        return Draw(self._order[place], float(weights[place] / shares[-1]))
