"""Candidates of a configuration search: made, written down and evaluated, each exactly once."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from memgene.core import InputError, LabelledQuestion
from memgene.evaluation.case import Case
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.changes import LEARNED, apply, settings_of, wants_fit
from memgene.evolution.events import Proposed
from memgene.evolution.proposers import Proposal
from memgene.evolution.recorder import Evaluator, Recorder
from memgene.evolution.rundir import RunFolder, UsageByRole
from memgene.evolution.scoring import mean
from memgene.evolution.sealed import DevVal
from memgene.evolution.spending import Spending
from memgene.genome.parts import config_files
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.ranker import Ranker

_GENOME = "retrieval.toml"


class Learner(Protocol):
    """Fits the weights of the learned fusion. Deterministic."""

    def __call__(self, config: RetrievalConfig, questions: Sequence[LabelledQuestion]) -> Ranker:
        """Weights for the candidates and features that `config` yields, fitted on questions."""
        ...


Known: TypeAlias = MutableMapping[tuple[str, str], Sequence[Case]]
"""Cases by a configuration's digest and the split."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A configuration with its score and cases on the selection part of val."""

    id: str
    config: RetrievalConfig
    score: float
    cases: Sequence[Case] = field(repr=False)


class Candidates:
    """Makes the candidates of one run over the questions an evolver may see.

    `known` are cases of earlier searches in the same run, which are not made again; those of this
    one join them.
    """

    def __init__(
        self,
        run: RunFolder,
        recorder: Recorder,
        meter: BudgetMeter,
        spending: Spending,
        evaluator: Evaluator,
        learner: Learner,
        data: DevVal,
        metric: str,
        known: Known | None = None,
    ) -> None:
        self._known = {} if known is None else known
        self._run = run
        self._recorder = recorder
        self._meter = meter
        self._spending = spending
        self._evaluator = evaluator
        self._learner = learner
        self._metric = metric
        self._learn_on = data.dev
        self._questions = {"dev": data.diagnose, "val": data.select, "fresh": data.fresh}
        self._cases: dict[tuple[str, str], Sequence[Case]] = {}
        self._made = 0

    def start(self, config: RetrievalConfig, reason: str) -> Candidate:
        """Candidate 000."""
        self._record(0, "000", None, "start", {}, reason, config, {}, 0.0)
        return self._evaluated("000", config)

    def derive(self, number: int, parent: Candidate, proposal: Proposal, by: str) -> Candidate:
        """Apply a round's proposal, fit weights on dev if it needs any, and evaluate on val."""
        name, config = self.changed(number, parent, proposal, by)
        return self._evaluated(name, config)

    def changed(
        self, number: int, parent: Candidate, proposal: Proposal, by: str
    ) -> tuple[str, RetrievalConfig]:
        """Name and configuration of a proposal, weights fitted on dev if it needs any."""
        self._made += 1
        name = f"{self._made:03d}"
        config = apply(parent.config, proposal.changes)
        usage: UsageByRole = {}
        seconds = 0.0
        if wants_fit(parent.config, proposal.changes):
            if self._run.journal.peek(Proposed, candidate=name) is not None:
                config = self._run.load_config(name)
            else:
                with self._spending.work() as spent:
                    ranker = self._learner(config, self._learn_on)
                config = config.changed(fusion=LEARNED, ranker=ranker)
                usage, seconds = spent.usage, spent.seconds
        elif config.fusion != LEARNED:
            config = config.changed(ranker=None)
        settings = settings_of(proposal.changes)
        made = self._record(
            number, name, parent, by, settings, proposal.reason, config, usage, seconds
        )
        self._meter.add_work(made.usage, made.seconds)
        return name, config

    def cases(self, name: str, config: RetrievalConfig, split: str) -> Sequence[Case]:
        """Cases of a candidate on `dev` (its part for diagnosis), `val` (its selection part) or
        `fresh`."""
        key = config.digest, split
        if (name, split) not in self._cases and key in self._known:
            self._cases[name, split] = self._known[key]
        if (name, split) not in self._cases:
            questions = self._questions[split]
            self._cases[name, split] = self._recorder.cases(
                name,
                split,
                questions,
                lambda: self._evaluator.evaluate(config, questions, f"{name} {split}"),
                limited=split != "fresh",
            )
            self._known[key] = self._cases[name, split]
        return self._cases[name, split]

    def unasked(self, config: RetrievalConfig) -> int:
        """Questions that a configuration was not asked yet, for diagnosis and selection."""
        splits = ("dev", "val")
        return sum(
            len(self._questions[split])
            for split in splits
            if (config.digest, split) not in self._known
        )

    def has(self, config: RetrievalConfig, split: str) -> bool:
        """Whether the configuration was evaluated on the split, in this search or an earlier one
        of the run."""
        return (config.digest, split) in self._known

    def _evaluated(self, name: str, config: RetrievalConfig) -> Candidate:
        cases = self.cases(name, config, "val")
        score = mean(cases, self._metric)
        if score is None:
            raise InputError(
                f"metric {self._metric} applies to none of the val questions; choose another"
            )
        return Candidate(name, config, score, cases)

    def _record(
        self,
        number: int,
        name: str,
        parent: Candidate | None,
        by: str,
        settings: Mapping[str, Any],
        reason: str,
        config: RetrievalConfig,
        usage: UsageByRole,
        seconds: float,
    ) -> Proposed:
        """Write a candidate's files, then the event that vouches for them."""
        origin = parent.id if parent else ""
        if self._run.journal.peek(Proposed, candidate=name) is None:
            message = f"# Candidate {name}\n\nFrom {origin or 'nothing'}, by {by}: {reason}\n"
            message += "".join(f"\n- {lever} = {value!r}" for lever, value in settings.items())
            files: dict[str, str | bytes] = {**config_files(config)}
            files["message.md"] = message.rstrip() + "\n"
            if parent is not None:
                files["patch.diff"] = _patch(parent, name, config)
            self._run.save_files(name, files)
        learned = config.ranker if config.fusion == LEARNED else None
        return self._run.journal.emit(
            Proposed(
                round=number,
                candidate=name,
                parent=origin,
                proposer=by,
                changes=settings,
                reason=reason,
                digest=config.digest,
                target=learned.target if learned else "",
                fitted_on=learned.questions if learned else 0,
                usage=usage,
                seconds=seconds,
            )
        )


def _patch(parent: Candidate, name: str, config: RetrievalConfig) -> str:
    """Unified difference of the genome's texts (configuration, stages) against the parent's."""
    before, after = _texts(parent.config), _texts(config)
    return "".join(
        line
        for file in sorted({*before, *after}, key=lambda file: (file != _GENOME, file))
        for line in difflib.unified_diff(
            before.get(file, []), after.get(file, []), f"{parent.id}/{file}", f"{name}/{file}"
        )
    )


def _texts(config: RetrievalConfig) -> dict[str, list[str]]:
    """Lines of the files that are text."""
    return {
        file: content.decode().splitlines(keepends=True)
        for file, content in config_files(config).items()
        if file.endswith((".toml", ".py"))
    }
