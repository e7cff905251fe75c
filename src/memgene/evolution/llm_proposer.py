"""The proposer that asks a language model, and the journal that remembers what it said."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memgene.evolution.budget import BudgetMeter
from memgene.evolution.changes import Change, change, settings_of
from memgene.evolution.consulting import Consultant, Consultation
from memgene.evolution.diagnosis import Diagnosis
from memgene.evolution.events import Advised
from memgene.evolution.proposers import Attempt, Proposal, Proposer
from memgene.evolution.rundir import RunFolder
from memgene.evolution.spending import Spending
from memgene.retrieval.config import RetrievalConfig

FILE = "diagnosis.md"
_SHORT = 60


class LLMProposer:
    """Tries what a model proposes; where nothing of it can be tried, what `fallback` proposes.

    A model need not say the same twice, so each round's answer is asked for once and recorded:
    what will be tried in the journal, prompts and replies in the folder of the round's candidate.
    """

    name = "llm"

    def __init__(
        self,
        consultant: Consultant,
        fallback: Proposer,
        run: RunFolder,
        meter: BudgetMeter,
        spending: Spending,
    ) -> None:
        self._consultant = consultant
        self._fallback = fallback
        self._run = run
        self._meter = meter
        self._spending = spending

    def propose(
        self,
        diagnosis: Diagnosis,
        incumbent: RetrievalConfig,
        history: Sequence[Attempt],
        rng: random.Random,
    ) -> Proposal | None:
        """What the model advised in this round, else the fallback's proposal, which says so."""
        number = len(history) + 1
        seed = rng.randrange(1 << 31)
        advised = self._run.journal.peek(Advised, round=number)
        if advised is None:
            advised = self._ask(number, diagnosis, incumbent, history, seed)
        self._run.journal.emit(advised)
        self._meter.add_work(advised.usage, advised.seconds)
        if advised.changes:
            return Proposal(tuple(_change(incumbent, c) for c in advised.changes), advised.reason)
        found = self._fallback.propose(diagnosis, incumbent, history, rng)
        if found is None:
            return None
        return replace(
            found,
            by=f"{self._fallback.name} (llm: {_cut(advised.unusable)})",
            reason=f"{found.reason}. The model's diagnosis was of no use: {advised.unusable}",
        )

    def _ask(
        self,
        number: int,
        diagnosis: Diagnosis,
        incumbent: RetrievalConfig,
        history: Sequence[Attempt],
        seed: int,
    ) -> Advised:
        """Ask, and write down what was said; the event that vouches for it follows."""
        with self._spending.work() as work:
            found = self._consultant.consult(diagnosis, incumbent, history, seed)
        self._run.save_files(f"{number:03d}", {FILE: self._page(number, found)})
        advice = found.advice
        return Advised(
            round=number,
            model=self._consultant.model,
            changes=tuple(_plain(each) for each in found.changes),
            reason="; ".join(found.reasons),
            causes=advice.causes.model_dump() if advice else {},
            missing=advice.missing_topics if advice else (),
            next=advice.next if advice else "",
            problems=found.problems,
            unusable=found.unusable,
            exchange=found.exchange,
            usage=work.usage,
            seconds=work.seconds,
        )

    def _page(self, number: int, found: Consultation) -> str:
        lines = [f"# Diagnosis of round {number} by {self._consultant.model}", ""]
        wanted = settings_of(found.changes)
        lines += [f"- to try: {name} = {json.dumps(value)}" for name, value in wanted.items()]
        lines += [f"- cannot be tried: {problem}" for problem in found.problems]
        if found.unusable:
            lines.append(f"- of no use: {found.unusable}")
        return "\n".join(lines) + "\n\n" + found.transcript


def _plain(made: Change) -> dict[str, Any]:
    values = {"lever": made.lever, "value": made.value}
    return values if made.question_type is None else {**values, "question_type": made.question_type}


def _change(config: RetrievalConfig, values: Mapping[str, Any]) -> Change:
    return change(config, values["lever"], values["value"], values.get("question_type"))


def _cut(text: str) -> str:
    return text if len(text) <= _SHORT else text[: _SHORT - 1].rstrip() + "…"
