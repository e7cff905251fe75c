"""Which stage would put evidence higher: tried on the rankings of dev questions.

A stage is a dimension that was not in the action space (EvolveMem §4). Offline, templates stand in
for a model that writes code: each is run over the hits of dev questions as the incumbent ranks
them, and what it would do to the share of evidence among the first k is computed. Dev may be
learned from; whether a stage is any good is decided elsewhere, by the guard on val.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memgene.core import Gold, Hit, LabelledQuestion
from memgene.evolution.stages.gates import gate_stage
from memgene.evolution.stages.templates import TEMPLATES
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.stages.contract import MOST_CHARACTERS, MOST_HITS, MOST_SCORE
from memgene.retrieval.stages.host import StageError, StageHost
from memgene.retrieval.stages.stage import Stage, StageKind
from memgene.tasks.metrics.rankings import recall_at_k

STRENGTHS = (0.1, 0.25, 0.5)
LEAST = 0.002
"""Gain on dev below which a stage is not proposed."""

Ranked = Callable[[RetrievalConfig, Sequence[LabelledQuestion], int], Sequence[Sequence[Hit]]]


@dataclass(frozen=True, slots=True)
class Discovery:
    """A stage with the strength that served dev best: the mean share of evidence among the first
    `k` hits over `questions` dev questions, before and with it."""

    stage: Stage
    strength: float
    before: float
    after: float
    questions: int
    k: int

    @property
    def gain(self) -> float:
        """In shares of evidence."""
        return self.after - self.before

    @property
    def reason(self) -> str:
        """In words."""
        return (
            f"stage {self.stage.name} ({self.stage.about}): evidence among the first {self.k} of "
            f"{self.questions} dev questions {100 * self.before:.1f} → {100 * self.after:.1f}"
        )


@dataclass(frozen=True, slots=True)
class _Question:
    """A dev question as the incumbent ranks it."""

    text: str
    gold: Gold
    hits: Sequence[Hit]


class Discoverer:
    """Tries stages on the dev questions of one run. Deterministic."""

    def __init__(
        self,
        ranked: Ranked,
        questions: Sequence[LabelledQuestion],
        host: StageHost,
        k: int,
        stages: Iterable[Stage] | None = None,
    ) -> None:
        self._ranked = ranked
        self._questions = [q for q in questions if q.gold.evidence and q.gold.unusable is None]
        self._host = host
        self._k = k
        given = stages if stages is not None else (s for t in TEMPLATES for s in t.stages())
        self._stages = tuple(given)

    def discover(self, config: RetrievalConfig) -> list[Discovery]:
        """Stages that help on dev, the best first; of one kind and feature only the best
        parameters. Those that fail a gate, or at work, are left out."""
        hits = self._ranked(config, self._questions, MOST_HITS)
        asked = [
            _Question(q.question.text, q.gold, found)
            for q, found in zip(self._questions, hits, strict=True)
        ]
        if not asked:
            return []
        before = self._mean([question.hits for question in asked], asked)
        best: dict[str, Discovery] = {}
        for stage in self._stages:
            found = self._tried(stage, asked, before)
            if found is None or found.gain < LEAST:
                continue
            known = best.get(stage.about)
            if known is None or found.gain > known.gain:
                best[stage.about] = found
        return sorted(best.values(), key=lambda found: -found.gain)

    def _tried(self, stage: Stage, asked: Sequence[_Question], before: float) -> Discovery | None:
        if stage.kind not in (StageKind.RESCORER, StageKind.FILTER):
            return None
        if gate_stage(stage.source, stage.name, self._host):
            return None
        try:
            said = [self._called(stage, question) for question in asked]
        except StageError:
            return None
        strengths = STRENGTHS if stage.kind is StageKind.RESCORER else (1.0,)
        tried = [
            (self._mean(self._orders(stage, asked, said, strength), asked), -strength)
            for strength in strengths
        ]
        after, strength = max(tried)
        return Discovery(stage, -strength, before, after, len(asked), self._k)

    def _called(self, stage: Stage, question: _Question) -> list[float]:
        """What the stage says of the question's hits: numbers, or the order of their places."""
        given = {"query": question.text, "hits": [_shown(hit) for hit in question.hits]}
        name = "scores" if stage.kind is StageKind.RESCORER else "keep"
        said: list[float] = self._host.call(stage, name, given)
        return said

    def _orders(
        self,
        stage: Stage,
        asked: Sequence[_Question],
        said: Sequence[Sequence[float]],
        strength: float,
    ) -> list[Sequence[Hit]]:
        """The hits of each question in the order that the stage would give them."""
        return [
            _order(stage, question.hits, told, strength)
            for question, told in zip(asked, said, strict=True)
        ]

    def _mean(self, rankings: Sequence[Sequence[Hit]], asked: Sequence[_Question]) -> float:
        shares = [
            recall_at_k(question.gold.evidence, ranking, self._k)
            for question, ranking in zip(asked, rankings, strict=True)
        ]
        return sum(shares) / len(shares)


def _order(
    stage: Stage, hits: Sequence[Hit], told: Sequence[float], strength: float
) -> Sequence[Hit]:
    if stage.kind is StageKind.FILTER:
        return [hits[int(place)] for place in told]
    clipped = [max(-MOST_SCORE, min(MOST_SCORE, score)) for score in told]
    raised = [hit.score + strength * more for hit, more in zip(hits, clipped, strict=True)]
    return [hits[place] for place in sorted(range(len(hits)), key=lambda at: (-raised[at], at))]


def _shown(hit: Hit) -> dict[str, object]:
    """A hit as a stage sees it."""
    return {
        "id": hit.id,
        "text": hit.text[:MOST_CHARACTERS],
        "speaker": hit.speaker,
        "time": None if hit.event_time is None else hit.event_time.isoformat(),
        "source": hit.source,
        "metadata": dict(hit.metadata),
        "score": hit.score,
    }
