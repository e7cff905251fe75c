"""A proposer that adds stages to what another one proposes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from memgene.evolution.changes import stage_change
from memgene.evolution.diagnosis import Diagnosis
from memgene.evolution.proposers import Attempt, Proposal, Proposer, tried
from memgene.evolution.stages.discovering import Discovery
from memgene.evolution.stages.writing import Written
from memgene.retrieval.config import RetrievalConfig

EVERY = 2
"""Of so many rounds, one tries a stage, where one helps on dev."""
BY, WRITTEN_BY = "stages", "stages:llm"


class StageProposer:
    """Every second round tries a stage: the one that `write` gives for what failed (a model's;
    None: there is no model), else the one that helps most on dev and was not tried from this
    configuration. In other rounds, and where there is no stage, `inner` proposes. `discover` gives
    the stages for a configuration, the best first."""

    def __init__(
        self,
        inner: Proposer,
        discover: Callable[[RetrievalConfig], Sequence[Discovery]],
        write: Callable[[int, Diagnosis], Written | None] | None = None,
    ) -> None:
        self._inner = inner
        self._discover = discover
        self._write = write
        self._found: dict[str, Sequence[Discovery]] = {}

    @property
    def name(self) -> str:
        """Of the inner proposer."""
        return self._inner.name

    def propose(
        self,
        diagnosis: Diagnosis,
        incumbent: RetrievalConfig,
        history: Sequence[Attempt],
        rng: random.Random,
    ) -> Proposal | None:
        """A stage in its turn, or whatever the inner proposer proposes; a stage too where that has
        nothing left."""
        if len(history) % EVERY == EVERY - 1:
            found = self._new(diagnosis, incumbent, history) or self._stage(incumbent, history)
            if found is not None:
                return found
        proposed = self._inner.propose(diagnosis, incumbent, history, rng)
        return proposed if proposed is not None else self._stage(incumbent, history)

    def _new(
        self, diagnosis: Diagnosis, incumbent: RetrievalConfig, history: Sequence[Attempt]
    ) -> Proposal | None:
        """The stage that a model writes for this round."""
        written = None if self._write is None else self._write(len(history) + 1, diagnosis)
        if written is None:
            return None
        changes = (stage_change(written.stage, written.strength),)
        if tried(incumbent, changes, history):
            return None
        return Proposal(changes, f"{written.stage.about}: {written.reason}", WRITTEN_BY)

    def _stage(self, incumbent: RetrievalConfig, history: Sequence[Attempt]) -> Proposal | None:
        key = incumbent.digest
        if key not in self._found:
            self._found[key] = self._discover(incumbent)
        have = {placed.name for placed in incumbent.stages}
        for found in self._found[key]:
            changes = (stage_change(found.stage, found.strength),)
            if found.stage.name not in have and not tried(incumbent, changes, history):
                return Proposal(changes, found.reason, BY)
        return None
