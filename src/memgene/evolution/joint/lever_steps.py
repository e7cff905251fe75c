"""One new configuration at a time, for a step that changes other parts too."""

from __future__ import annotations

import random

from memgene.evolution.candidates import Candidate, Candidates, Known
from memgene.evolution.config_proposers import proposers_of
from memgene.evolution.diagnosis import diagnose
from memgene.evolution.guard import Verdict
from memgene.evolution.joint.genome import Genome
from memgene.evolution.joint.judged import Judged
from memgene.evolution.joint.parameters import Diagnosing, means_for
from memgene.evolution.joint.turn import TurnTools
from memgene.evolution.proposers import Attempt, Proposal, Proposer
from memgene.evolution.rundir import RunFolder
from memgene.retrieval.config import RetrievalConfig

_LEVERS = "levers"


class LeverSteps:
    """Proposes configurations from a diagnosis of the bank alone on dev; who judges them is told
    what came of each."""

    def __init__(self, tools: TurnTools) -> None:
        self._tools = tools
        self._dev: Known = {}
        self._history: list[Attempt] = []
        self._proposed: Proposal | None = None

    def cost(self, genome: Genome) -> int:
        """Questions of a diagnosis, where there is none yet."""
        known = (genome.config.digest, "dev") in self._dev
        return 0 if known else len(self._tools.data.diagnose)

    def begin(self, parent: Judged, part: RunFolder) -> None:
        """A pass begins from the parent."""
        tools = self._tools
        self._part = part.part(_LEVERS)
        known: Known = self._dev
        known[parent.genome.config.digest, "val"] = parent.cases
        self._candidates = Candidates(
            self._part,
            tools.recorder(self._part),
            tools.meter,
            tools.spending,
            Diagnosing(tools.evaluator, parent.genome, tools.data.diagnose),
            tools.learner,
            tools.data,
            tools.bench.metric,
            known,
        )
        self._candidates.start(parent.genome.config, "where the pass begins")
        known.pop((parent.genome.config.digest, "val"), None)

    def proposed(self, step: int, best: Judged, number: int) -> RetrievalConfig:
        """The next configuration from the best genome's; its own where nothing is left to try."""
        config, metric = best.genome.config, self._tools.bench.metric
        cases = self._candidates.cases(f"{step:03d}-dev", config, "dev")
        diagnosis = diagnose(cases, metric)
        self._proposed = None
        tools = self._tools
        means = means_for(tools, best.genome.program)
        for proposer in proposers_of(
            tools.bench, tools.data, means, self._part, tools.meter, tools.spending
        ):
            rng = self._rng(proposer, step, number)
            proposal = proposer.propose(diagnosis, config, tuple(self._history), rng)
            if proposal is not None:
                self._proposed = proposal
                parent = Candidate(best.id, config, best.score, best.cases)
                by = proposal.by or proposer.name
                return self._candidates.changed(step, parent, proposal, by)[1]
        return config

    def told(self, best: Judged, verdict: Verdict) -> None:
        """What came of the step that began from the best genome so far."""
        if self._proposed is not None:
            changes = self._proposed.changes
            digest = best.genome.config.digest
            self._history.append(Attempt(digest, changes, verdict.delta, verdict.accepted))

    def _rng(self, proposer: Proposer, step: int, number: int) -> random.Random:
        seed = self._tools.bench.settings.seed
        return random.Random(f"{seed}:{proposer.name}:{number}:{step}")
