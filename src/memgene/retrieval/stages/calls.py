"""The stages of one read: each is called by its contract, and what it returns is checked.

A stage that fails is left out of the read, which goes on without it and says so, as it does where
a language model fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from memgene.bank.unit import MemoryUnit
from memgene.core import Hit
from memgene.retrieval.stages.contract import (
    MOST_CANDIDATES,
    MOST_CHARACTERS,
    MOST_CONTEXT,
    MOST_QUERIES,
    MOST_SCORE,
)
from memgene.retrieval.stages.host import StageError, StageHost
from memgene.retrieval.stages.stage import PREFIX, PlacedStage, StageKind

Found = TypeVar("Found")


class StageCalls:
    """Stages of a configuration that are on, at work in one read of one thread."""

    def __init__(self, host: StageHost, stages: Sequence[PlacedStage]) -> None:
        self._host = host
        self._stages = tuple(placed for placed in stages if placed.strength)
        self._failed: dict[str, None] = {}

    @classmethod
    def of(cls, host: StageHost | None, stages: Sequence[PlacedStage]) -> StageCalls | None:
        """None where no stage is on, or nobody may run it."""
        return cls(host, stages) if host is not None and any(p.strength for p in stages) else None

    @property
    def degraded(self) -> tuple[str, ...]:
        """Stages that failed, and why."""
        return tuple(self._failed)

    def has(self, kind: StageKind) -> bool:
        """Whether a stage of this kind is on."""
        return any(placed.stage.kind is kind for placed in self._stages)

    def key(self, kind: StageKind) -> str:
        """Names the code of all stages of a kind; "" without any."""
        return " ".join(f"{p.name}:{p.stage.digest}" for p in self._of(kind))

    def queries(self, question: str) -> list[str]:
        """Further texts to search for."""
        found: list[str] = []
        for placed in self._of(StageKind.QUERY):
            params = {"question": cut(question)}
            found += self._checked(placed, "queries", params, _texts) or ()
        return found

    def candidates(
        self, query: str, units: Sequence[MemoryUnit]
    ) -> list[tuple[PlacedStage, dict[str, float]]]:
        """Of each view, scores above 0 by the ids of some of these units, best first."""
        told = [unit_value(unit) for unit in units]
        known = {unit.id for unit in units}
        found = []
        for placed in self._of(StageKind.VIEW):
            params = {"query": cut(query), "units": told}
            scores = self._checked(
                placed, "candidates", params, lambda value: _candidates(value, known)
            )
            if scores:
                found.append((placed, scores))
        return found

    def scores(
        self, query: str, units: Sequence[MemoryUnit], scores: Sequence[float]
    ) -> list[tuple[PlacedStage, list[float]]]:
        """Of each rescorer, a number in [-1, 1] for each of these units, whose scores these are."""
        told = [
            {**unit_value(unit), "score": round(score, 6)}
            for unit, score in zip(units, scores, strict=True)
        ]
        found = []
        for placed in self._of(StageKind.RESCORER) if units else ():
            params = {"query": cut(query), "hits": told}
            said = self._checked(
                placed, "scores", params, lambda value: _numbers(value, len(units))
            )
            if said:
                found.append((placed, said))
        return found

    def keep(self, query: str, hits: Sequence[Hit]) -> list[tuple[PlacedStage, int]] | None:
        """What filters leave of these hits: for each place the filter that moved it last, and its
        position of now. None where no filter said anything."""
        placed_at: list[tuple[PlacedStage, int]] | None = None
        for placed in self._of(StageKind.FILTER) if hits else ():
            at = range(len(hits)) if placed_at is None else [old for _, old in placed_at]
            told = [_hit_value(hits[old]) for old in at]
            params = {"query": cut(query), "hits": told}
            order = self._checked(placed, "keep", params, partial(_positions, len(told)))
            if order is not None:
                placed_at = [(placed, list(at)[new]) for new in order]
        return placed_at

    def instruction(self, question: str) -> str:
        """What answer stages tell the agent, a line each; "" where none is for the question."""
        lines = []
        for placed in self._of(StageKind.ANSWER):
            params = {"question": cut(question)}
            said = self._checked(placed, "instruction", params, _line)
            if said:
                lines.append(said)
        return "\n".join(lines)

    def accepts(self, question: str, context: str, answer: str) -> bool:
        """Whether every answer stage lets a draft stand; one that has no check, or fails, does."""
        for placed in self._of(StageKind.ANSWER):
            params = {
                "question": cut(question),
                "context": context[:MOST_CONTEXT],
                "answer": cut(answer),
            }
            if self._checked(placed, "accept", params, _verdict) is False:
                return False
        return True

    def _of(self, kind: StageKind) -> list[PlacedStage]:
        return [placed for placed in self._stages if placed.stage.kind is kind]

    def _checked(
        self,
        placed: PlacedStage,
        method: str,
        params: Mapping[str, Any],
        check: Callable[[Any], Found],
    ) -> Found | None:
        """What the stage returned, in its type; None where it failed."""
        try:
            try:
                return check(self._host.call(placed.stage, method, params))
            except ValueError as error:
                said = f"stage {placed.name}, {method} returned {error}"
                raise StageError(said) from error
        except StageError as error:
            self._failed[f"{PREFIX}{placed.name}: {error}"] = None
            return None


def cut(text: str) -> str:
    """As much of a text as a stage is given."""
    return text[:MOST_CHARACTERS]


def unit_value(unit: MemoryUnit) -> dict[str, Any]:
    """A unit as a stage sees it."""
    return {
        "id": unit.id,
        "text": cut(unit.content),
        "speaker": unit.speaker,
        "time": None if unit.event_time is None else unit.event_time.isoformat(),
        "source": unit.source,
        "metadata": dict(unit.metadata),
    }


def _hit_value(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "text": cut(hit.text),
        "speaker": hit.speaker,
        "time": None if hit.event_time is None else hit.event_time.isoformat(),
        "source": hit.source,
        "metadata": dict(hit.metadata),
        "score": round(min(max(hit.score, 0.0), 1.0), 6),
    }


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError("no list of texts")
    cleaned = (" ".join(cut(text).split()) for text in value)
    return [text for text in cleaned if text][:MOST_QUERIES]


def _candidates(value: Any, known: set[str]) -> dict[str, float]:
    """Ids that were not offered, and scores of 0 and below, are refused and left out."""
    found: dict[str, float] = {}
    for pair in value if isinstance(value, list) else (value,):
        if not isinstance(pair, list) or len(pair) != 2:
            raise ValueError("no list of [id, score]")
        name, score = pair
        if not isinstance(name, str) or name not in known:
            raise ValueError(f"a unit it was not offered: {name!r:.80}")
        if (number := _number(score)) > 0:
            found[name] = max(number, found.get(name, 0.0))
    best = sorted(found, key=lambda name: -found[name])[:MOST_CANDIDATES]
    return {name: found[name] for name in best}


def _numbers(value: Any, count: int) -> list[float]:
    if not isinstance(value, list) or len(value) != count:
        size = len(value) if isinstance(value, list) else "no list"
        raise ValueError(f"{size} for {count} hits: one number each is asked for")
    return [min(max(_number(each), -MOST_SCORE), MOST_SCORE) for each in value]


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e30:
        raise ValueError(f"what is no number of use: {value!r:.80}")
    if not math.isfinite(value):
        raise ValueError(f"what is no finite number: {value!r}")
    return float(value)


def _positions(count: int, value: Any) -> list[int]:
    if not isinstance(value, list) or not all(type(at) is int for at in value):
        raise ValueError("no list of positions")
    if len(set(value)) < len(value) or not all(0 <= at < count for at in value):
        raise ValueError(f"positions that are not different ones of 0 to {count - 1}")
    return value


def _line(value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise ValueError("neither a text nor None")
    return " ".join(cut(value or "").split())


def _verdict(value: Any) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise ValueError("neither True nor False")
    return value
