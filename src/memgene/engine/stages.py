"""Stages behind a ranking: filters on its hits, and words for its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memgene.core import Hit
from memgene.engine.reading import Retrieval
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.stages.calls import StageCalls
from memgene.retrieval.stages.contract import MOST_HITS
from memgene.retrieval.stages.stage import PREFIX, StageKind


def filtered_first(config: RetrievalConfig) -> int:
    """How many hits filters look at; 0 where none is on."""
    on = any(p.strength and p.stage.kind is StageKind.FILTER for p in config.stages)
    return MOST_HITS if on else 0


def staged(calls: StageCalls, question: str, found: Retrieval) -> Retrieval:
    """A read with its hits filtered and words for its answer; `degraded` tells of all stages that
    failed in it."""
    hits = filtered(calls, question, found.hits)
    instruction = calls.instruction(question)
    degraded = (*found.degraded, *calls.degraded)
    return replace(found, hits=hits, instruction=instruction, degraded=degraded)


def filtered(calls: StageCalls, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The first hits as filters leave them, then the others.

    Scores belong to places, so that they still fall along the ranking. What a filter kept carries
    the place it came from (from 1) as `why.factors["stage.NAME"]`.
    """
    block, rest = hits[:MOST_HITS], hits[MOST_HITS:]
    kept = calls.keep(question, block)
    if kept is None:
        return tuple(hits)
    moved = [
        replace(
            block[old],
            score=block[new].score,
            why=replace(
                block[old].why,
                factors={**block[old].why.factors, PREFIX + placed.name: float(old + 1)},
            ),
        )
        for new, (placed, old) in enumerate(kept)
    ]
    return (*moved, *rest)
