"""Fitting the learned fusion on a task's questions: from evidence, or from the answers' words.

Only dev questions (after selection dev + val) may be given: gold is read here. The target is
gold evidence where the task names any; else the answer-token proxy, the share of the gold
answer's stems a unit holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgene.agents.protocol import Agent
from memgene.core import Gold, Hit, LabelledQuestion, RunError, content_hash
from memgene.embed.protocol import Embedder, WordVectors
from memgene.engine import MemoryEngine
from memgene.engine.models import EngineModels
from memgene.evaluation.memories import LazyMemory, MemoryFailedError, MemoryPool
from memgene.harness.bank import BankHarness, BankHarnessFactory
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.features.candidates import Candidates
from memgene.retrieval.features.registry import available, matrix
from memgene.retrieval.learning import Example, fit_ranker
from memgene.retrieval.ranker import Ranker
from memgene.retrieval.text import content_words, stem
from memgene.tasks.task import Regime, Task

EVIDENCE = "evidence"
ANSWER_TOKENS = "answer_tokens"


@dataclass(frozen=True, slots=True)
class _Seen:
    """Features of one question's candidates under one configuration."""

    names: tuple[str, ...]
    table: NDArray[np.float32]
    target: NDArray[np.float32]


class RankerLearner:
    """Fits rankers for configurations over one part of a task. Deterministic by `seed`."""

    def __init__(
        self,
        task: Task,
        training: tuple[str, ...] | None,
        agent: Agent,
        embedder: Embedder,
        words: WordVectors,
        memories: MemoryPool,
        seed: int = 0,
        models: EngineModels | None = None,
    ) -> None:
        self._task = task
        self._training = training
        self._agent = agent
        self._embedder = embedder
        self._words = words
        self._memories = memories
        self._seed = seed
        self._models = models
        self._cache: dict[str, _Seen] = {}
        self._cached_for = ""

    def __call__(self, config: RetrievalConfig, questions: Sequence[LabelledQuestion]) -> Ranker:
        """Weights for the candidates that `config` yields.

        Raises:
            RunError: the questions have neither usable evidence nor answers.
        """
        target = target_of(questions)
        base = config.changed(fusion="weighted_sum", ranker=None)
        key = content_hash(base.digest + target)
        if key != self._cached_for:
            self._cache.clear()
            self._cached_for = key
        usable = [q for q in questions if learnable(q.gold, target)]
        opened: dict[str, LazyMemory] = {}
        try:
            seen = [self._seen(q, base, target, opened) for q in usable]
        finally:
            for memory in opened.values():
                memory.close()
        names = tuple(n for n in seen[0].names if all(n in s.names for s in _distinct(seen)))
        examples = [Example(_columns(s, names), s.target) for s in seen]
        return fit_ranker(examples, names, target=target, seed=self._seed)

    def ranked(
        self, config: RetrievalConfig, questions: Sequence[LabelledQuestion], limit: int
    ) -> list[tuple[Hit, ...]]:
        """The first `limit` hits of each question, as `config` ranks them."""
        opened: dict[str, LazyMemory] = {}
        try:
            return [
                self._engine(q.group, config, opened)
                .retrieve(q.question.text, limit=limit, explained=0, pooled=False)
                .hits[:limit]
                for q in questions
            ]
        finally:
            for memory in opened.values():
                memory.close()

    def _seen(
        self,
        question: LabelledQuestion,
        config: RetrievalConfig,
        target: str,
        opened: dict[str, LazyMemory],
    ) -> _Seen:
        if question.id not in self._cache:
            engine = self._engine(question.group, config, opened)
            candidates = engine.candidates(question.question.text)
            names = available(candidates)
            goal = _evidence if target == EVIDENCE else _answer_tokens
            self._cache[question.id] = _Seen(
                names, matrix(candidates, names), goal(candidates, question.gold)
            )
        return self._cache[question.id]

    def _engine(
        self, group: str, config: RetrievalConfig, opened: dict[str, LazyMemory]
    ) -> MemoryEngine:
        """The memory a question of this group is answered from, as the configuration writes it."""
        own = self._task.regime is Regime.OWN_GROUP
        key = group if own else ""
        if key not in opened:
            inside = {group} if own else set(self._training or self._task.groups)
            episodes = tuple(e for e in self._task.episodes if e.group in inside)
            factory = BankHarnessFactory(config, self._embedder, self._words, models=self._models)
            opened[key] = LazyMemory(factory, self._agent, episodes, 1, self._memories)
        try:
            harness = opened[key].harness()
        except MemoryFailedError as failed:
            # what went wrong, an exhausted budget for one, is for the search to hear of
            raise (failed.__cause__ or failed) from None
        assert isinstance(harness, BankHarness)
        return harness.engine


def target_of(questions: Sequence[LabelledQuestion]) -> str:
    """What the questions can teach: `evidence` where any has it, else `answer_tokens`."""
    for target in (EVIDENCE, ANSWER_TOKENS):
        if any(learnable(q.gold, target) for q in questions):
            return target
    raise RunError(
        "fusion 'learned' has nothing to learn from: the dev questions name neither evidence "
        "nor answers"
    )


def learnable(gold: Gold, target: str) -> bool:
    """Whether one question can teach a target."""
    if target == EVIDENCE:
        return bool(gold.evidence) and gold.unusable is None
    return any(_answer_stems(gold))


def _evidence(candidates: Candidates, gold: Gold) -> NDArray[np.float32]:
    wanted = frozenset(gold.evidence)
    units = (candidates.index.units[row] for row in candidates.rows.tolist())
    return np.fromiter(
        (bool(wanted.intersection(u.refs)) or u.source in wanted or u.id in wanted for u in units),
        np.float32,
        len(candidates),
    )


def _answer_tokens(candidates: Candidates, gold: Gold) -> NDArray[np.float32]:
    """Share of the answer's stems each candidate holds (the best over alternative answers)."""
    best = np.zeros(len(candidates), np.float32)
    for stems in _answer_stems(gold):
        terms = {candidates.index.postings.term(s) for s in stems} - {None}
        held = candidates.holds(tuple(sorted(t for t in terms if t is not None)))
        best = np.maximum(best, held / np.float32(len(stems)))
    return best


def _answer_stems(gold: Gold) -> list[set[str]]:
    return [s for answer in gold.answers if (s := {stem(w) for w in content_words(answer)})]


def _columns(seen: _Seen, names: tuple[str, ...]) -> NDArray[np.float32]:
    if seen.names == names:
        return seen.table
    return seen.table[:, [seen.names.index(n) for n in names]]


def _distinct(seen: Sequence[_Seen]) -> list[_Seen]:
    """One example per set of feature names."""
    return list({s.names: s for s in seen}.values())
