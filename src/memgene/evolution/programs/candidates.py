"""Candidates of a program search: written down and evaluated, each exactly once."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass

from memgene.core import BudgetExhaustedError, RunError
from memgene.evaluation.case import Case
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.events import Evaluated
from memgene.evolution.programs.drafting import Draft
from memgene.evolution.programs.evaluating import ProgramEvaluator
from memgene.evolution.programs.events import Drafted
from memgene.evolution.programs.observed import Observed
from memgene.evolution.programs.patch import patch_of
from memgene.evolution.programs.pool import Member
from memgene.evolution.programs.sampling import Sample
from memgene.evolution.recorder import Recorder
from memgene.evolution.rundir import CASES, RunFolder
from memgene.programs.normal import normal_hash
from memgene.programs.program import Program

PROGRAM = "program.py"
TRANSCRIPT = "reflection.md"
GATE, GATE_CASES = "gate", "gate.jsonl"
STATIC = "static"


@dataclass(frozen=True, slots=True)
class Seen:
    """Recorded cases of one evaluation, and what else was seen."""

    cases: Sequence[Case]
    observed: Observed


class ProgramCandidates:
    """Files, events and cases of the candidates of one run.

    `known` are programs, by digest, with what was seen of them on the static questions by earlier
    searches in the same run: they are not asked again. Those of this one join them.
    """

    def __init__(
        self,
        run: RunFolder,
        recorder: Recorder,
        meter: BudgetMeter,
        evaluator: ProgramEvaluator,
        known: MutableMapping[str, Seen] | None = None,
    ) -> None:
        self._known = {} if known is None else known
        self._run = run
        self._recorder = recorder
        self._meter = meter
        self._evaluator = evaluator

    def knows(self, program: Program) -> bool:
        """Whether it was asked the static questions before."""
        return program.digest in self._known

    def recorded(self, name: str) -> tuple[Drafted, Draft] | None:
        """The draft that the journal holds next for this candidate, None when it is to be made."""
        event = self._run.journal.peek(Drafted, candidate=name)
        if event is None:
            return None
        source = "" if not event.digest else self.source(name)
        if event.digest and Program(source).digest != event.digest:
            raise RunError(
                f"{self._run.folder_of(name) / PROGRAM} is not what the journal recorded; "
                "start a new run folder"
            )
        draft = Draft(
            source, event.title, event.message, attempts=event.attempts, refused=event.refused
        )
        return event, draft

    def source(self, name: str) -> str:
        """The program of a candidate as it is kept."""
        return self._kept(name, PROGRAM)

    def keep(
        self,
        iteration: int,
        name: str,
        parent: Member | None,
        by: str,
        draft: Draft,
        seconds: float,
    ) -> Drafted:
        """Write a draft's files, then the event that vouches for them."""
        origin = parent.id if parent else ""
        files = {"message.md": _message(name, origin, by, draft)}
        if draft.source:
            files[PROGRAM] = draft.source
            if parent is not None:
                files["patch.diff"] = patch_of(parent.id, parent.program.source, name, draft.source)
        if draft.transcript:
            files[TRANSCRIPT] = draft.transcript
        self._run.save_files(name, files)
        return self.count(
            Drafted(
                iteration=iteration,
                candidate=name,
                parent=origin,
                proposer=by,
                title=draft.title,
                message=draft.message,
                digest=Program(draft.source).digest if draft.source else "",
                normal=normal_hash(draft.source) if draft.source else "",
                attempts=draft.attempts,
                refused=draft.refused,
                exchange=draft.exchange,
                usage=draft.usage,
                seconds=seconds,
            )
        )

    def count(self, event: Drafted) -> Drafted:
        """Emit a draft's event and count what it took."""
        made = self._run.journal.emit(event)
        self._meter.add_work(made.usage, made.seconds)
        return made

    def evaluate(
        self, subject: str, split: str, program: Program, sample: Sample, *, limited: bool = True
    ) -> Seen:
        """Cases of a program on a sample, from the record where it is there.

        Raises BudgetExhaustedError where a `limited` evaluation would need more questions than
        the budget leaves.
        """
        digest = program.digest
        if split == STATIC and digest in self._known:
            return self._known[digest]
        beside = f"{split}.json"
        if limited and self._run.journal.peek(Evaluated, candidate=subject, split=split) is None:
            blocked = self._meter.blocks(len(sample.questions))
            if blocked is not None:
                raise BudgetExhaustedError(blocked)

        # The static questions hold those of the gate: in one file the later answers would take
        # the place of those that the gate has judged by.
        file = GATE_CASES if split == GATE else CASES
        fresh: list[Observed] = []

        def work() -> Sequence[Case]:
            found = self._evaluator.evaluate(program, sample, f"{subject} {split}")
            self._run.save_files(subject, {beside: found.observed.to_json()})
            if file != CASES:
                self._run.save_cases(subject, found.cases)
            fresh.append(found.observed)
            return found.cases

        cases = self._recorder.cases(
            subject, split, sample.questions, work, limited=limited, file=file
        )
        observed = fresh[0] if fresh else Observed.from_json(self._kept(subject, beside))
        seen = Seen(cases, observed)
        if split == STATIC:
            self._known[digest] = seen
        return seen

    def _kept(self, subject: str, file: str) -> str:
        path = self._run.folder_of(subject) / file
        try:
            return path.read_bytes().decode("utf-8")  # its line ends as they are
        except FileNotFoundError:
            raise RunError(f"{path} is gone, though the journal names it") from None


def _message(name: str, origin: str, by: str, draft: Draft) -> str:
    head = f"# Candidate {name}\n\nFrom {origin or 'nothing'}, by {by}: {draft.title}\n"
    body = f"\n{draft.message.strip()}\n" if draft.message.strip() else ""
    refused = f"\nRefused: {draft.refused}\n" if draft.refused else ""
    return head + body + refused
