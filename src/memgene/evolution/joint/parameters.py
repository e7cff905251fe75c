"""A parameters pass: a configuration search for the bank that the genome uses (EvolveMem §4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memgene.core import LabelledQuestion
from memgene.evaluation.case import Case
from memgene.evolution.candidates import Candidates, Known
from memgene.evolution.config_proposers import proposers_of
from memgene.evolution.config_search import ConfigSearch, SearchOutcome, SearchTools
from memgene.evolution.guard import GuardMode, PairedGuard
from memgene.evolution.joint.genome import Genome
from memgene.evolution.joint.judged import GenomeEvaluator, Judged
from memgene.evolution.joint.plan import Arm
from memgene.evolution.joint.turn import TurnTools, named
from memgene.evolution.means import Means, Use
from memgene.evolution.proposers import Attempt
from memgene.evolution.rundir import RunFolder
from memgene.programs.program import Program
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.levers import Need

_PASSES = 1_009  # spreads the seeds of passes


class ParametersPass:
    """Searches from the genome's configuration. What fails is diagnosed on dev with the bank alone,
    whose rankings tell why; what is better is judged with the whole genome.

    A program that does not use the bank has no levers: then the pass works on the bank alone, and
    offers that in the program's place.
    """

    def __init__(self, tools: TurnTools) -> None:
        self._tools = tools
        self._dev: Known = {}
        self._val: dict[str, Known] = {}
        self._history: dict[str, Sequence[Attempt]] = {}

    def blocked(self, genome: Genome) -> str:
        """Nothing blocks it."""
        del genome
        return ""

    def cost(self, parent: Judged) -> int:
        """The diagnosis of the start and one candidate, and the start where it was not judged."""
        host = _host(parent.genome)
        judged, config = len(self._tools.data.select), parent.genome.config
        cost = judged
        if (config.digest, "dev") not in self._dev:
            cost += len(self._tools.data.diagnose)
        known = (config.digest, "val") in self._val.get(_key(host), {})
        if not known and host is not parent.genome.program:
            cost += judged
        return cost

    def take(self, number: int, parent: Judged, part: RunFolder) -> Judged:
        """One search from the parent's configuration; its best one in the genome's place."""
        genome, host = parent.genome, _host(parent.genome)
        known = self._val.setdefault(_key(host), {})
        if host is genome.program:
            known[genome.config.digest, "val"] = parent.cases
        working = replace(genome, program=host)
        search, outcome = self._search(number, working, part, known)
        self._history[_key(host)] = search.history
        best = outcome.promoted
        made = replace(working, config=best.config)
        if made.digest == genome.digest:
            return parent
        name = named(number, Arm.PARAMETERS, best.id)
        return Judged(name, number, made, best.score, tuple(best.cases))

    def _search(
        self, number: int, working: Genome, part: RunFolder, known: Known
    ) -> tuple[ConfigSearch, SearchOutcome]:
        tools, bench = self._tools, self._tools.bench
        both: Known = {**self._dev, **known}
        candidates = Candidates(
            part,
            tools.recorder(part),
            tools.meter,
            tools.spending,
            Diagnosing(tools.evaluator, working, tools.data.diagnose),
            tools.learner,
            tools.data,
            bench.metric,
            both,
        )
        proposer, explorer = proposers_of(
            bench, tools.data, means_for(tools, working.program), part, tools.meter, tools.spending
        )
        parts = SearchTools(
            journal=part.journal,
            candidates=candidates,
            meter=tools.meter,
            proposer=proposer,
            explorer=explorer,
            guard=PairedGuard.of_mode(GuardMode(bench.settings.guard), tools.plan.rounds),
            interrupt=bench.interrupt,
            report=lambda _, score, __: tools.report(score),
        )
        search = ConfigSearch(
            parts,
            tools.data,
            bench.settings.plan,
            bench.metric,
            bench.settings.seed + _PASSES * number,
            tools.plan.rounds,
            start=working.config,
            history=self._history.get(_key(working.program), ()),
        )
        outcome = search.run()
        self._dev.update((key, cases) for key, cases in both.items() if key[1] == "dev")
        known.update((key, cases) for key, cases in both.items() if key[1] == "val")
        return search, outcome


class Diagnosing:
    """Dev questions for a diagnosis go to the bank alone, all others to the whole genome."""

    def __init__(
        self, evaluator: GenomeEvaluator, genome: Genome, dev: Sequence[LabelledQuestion]
    ) -> None:
        self._evaluator = evaluator
        self._genome = genome
        self._dev = dev

    def evaluate(
        self, config: RetrievalConfig, questions: Sequence[LabelledQuestion], label: str
    ) -> Sequence[Case]:
        """One case per question, in order."""
        genome = replace(self._genome, config=config)
        if questions is self._dev:
            genome = replace(genome, program=None)
        return self._evaluator.evaluate(genome, questions, label)


def _host(genome: Genome) -> Program | None:
    """The program whose bank is configured; None: the bank alone."""
    return genome.program if genome.uses_bank else None


def _key(program: Program | None) -> str:
    return "" if program is None else program.digest


def means_for(tools: TurnTools, program: Program | None) -> Means:
    """What levers may need. The bank inside a program's worker has no language model."""
    learning = {Need.TRAINING} if tools.learnable else set()
    found = frozenset({*tools.bench.means, *learning})
    return found if program is None else frozenset(m for m in found if not isinstance(m, Use))
