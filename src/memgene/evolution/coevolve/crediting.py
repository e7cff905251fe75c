"""From one played question to an interaction that can be credited: attributions, distillation."""

from __future__ import annotations

import random
from collections.abc import Sequence

from memgene.engine import MemoryEngine
from memgene.engine.credit.attributing import (
    CITED,
    SHOWN,
    attribute,
    attribute_cited,
    attribute_evidence,
)
from memgene.engine.credit.distilling import Trajectory, distil
from memgene.engine.credit.interaction import Exposure, Interaction
from memgene.engine.credit.settings import CreditSettings
from memgene.engine.growth import GrowthSettings, control_growth
from memgene.evaluation.scoring import usable_evidence
from memgene.evolution.coevolve.field import Asked, Outcome
from memgene.evolution.coevolve.plan import Attribution, CoevolvePlan
from memgene.evolution.coevolve.steps import Step
from memgene.llm.protocol import LLM

_GROWTH_EVERY = 50


class Crediting:
    """How the plan attributes and distils. `attributor` and `distiller` are language models.

    An attempt is remembered beside the memories it came from; one that came from nothing only in a
    memory that all questions `shared`, for nobody could tell to which of several it belongs.
    """

    def __init__(
        self,
        plan: CoevolvePlan,
        seed: int,
        attributor: LLM | None = None,
        distiller: LLM | None = None,
        *,
        shared: bool = False,
    ) -> None:
        self._plan = plan
        self._seed = seed
        self._attributor = attributor
        self._distiller = distiller
        self._shared = shared
        self._interactions = 0
        self.settings: CreditSettings = plan.credited()
        self.explore = plan.explore

    def interaction(
        self, asked: Asked, seen: Outcome, step: Step
    ) -> tuple[Interaction, tuple[str, ...]]:
        """What is credited, and what fell back to something simpler because a model failed."""
        assert seen.reward is not None
        exposed, degraded = self._attributions(asked, seen)
        exposed = self._noisy(exposed, asked, step)
        distilled = None
        if self._plan.distil and (seen.exposed or self._shared):
            distilled, more = distil(_trajectory(asked, seen, seen.reward), self._distiller)
            degraded += more
        return Interaction(asked.query, exposed, seen.reward, distilled), degraded

    def grown(self, engine: MemoryEngine) -> None:
        """Thin the memory out every now and then, where the plan bounds it."""
        self._interactions += 1
        if self._interactions % _GROWTH_EVERY == 0:
            self.thin([engine])

    def thin(self, engines: Sequence[MemoryEngine]) -> None:
        """Merge and archive down to what the plan allows, where it bounds the memory."""
        if self._plan.most is not None:
            for engine in engines:
                control_growth(engine, GrowthSettings(most=self._plan.most))

    def _attributions(
        self, asked: Asked, seen: Outcome
    ) -> tuple[tuple[Exposure, ...], tuple[str, ...]]:
        hits, answer = seen.exposed, seen.answer
        if self._plan.attribution is Attribution.TOP:
            return tuple(Exposure(h.id, SHOWN if i else CITED) for i, h in enumerate(hits)), ()
        if self._plan.attribution is Attribution.LLM:
            assert self._attributor is not None
            return attribute(self._attributor, asked.query, answer.text, hits)
        cited = attribute_cited(answer.text, hits, question=asked.query, cited=answer.cited)
        if self._plan.attribution is Attribution.CITED:
            return cited, ()
        held = attribute_evidence(hits, usable_evidence(asked.labelled))
        return tuple(max(pair, key=_part) for pair in zip(held, cited, strict=True)), ()

    def _noisy(
        self, exposed: tuple[Exposure, ...], asked: Asked, step: Step
    ) -> tuple[Exposure, ...]:
        """A share of the attributions turned round: what held the evidence was merely shown, and
        the other way round."""
        if not self._plan.noise:
            return exposed
        rng = random.Random(f"{self._seed}:noise:{step.number}:{asked.labelled.id}")
        return tuple(
            Exposure(e.unit_id, SHOWN if e.attribution > SHOWN else CITED)
            if rng.random() < self._plan.noise
            else e
            for e in exposed
        )


def _part(exposure: Exposure) -> float:
    return exposure.attribution


def _trajectory(asked: Asked, seen: Outcome, reward: float) -> Trajectory:
    """What was tried: the answer, or the first memory where nothing was answered."""
    hits = seen.exposed
    tried = seen.answer.text or (hits[0].text if hits else "")
    return Trajectory(asked.labelled.question.text, tried, reward, hits)
