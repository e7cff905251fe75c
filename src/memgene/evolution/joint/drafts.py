"""One new program at a time, for a step that changes other parts too."""

from __future__ import annotations

from contextlib import closing

from memgene.evolution.joint.judged import Judged
from memgene.evolution.joint.structure import BANK_SEED, gates_of
from memgene.evolution.joint.turn import TurnTools
from memgene.evolution.programs.candidates import ProgramCandidates
from memgene.evolution.programs.drafters import drafter_of
from memgene.evolution.programs.drafting import Draft, DraftTask, Workshop
from memgene.evolution.programs.lineage import Lineage
from memgene.evolution.programs.pool import Member
from memgene.evolution.programs.sampling import Sampler
from memgene.evolution.rundir import RunFolder
from memgene.programs.normal import normal_hash
from memgene.programs.program import Program
from memgene.programs.seeds import seed as seed_program

_SEEDS = 100_003


class ProgramSteps:
    """Drafts children of a pass's best program, looked at on fresh dev questions each."""

    def __init__(self, tools: TurnTools, part: RunFolder, seed: int) -> None:
        self._tools = tools
        self._part = part
        self._seed = seed
        self._sampler = Sampler(tools.data, tools.bench.embedder, None, seed)
        plan = tools.plan.program
        drafter = drafter_of(tools.bench, plan, tools.runtime)
        self._workshop = Workshop(drafter, gates_of(tools.runtime), plan.repairs, 1)
        self._known: dict[str, str] = {}

    def child(self, step: int, name: str, best: Judged) -> Program | None:
        """A child of the best genome's program (of the seed over the bank where it has none);
        the parent's own where no draft passes the gates."""
        genome = best.genome
        program = genome.program or seed_program(BANK_SEED)
        tools = self._tools
        candidates = ProgramCandidates(
            self._part,
            tools.recorder(self._part),
            tools.meter,
            tools.evaluator.programs(genome.config),
        )
        key = f"{step:03d}-0"
        sample = self._sampler.rotating(tools.rotating, key)
        seen = candidates.evaluate(f"rotating/{key}", "dev", program, sample)
        parent = Member(best.id, program, best.score, None, step, "", cases=tuple(best.cases))
        self._known.setdefault(normal_hash(program.source), best.id)
        task = DraftTask(
            iteration=step,
            place=0,
            seed=self._seed * _SEEDS + step * 101,
            parent=parent,
            cases=seen.cases,
            observed=seen.observed,
            lineage=Lineage(),
            references=(),
            known=self._known,
        )
        draft = self._draft(step, name, task, candidates)
        if draft.refused:
            return genome.program
        self._known.setdefault(normal_hash(draft.source), name)
        return Program(draft.source)

    def _draft(self, step: int, name: str, task: DraftTask, candidates: ProgramCandidates) -> Draft:
        recorded = candidates.recorded(name)
        if recorded is not None:
            candidates.count(recorded[0])
            return recorded[1]
        with self._tools.spending.work() as work, closing(self._workshop.make([task])) as made:
            draft = next(iter(made))
        by = self._workshop.drafter
        candidates.keep(step, name, task.parent, by, draft, work.seconds)
        return draft
