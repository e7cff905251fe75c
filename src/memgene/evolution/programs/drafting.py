"""Drafts of new programs: written by a drafter, passed through the gates, mended where they can be.

Nothing here is recorded; drafts of one iteration are made side by side and told apart by their
place alone, so that the search can commit them in a fixed order.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol

from memgene.core import content_hash, metering
from memgene.evaluation.case import Case
from memgene.evaluation.report import usage_json
from memgene.evolution.programs.lineage import Lineage
from memgene.evolution.programs.observed import Observed
from memgene.evolution.programs.pool import Member
from memgene.evolution.rundir import UsageByRole
from memgene.programs.gates.finding import Finding


@dataclass(frozen=True, slots=True)
class DraftTask:
    """What a drafter works from: a parent, how it did on dev questions, and what is known of its
    line. `place` counts the drafts of an iteration from 0, `seed` differs for each draft of a run.
    `references` are other programs of the pool, the most instructive first; `known` are the
    candidates so far by their normalised hash."""

    iteration: int
    place: int
    seed: int
    parent: Member
    cases: Sequence[Case]
    observed: Observed
    lineage: Lineage
    references: tuple[Member, ...]
    known: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Draft:
    """A program as it was written, or why there is none (`refused`). `transcript` is what was said
    to get it, as Markdown; `attempts` counts the drafts until this one."""

    source: str
    title: str = ""
    message: str = ""
    transcript: str = ""
    attempts: int = 1
    refused: str = ""
    usage: UsageByRole = field(default_factory=dict)

    @property
    def exchange(self) -> str:
        """A hash of what was said; empty where nothing was."""
        return content_hash(self.transcript)[:16] if self.transcript else ""


class Drafter(Protocol):
    """Writes programs. Thread-safe; depends on nothing but what it is given."""

    @property
    def name(self) -> str:
        """As journals name it."""
        ...

    def draft(self, task: DraftTask) -> Draft:
        """A changed program; `refused` is set where none came about."""
        ...

    def repair(self, task: DraftTask, broken: Draft, findings: str, tries: int) -> Draft | None:
        """The program mended by what a gate or a run found, in at most `tries` calls; None where
        this drafter cannot mend."""
        ...


Gates = Callable[[str], tuple[Finding, ...]]


class Workshop:
    """Makes drafts that pass the gates. `repairs` is k of M* §7."""

    def __init__(self, drafter: Drafter, gates: Gates, repairs: int, threads: int) -> None:
        self._drafter = drafter
        self._gates = gates
        self._repairs = repairs
        self._threads = threads

    @property
    def drafter(self) -> str:
        """The drafter's name."""
        return self._drafter.name

    def inspected(self, draft: Draft) -> Draft:
        """A program as it stands, refused where the gates find something."""
        findings = self._gates(draft.source)
        return replace(draft, refused=_refusal(findings)) if findings else draft

    def make(self, tasks: Sequence[DraftTask]) -> Generator[Draft, None, None]:
        """One draft a task, in order, made side by side; each is given as soon as it and those
        before it are there, so that it can be kept whatever becomes of the others."""
        if len(tasks) < 2 or self._threads < 2:
            yield from map(self._metered, tasks)
            return
        pool = ThreadPoolExecutor(min(self._threads, len(tasks)))
        try:
            # each thread gets its own copy of the open meters: usage reaches them all the same
            contexts = [contextvars.copy_context() for _ in tasks]
            jobs = [
                pool.submit(context.run, self._metered, task)
                for context, task in zip(contexts, tasks, strict=True)
            ]
            for job in jobs:
                yield job.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def mend(self, task: DraftTask, broken: Draft, findings: str) -> Draft:
        """A draft mended by what went wrong at work; `refused` where that was of no use."""
        with metering() as meter:
            mended = self._drafter.repair(task, broken, findings, self._repairs)
            if mended is None:
                made = replace(broken, refused="it broke at work and cannot be mended")
            else:
                made = self._through_gates(task, mended)
        return replace(made, title=broken.title or made.title, usage=usage_json(meter.usage))

    def _metered(self, task: DraftTask) -> Draft:
        with metering() as meter:
            made = self._drafter.draft(task)
            if not made.refused:
                made = self._through_gates(task, made)
        return replace(made, usage=usage_json(meter.usage))

    def _through_gates(self, task: DraftTask, draft: Draft) -> Draft:
        """The draft, mended until the gates let it pass or the tries are used up."""
        left = self._repairs
        while findings := self._gates(draft.source):
            told = "\n\n".join(map(str, findings))
            mended = None
            if left > 0:
                mended = self._drafter.repair(task, draft, told, left)
            if mended is None:
                return replace(draft, refused=_refusal(findings))
            left -= mended.attempts
            mended = replace(
                mended,
                attempts=draft.attempts + mended.attempts,
                transcript=draft.transcript + mended.transcript,
                title=draft.title or mended.title,
                message=draft.message or mended.message,
            )
            if mended.refused:
                return mended
            draft = mended
        return draft


def _refusal(findings: Sequence[Finding]) -> str:
    first = str(replace(findings[0], detail=""))
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return f"the gates refuse it: {first}{more}"
