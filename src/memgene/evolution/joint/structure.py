"""A structure pass: a program search, everything else of the genome frozen (M* §5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace

from memgene.evolution.diagnosis import is_ranking
from memgene.evolution.guard import PairedGuard
from memgene.evolution.joint.genome import Genome, uses_bank
from memgene.evolution.joint.judged import Judged
from memgene.evolution.joint.plan import Arm
from memgene.evolution.joint.turn import TurnTools, named
from memgene.evolution.programs.candidates import ProgramCandidates, Seen
from memgene.evolution.programs.drafters import drafter_of
from memgene.evolution.programs.drafting import Workshop
from memgene.evolution.programs.observed import Observed
from memgene.evolution.programs.sampling import Sampler
from memgene.evolution.programs.search import ProgramSearch, ProgramTools
from memgene.evolution.programs.sizes import seeds_of
from memgene.evolution.rundir import RunFolder
from memgene.programs.gates import check
from memgene.programs.gates.finding import Finding
from memgene.programs.normal import normal_hash
from memgene.programs.program import Program
from memgene.programs.runtime import ProgramRuntime
from memgene.retrieval.config import RetrievalConfig

_PASSES = 1_009  # spreads the seeds of passes
BANK_SEED = "bank"


@dataclass(slots=True)
class Known:
    """Programs that were asked the judging questions, by digest. What those that use the bank
    remember depends on the configuration: they are known under it alone."""

    plain: dict[str, Seen] = field(default_factory=dict)
    banking: dict[str, dict[str, Seen]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    banking_names: dict[str, dict[str, str]] = field(default_factory=dict)

    def under(self, config: RetrievalConfig) -> dict[str, Seen]:
        """All that are known where the bank retrieves so."""
        return {**self.plain, **self.banking.get(config.digest, {})}

    def names_under(self, config: RetrievalConfig) -> dict[str, str]:
        """Their names by normalised hash: what is no news."""
        return {**self.names, **self.banking_names.get(config.digest, {})}

    def add(self, config: RetrievalConfig, program: Program, name: str, seen: Seen) -> None:
        """A program was asked."""
        key, normal = config.digest, normal_hash(program.source)
        if uses_bank(program):
            self.banking.setdefault(key, {})[program.digest] = seen
            self.banking_names.setdefault(key, {}).setdefault(normal, name)
        else:
            self.plain[program.digest] = seen
            self.names.setdefault(normal, name)

    def refused(self, config: RetrievalConfig, names: Mapping[str, str], number: int) -> None:
        """Every candidate of a pass, by normalised hash. One that did not join is no news as long
        as the configuration is the same."""
        here = self.banking_names.setdefault(config.digest, {})
        for normal, name in names.items():
            if normal not in self.names:
                here.setdefault(normal, name if "/" in name else named(number, Arm.STRUCTURE, name))


class StructurePass:
    """Searches for programs from the seeds and the genome's own, later from the best of its last
    pass; the configuration stays as it is."""

    def __init__(self, tools: TurnTools) -> None:
        self._tools = tools
        self._known = Known()
        self._kept: tuple[tuple[str, Program], ...] = ()

    def blocked(self, genome: Genome) -> str:
        """Programs give no ranking."""
        del genome
        metric = self._tools.bench.metric
        return f"programs give text and no ranking for {metric}" if is_ranking(metric) else ""

    def cost(self, parent: Judged) -> int:
        """The seeds that were not asked before, one look at a parent, one child."""
        tools, known = self._tools, self._known.under(parent.genome.config)
        own = parent.genome.program
        unknown = [
            program
            for _, program in self._seeds(parent.genome)
            if program.digest not in known and (own is None or program.digest != own.digest)
        ]
        judged = len(tools.data.select)
        child = tools.plan.program.questions_of_a_child(judged)
        return judged * len(unknown) + tools.rotating + child

    def take(self, number: int, parent: Judged, part: RunFolder) -> Judged:
        """One search; its best program under the genome's configuration."""
        genome = parent.genome
        if genome.program is not None:
            seen = Seen(parent.cases, Observed())
            self._known.add(genome.config, genome.program, parent.id, seen)
        known = self._known.under(genome.config)
        search = self._search(number, genome, part, known)
        found = search.run()
        self._remember(number, genome.config, search)
        best = found.promoted
        if genome.program is not None and best.program.digest == genome.program.digest:
            return parent
        learning = genome.learning if uses_bank(best.program) else ()
        made = replace(genome, program=best.program, learning=learning)
        return Judged(
            named(number, Arm.STRUCTURE, best.id), number, made, best.score, tuple(best.cases)
        )

    def _search(
        self, number: int, genome: Genome, part: RunFolder, known: MutableMapping[str, Seen]
    ) -> ProgramSearch:
        tools, bench = self._tools, self._tools.bench
        plan = tools.plan.program.changed(iterations=tools.plan.iterations)
        seed = bench.settings.seed + _PASSES * number
        candidates = ProgramCandidates(
            part,
            tools.recorder(part),
            tools.meter,
            tools.evaluator.programs(genome.config),
            known,
        )
        parts = ProgramTools(
            journal=part.journal,
            candidates=candidates,
            meter=tools.meter,
            spending=tools.spending,
            sampler=Sampler(tools.data, bench.embedder, None, seed),
            workshop=Workshop(
                drafter_of(bench, plan, tools.runtime),
                gates_of(tools.runtime),
                plan.repairs,
                plan.parents * plan.children,
            ),
            gate=PairedGuard(supported=False),
            interrupt=bench.interrupt,
            report=lambda _, score, __: tools.report(score),
        )
        return ProgramSearch(
            parts,
            plan,
            self._seeds(genome),
            bench.metric,
            seed,
            len(tools.data.select),
            tools.rotating,
            self._known.names_under(genome.config),
        )

    def _seeds(self, genome: Genome) -> list[tuple[str, Program]]:
        """The genome's own program first; the usual seeds, or the best of the last pass with the
        seed that the configuration is for."""
        usual = seeds_of(self._tools.plan.program, llm="toolkit" in self._tools.bench.roles)
        bank = [(name, program) for name, program in usual if name == BANK_SEED]
        named_ = [*self._kept, *bank] if self._kept else list(usual)
        if genome.program is not None:
            named_.insert(0, ("the genome's", genome.program))
        first: dict[str, tuple[str, Program]] = {}
        for name, program in named_:
            first.setdefault(program.digest, (name, program))
        return list(first.values())

    def _remember(self, number: int, config: RetrievalConfig, search: ProgramSearch) -> None:
        """What the next turns need not ask again, and where they begin."""
        members = search.members
        for member in members:
            name = named(number, Arm.STRUCTURE, member.id)
            self._known.add(config, member.program, name, Seen(member.cases, Observed()))
        self._known.refused(config, search.known, number)
        ranked = sorted(members, key=lambda member: -member.score)[: self._tools.plan.kept]
        self._kept = tuple((member.title or member.id, member.program) for member in ranked)


def gates_of(runtime: ProgramRuntime) -> Callable[[str], tuple[Finding, ...]]:
    """Every gate on one program's text."""

    def gates(source: str) -> tuple[Finding, ...]:
        return check(Program(source), runtime)

    return gates
