"""Strategy `config`: evolve the retrieval configuration.

Source: EvolveMem §4. Each round: evaluate the current configuration on dev, diagnose, propose,
(refit learned weights), evaluate on val, guard. Every decision depends on the seed, the data and
recorded scores alone, so a run that is repeated or resumed decides the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memgene.core import BudgetExhaustedError, InputError
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.candidates import Candidate, Candidates
from memgene.evolution.diagnosis import Cause, Diagnosis, diagnose, is_ranking
from memgene.evolution.events import (
    Accepted,
    Diagnosed,
    Explored,
    Interrupted,
    Rejected,
    Reverted,
    RoundFinished,
    Stopped,
)
from memgene.evolution.guard import EPSILON, REVERT_DROP, Guard, Verdict
from memgene.evolution.interrupt import Interruptible, RunInterruptedError
from memgene.evolution.journal import Journal
from memgene.evolution.preset import Preset
from memgene.evolution.promoting import promote
from memgene.evolution.proposers import Attempt, Proposal, Proposer
from memgene.evolution.scoring import evidence_pairs, paired
from memgene.evolution.sealed import DevVal
from memgene.retrieval.config import RetrievalConfig

_STEP = 10_007  # spreads the seeds of bootstraps


def _silent(round: int, score: float | None, best: float | None) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True)
class SearchTools:
    """What a search works with. `report(round, score, best)` is called as it goes on."""

    journal: Journal
    candidates: Candidates
    meter: BudgetMeter
    proposer: Proposer
    explorer: Proposer
    guard: Guard
    interrupt: Interruptible
    report: Callable[[int, float | None, float | None], None] = _silent


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """What a search yields: the promoted candidate, the start, and how far it went.

    `lineage` are the candidates that were best in turn, the start first; `parent` is the one the
    promoted candidate replaced (None for the start).
    """

    promoted: Candidate
    start: Candidate
    lineage: tuple[Candidate, ...]
    rounds: int
    stopped: str

    @property
    def parent(self) -> Candidate | None:
        """Predecessor of the promoted candidate in the lineage."""
        place = self.lineage.index(self.promoted)
        return self.lineage[place - 1] if place else None


def require_a_round(meter: BudgetMeter, data: DevVal) -> None:
    """Raises InputError when the budget does not cover the start, a candidate and the re-check."""
    least = len(data.diagnose) + 2 * len(data.select) + 2 * len(data.fresh)
    blocked = meter.blocks(least)
    if blocked is not None:
        raise InputError(f"the budget does not cover the start and one candidate: {blocked}")


class ConfigSearch:
    """One search over the dev and val questions it is given. Call `run` once.

    It begins with `start` where that is given, else with the preset's start; `history` are
    attempts of earlier searches, which are not made again.
    """

    def __init__(
        self,
        tools: SearchTools,
        data: DevVal,
        preset: Preset,
        metric: str,
        seed: int,
        rounds: int,
        *,
        start: RetrievalConfig | None = None,
        history: Sequence[Attempt] = (),
    ) -> None:
        self._start = start
        self._tools = tools
        self._emit = tools.journal.emit
        self._data = data
        self._preset = preset
        self._metric = metric
        self._seed = seed
        self._limit = rounds
        self._history = list(history)
        self._lineage: list[Candidate] = []
        self._flat = 0
        self._explored = 0
        self._exploring = False

    def run(self) -> SearchOutcome:
        """Search until the rounds, the budget or the ideas run out, then re-check and promote.

        Raises InputError when the budget does not cover a single round, BudgetExhaustedError when
        it ends before the start is evaluated, RunInterruptedError after the round in which a stop
        was asked for.
        """
        self._require_a_round()
        start = self._begun()
        self._current = self._best = start
        self._lineage.append(start)
        self._tools.report(0, start.score, start.score)
        done, stopped = 0, ""
        while not stopped:
            stopped, detail = self._must_stop(done)
            if not stopped:
                stopped, detail = self._try_round(done + 1)
            if stopped:
                self._emit(Stopped(done, stopped, detail))
            else:
                done += 1
                self._stop_if_asked(done)
        cases = self._tools.candidates.cases
        promoted = promote(
            self._lineage,
            self._tools.journal,
            self._metric,
            self._seed * _STEP,
            (lambda found: cases(found.id, found.config, "fresh")) if self._data.fresh else None,
        )
        return SearchOutcome(promoted, start, tuple(self._lineage), done, stopped)

    def _require_a_round(self) -> None:
        """As `require_a_round`, without what earlier searches asked."""
        start = self._preset.start() if self._start is None else self._start
        asked = self._tools.candidates.unasked(start)
        blocked = self._blocked(asked + len(self._data.select))
        if blocked is not None:
            raise InputError(f"the budget does not cover the start and one candidate: {blocked}")

    @property
    def history(self) -> tuple[Attempt, ...]:
        """All attempts so far, those of earlier searches first."""
        return tuple(self._history)

    def _begun(self) -> Candidate:
        if self._start is not None:
            return self._tools.candidates.start(self._start, "where the search begins")
        return self._tools.candidates.start(self._preset.start(), f"preset {self._preset.name}")

    def _must_stop(self, done: int) -> tuple[str, str]:
        """Reason and detail when the search has to end after `done` rounds, else empty."""
        if done >= self._limit:
            return "rounds", f"{self._limit} rounds"
        if self._explored >= self._preset.explorations:
            return "converged", f"{self._flat} rounds without gain, {self._explored} of them random"
        known = self._tools.candidates.has(self._current.config, "dev")
        blocked = self._blocked(len(self._data.select) + (0 if known else len(self._data.diagnose)))
        return ("budget", blocked) if blocked is not None else ("", "")

    def _blocked(self, questions: int) -> str | None:
        """As the meter says, with the questions of the re-check kept in reserve."""
        return self._tools.meter.blocks(questions + 2 * len(self._data.fresh))

    def _try_round(self, number: int) -> tuple[str, str]:
        """A round, or the reason and detail why there was none. What a round has done when the
        budget ends in the middle of it is left: its candidate was not judged."""
        try:
            done = self._round(number)
        except BudgetExhaustedError as error:
            return "budget", str(error)
        return ("", "") if done else ("exhausted", "every proposal was tried")

    def _round(self, number: int) -> bool:
        """One round; False when nothing is left to propose."""
        diagnosis = self._diagnose(number)
        proposal, by = self._proposal(number, diagnosis)
        if proposal is None:
            return False
        candidate = self._tools.candidates.derive(number, self._current, proposal, by)
        pairs = paired(candidate.cases, self._best.cases, self._metric)
        support = None
        if not is_ranking(self._metric):
            support = evidence_pairs(candidate.cases, self._best.cases)
        verdict = self._tools.guard.judge(pairs, self._seed * _STEP + number, support)
        self._history.append(
            Attempt(self._current.config.digest, proposal.changes, verdict.delta, verdict.accepted)
        )
        self._take(number, candidate, verdict)
        self._emit(
            RoundFinished(
                round=number,
                candidate=candidate.id,
                score=candidate.score,
                current=self._current.id,
                best=self._best.id,
                best_score=self._best.score,
                flat_rounds=self._flat,
            )
        )
        self._tools.meter.add_iteration()
        self._tools.report(number, candidate.score, self._best.score)
        return True

    def _diagnose(self, number: int) -> Diagnosis:
        current = self._current
        cases = self._tools.candidates.cases(current.id, current.config, "dev")
        found = diagnose(cases, self._metric)
        self._emit(
            Diagnosed(
                round=number,
                candidate=current.id,
                score=found.mean,
                failing=len(found.failing),
                causes={str(cause): found.causes[cause] for cause in Cause},
                lost={str(cause): found.lost[cause] for cause in Cause},
                weak_types=found.weak_types(),
                abstained=found.abstained,
                worst=tuple(failing.question_id for failing in found.worst),
            )
        )
        return found

    def _proposal(self, number: int, diagnosis: Diagnosis) -> tuple[Proposal | None, str]:
        """A random step when the last rounds were flat (never two in a row), else the proposer's;
        a random step too when the proposer is out of ideas."""
        tools = self._tools
        self._exploring = self._flat >= self._preset.explore_after and not self._exploring
        if not self._exploring:
            found = self._ask(tools.proposer, number, diagnosis)
            if found is not None:
                return found, found.by or tools.proposer.name
            self._exploring = True
        self._emit(Explored(number, self._flat))
        return self._ask(tools.explorer, number, diagnosis), "explore"

    def _ask(self, proposer: Proposer, number: int, diagnosis: Diagnosis) -> Proposal | None:
        generator = random.Random(f"{self._seed}:{proposer.name}:{number}")
        config = self._current.config
        return proposer.propose(diagnosis, config, tuple(self._history), generator)

    def _take(self, number: int, candidate: Candidate, verdict: Verdict) -> None:
        """Apply a verdict: new best, current configuration, flat rounds."""
        kind = Accepted if verdict.accepted else Rejected
        self._emit(
            kind(
                round=number,
                candidate=candidate.id,
                score=candidate.score,
                delta=verdict.delta,
                probability=verdict.probability,
                reason=verdict.reason,
            )
        )
        if verdict.accepted:
            self._best = candidate
            self._lineage.append(candidate)
        if verdict.accepted or self._preset.follow:
            self._current = candidate
        drop = self._best.score - self._current.score
        if drop > REVERT_DROP:
            self._emit(Reverted(number, self._current.id, self._best.id, drop))
            self._current = self._best
        # best-so-far accepts any gain, but only one of ε is progress
        if verdict.accepted and (verdict.delta >= EPSILON or not self._preset.follow):
            self._flat = self._explored = 0
        else:
            self._flat += 1
            self._explored += self._exploring

    def _stop_if_asked(self, done: int) -> None:
        if self._tools.interrupt.requested:
            self._emit(Interrupted(done))
            raise RunInterruptedError(
                f"stopped after round {done} as asked (best so far {self._best.id}, "
                f"{self._metric} {self._best.score:.4f} on val); --resume continues the run",
                done,
            )
