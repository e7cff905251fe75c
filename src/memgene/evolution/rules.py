"""The rule proposer: the published rubric, driven by computed causes instead of a model.

Source: EvolveMem §4: many abstentions → widen k and context, fuse views; wrong answers with the
evidence present → shrink the context; temporal weak → time decay, structured dates; names mislead
→ entity swap; multi-hop weak → decomposition, neighbours; facts never stored → extraction with
coverage; one type lagging → an override for it; switch a lever on before tuning numbers. Which
levers treat which symptom is declared with the lever.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product, zip_longest

from memgene.evolution.changes import (
    AFTER_SCORING,
    LEARNED,
    Change,
    change,
    has_effect,
    may_differ_by_type,
    same_settings,
)
from memgene.evolution.diagnosis import Cause, Diagnosis
from memgene.evolution.guard import EPSILON
from memgene.evolution.means import Means
from memgene.evolution.proposers import Attempt, Proposal, tried
from memgene.evolution.steps import is_off, next_values
from memgene.retrieval.config import RetrievalConfig, levers
from memgene.retrieval.levers import Symptom

LEAST = 0.01
_MANY_ABSTENTIONS = 0.3
_SEVERAL_FACTS = 0.3
_WEAK_TYPES = 2  # the costliest that get overrides of their own
_TIME_TYPES = ("when", "how_long")
# Levers to reach for first; the others that treat the symptom follow in declared order.
_FIRST: Mapping[Symptom, tuple[str, ...]] = {
    Symptom.NOT_RETRIEVED: (
        "window_k",
        "dense_k",
        "soft_k",
        "episode_k",
        "structured_k",
        "lexical_k",
        "entity_swap",
        "temporal_neighbours",
        "decomposition",
        "intent_planning",
    ),
    Symptom.RANKED_LOW: (
        "fusion",
        "window",
        "rerank",
        "neighbour_bonus",
        "weight_window",
        "weight_speaker",
        "weight_lexical",
        "weight_soft",
        "weight_dense",
        "weight_length",
        "weight_structured",
        "weight_episode",
        "dense_content_words",
        "dense_center",
    ),
    Symptom.ANSWERED_WRONG: ("context_k", "verification", "answer_style", "context_chars"),
    Symptom.TEMPORAL: ("structured_k", "weight_structured", "recency_weight", "half_life_days"),
    Symptom.NAMES_MISLEAD: ("entity_swap", "lexical_drop_names", "dense_drop_names"),
    Symptom.MULTI_HOP: (
        "decomposition",
        "temporal_neighbours",
        "neighbour_bonus",
        "window",
        "intent_planning",
        "mmr_lambda",
    ),
    Symptom.NEVER_STORED: ("extraction", "coverage_pass", "extraction_window", "extraction_chunk"),
}
# Memories of plain messages are all alike in these; nothing but chance would change.
IDLE = frozenset({"importance_weight", "reinforcement_weight"})
_WORDS: Mapping[Symptom, str] = {
    Symptom.NEVER_STORED: "facts were never stored",
    Symptom.NOT_RETRIEVED: "evidence is in the bank but not among the candidates",
    Symptom.RANKED_LOW: "evidence is among the candidates but ranked too low",
    Symptom.ANSWERED_WRONG: "evidence is in the context and the answer is still wrong",
    Symptom.TEMPORAL: "questions about time lag behind",
    Symptom.NAMES_MISLEAD: "person names may mislead the search",
    Symptom.MULTI_HOP: "many failing questions need several facts",
    Symptom.SLOW: "retrieval is slow",
}


@dataclass(frozen=True, slots=True)
class Complaint:
    """A symptom, how much score it costs, and the question type it is about (None = all)."""

    symptom: Symptom
    lost: float
    question_type: str | None = None

    @property
    def text(self) -> str:
        """The symptom in words."""
        about = "" if self.question_type is None else f" for '{self.question_type}' questions"
        return f"{_WORDS[self.symptom]}{about} (costs {100 * self.lost:.1f} points)"


@dataclass(frozen=True, slots=True)
class Move:
    """A change and why it is proposed."""

    change: Change
    why: str


class RuleProposer:
    """Levers from symptoms. Uses no randomness; out of ideas it proposes nothing."""

    name = "rule"

    def __init__(self, available: Means, metric: str, max_changes: int = 2) -> None:
        self._available = available
        self._metric = metric
        self._max_changes = max_changes

    def propose(
        self,
        diagnosis: Diagnosis,
        incumbent: RetrievalConfig,
        history: Sequence[Attempt],
        rng: random.Random,
    ) -> Proposal | None:
        del rng
        moves = self._moves(diagnosis, incumbent)
        hopeful = [move for move in moves if not _failed(move.change, history)]
        again = [move for move in moves if _failed(move.change, history)]
        groups = (
            *self._combined(incumbent, history),
            *self._groups(hopeful),
            *self._groups(again),
        )
        for group in groups:
            changes = tuple(move.change for move in group)
            if not tried(incumbent, changes, history):
                return Proposal(changes, "; ".join(dict.fromkeys(m.why for m in group)))
        return None

    def _moves(self, diagnosis: Diagnosis, config: RetrievalConfig) -> list[Move]:
        """All moves: the learned fusion, then complaints take turns, the costliest first."""
        lists = [
            list(self._answers(complaint, config)) for complaint in complaints(diagnosis, config)
        ]
        turns = zip_longest(*lists)
        moves: dict[tuple[str, object, str | None], Move] = {}
        for move in (move for turn in turns for move in turn if move is not None):
            key = (move.change.lever, move.change.value, move.change.question_type)
            moves.setdefault(key, move)
        return sorted(moves.values(), key=lambda move: move.change.value != LEARNED)

    def _answers(self, complaint: Complaint, config: RetrievalConfig) -> Iterator[Move]:
        """Moves against one complaint: the learned fusion, first values of levers that are off,
        of those that are on, then second values."""
        kind = complaint.question_type
        served = config if kind is None else config.for_type(kind)
        options = []
        for place, name in enumerate(_ordered(complaint.symptom, served)):
            if not self._may(config, served, name, kind):
                continue
            values = next_values(served, name, complaint.symptom, self._available, kind)
            for turn, value in enumerate(values):
                off = is_off(served, name)
                options.append(((turn, value != LEARNED, not off, place), name, value))
        for _, name, value in sorted(options, key=lambda option: option[0]):
            found = change(config, name, value, kind)
            if not same_settings(config, (found,)):
                yield Move(found, complaint.text)

    def _may(
        self, config: RetrievalConfig, served: RetrievalConfig, name: str, kind: str | None
    ) -> bool:
        if not has_effect(served, name, self._available, self._metric):
            return False
        if name == "entity_swap" and served.lexical_drop_names:
            return False  # the lexical view has no names in its query already
        return kind is None or may_differ_by_type(config, name)

    def _combined(
        self, config: RetrievalConfig, history: Sequence[Attempt]
    ) -> Iterator[tuple[Move, ...]]:
        """What pointed upwards but was too small to be sure of, taken together: a change of the
        best such attempt from this incumbent with one of the second best."""
        digest = config.digest
        near = [
            attempt
            for attempt in history
            if attempt.parent == digest and not attempt.accepted and attempt.delta >= EPSILON
        ]
        if self._max_changes < 2 or len(near) < 2:
            return
        first, second = sorted(near, key=lambda attempt: -attempt.delta)[:2]
        why = f"small gains taken together ({first.delta:+.4f} and {second.delta:+.4f})"
        for one, other in product(first.changes, second.changes):
            if one.lever != other.lever:
                yield (Move(one, why), Move(other, why))

    def _groups(self, moves: Sequence[Move]) -> Iterator[tuple[Move, ...]]:
        """What to try in turn: a new fusion alone, then neighbours in pairs, then single moves."""
        if self._max_changes > 1:
            rest = list(moves)
            while rest:
                first = rest.pop(0)
                if first.change.lever == "fusion":
                    yield (first,)
                    continue
                partner = next((m for m in rest if _compatible(first, m)), None)
                if partner is not None:
                    rest.remove(partner)
                    yield (first, partner)
        for move in moves:
            yield (move,)


def complaints(diagnosis: Diagnosis, config: RetrievalConfig) -> list[Complaint]:
    """What the diagnosis complains about, costliest first; what costs under a point is left."""
    lost = diagnosis.lost
    unknown = lost[Cause.UNDETERMINED]
    silent = diagnosis.abstained >= _MANY_ABSTENTIONS
    costs = {
        Symptom.NEVER_STORED: lost[Cause.NEVER_STORED],
        Symptom.NOT_RETRIEVED: lost[Cause.NOT_RETRIEVED] + (unknown / 2 if silent else 0),
        Symptom.RANKED_LOW: lost[Cause.RANKED_LOW] + (unknown / 2 if silent else unknown / 4),
        Symptom.ANSWERED_WRONG: lost[Cause.ANSWERED_WRONG] + (0 if silent else 3 * unknown / 4),
    }
    missed = costs[Symptom.NOT_RETRIEVED] + costs[Symptom.RANKED_LOW]
    if diagnosis.multi_hop >= _SEVERAL_FACTS:
        costs[Symptom.MULTI_HOP] = missed * diagnosis.multi_hop / 2
    if not (config.lexical_drop_names or config.entity_swap):
        costs[Symptom.NAMES_MISLEAD] = missed / 4
    found = [Complaint(symptom, cost) for symptom, cost in costs.items()]
    for kind in diagnosis.weak_types()[:_WEAK_TYPES]:
        part = diagnosis.by_type[kind]
        cost = part.questions * (1 - part.mean) / diagnosis.questions
        if kind in _TIME_TYPES:
            found.append(Complaint(Symptom.TEMPORAL, cost / 2))
        found.append(Complaint(_main_symptom(part.causes, costs), cost / 2, kind))
    return sorted((c for c in found if c.lost >= LEAST), key=lambda c: -c.lost)


def _main_symptom(causes: Mapping[Cause, int], costs: Mapping[Symptom, float]) -> Symptom:
    """The commonest cause among a type's questions that a lever can treat."""
    treatable = {
        Symptom.NOT_RETRIEVED: causes[Cause.NOT_RETRIEVED],
        Symptom.RANKED_LOW: causes[Cause.RANKED_LOW],
        Symptom.ANSWERED_WRONG: causes[Cause.ANSWERED_WRONG],
    }
    return max(treatable, key=lambda symptom: (treatable[symptom], costs[symptom]))


def _ordered(symptom: Symptom, config: RetrievalConfig) -> list[str]:
    """Levers that treat the symptom, first choices first. Under a learned fusion those come last
    that it makes up for: weights of views touch it through few features only, and what happens
    after scoring (neighbours, diversity) it has features for itself."""
    treating = [
        name
        for name, declared in levers().items()
        if symptom in declared.treats and not (name in IDLE and config.extraction == "off")
    ]
    first = [name for name in _FIRST.get(symptom, ()) if name in treating]
    names = [*first, *(name for name in treating if name not in first)]
    if config.fusion == LEARNED:
        names.sort(key=lambda name: name.startswith("weight_") or name in AFTER_SCORING)
    return names


def _failed(wanted: Change, history: Sequence[Attempt]) -> bool:
    """Whether the change was part of a rejected attempt that did not even point upwards."""
    return any(
        wanted in attempt.changes and not attempt.accepted and attempt.delta <= 0
        for attempt in history
    )


def _compatible(first: Move, second: Move) -> bool:
    return second.change.lever not in ("fusion", first.change.lever)
