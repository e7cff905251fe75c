"""The drafter that asks a language model: what a reflection is told, and what comes of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from memgene.core import ModelError
from memgene.evaluation.case import Case
from memgene.evolution.programs.drafting import Draft, DraftTask
from memgene.evolution.programs.lineage import Record
from memgene.evolution.programs.plan import ProgramPlan
from memgene.evolution.reflection.choosing import choose_cases
from memgene.evolution.reflection.material import (
    LineageEntry,
    Material,
    Reference,
    ShownCase,
    ShownViolation,
    ShownWrite,
    ToolkitNotes,
)
from memgene.evolution.reflection.prompt import PromptTooLongError
from memgene.evolution.reflection.reflector import NoProposalError, Proposal, Reflector
from memgene.evolution.scoring import value
from memgene.llm.protocol import ChatMessage
from memgene.tasks.metrics import get_metric


class ReflectiveDrafter:
    """Shows a model a program and how it fails, and takes the change that it proposes (M* §6).

    Args:
        reflector: asks the model.
        plan: how many cases it is shown and what it may change.
        metric: what the score is.
        toolkit: what programs may use in this run.
        hints: what the task says about its questions.
    """

    def __init__(
        self,
        reflector: Reflector,
        plan: ProgramPlan,
        metric: str,
        toolkit: ToolkitNotes,
        hints: str = "",
    ) -> None:
        self._reflector = reflector
        self._plan = plan
        self._metric = metric
        self._toolkit = toolkit
        self._hints = hints

    @property
    def name(self) -> str:
        """`llm:` and the model."""
        return f"llm:{self._reflector.model}"

    def draft(self, task: DraftTask) -> Draft:
        """A change of the parent, or why there is none."""
        material = self._material(task)
        return self._told(
            material.source, lambda: self._reflector.propose(material, seed=task.seed)
        )

    def repair(self, task: DraftTask, broken: Draft, findings: str, tries: int) -> Draft:
        """The draft mended by what was found."""
        return self._told(
            broken.source,
            lambda: self._reflector.repair(
                broken.source,
                findings,
                tries,
                toolkit=self._toolkit,
                scope=self._plan.scope,
                original=task.parent.program.source,
                seed=task.seed,
            ),
        )

    def _told(self, source: str, ask: Callable[[], Proposal]) -> Draft:
        """A proposal as a draft. No usable reply costs the iteration, no more."""
        try:
            made = ask()
        except NoProposalError as error:
            return Draft(
                source,
                "no usable change",
                transcript=transcript(error.exchange),
                attempts=error.attempts,
                refused=error.reason,
            )
        except ModelError as error:
            return Draft(source, "no reply", refused=f"the model gave no reply: {error}")
        except PromptTooLongError as error:
            return Draft(source, "not asked", refused=str(error))
        return Draft(made.source, made.title, made.body, transcript(made.exchange), made.attempts)

    def _material(self, task: DraftTask) -> Material:
        rng = random.Random(f"{task.seed}:cases")
        shown = [s for case in task.cases if (s := self._shown(case)) is not None]
        chosen = choose_cases(
            shown, rng, failing=self._plan.failing, successes=self._plan.successes
        )
        parent, observed = task.parent, task.observed
        return Material(
            source=parent.program.source,
            id=parent.id,
            iteration=task.iteration,
            score=parent.score,
            metric=self._metric,
            metric_about=get_metric(self._metric).description,
            lineage=tuple(_entry(record) for record in task.lineage.around(parent.id)),
            # one tells how items are made; more only make the prompt longer
            writes=tuple(ShownWrite(w.raw_text, w.item) for w in observed.writes[:1]),
            logs=observed.logs,
            successes=chosen.successes,
            failing=chosen.failing,
            violations=tuple(
                ShownViolation(b.where, b.message, b.detail, b.times) for b in observed.broken
            ),
            references=tuple(
                Reference(m.id, m.score, m.program.source, m.score > parent.score)
                for m in task.references
            ),
            toolkit=self._toolkit,
            hints=self._hints,
            scope=self._plan.scope,
        )

    def _shown(self, case: Case) -> ShownCase | None:
        """A dev case as it went; None where the metric does not apply or a call failed."""
        score = value(case, self._metric)
        if score is None:
            return None
        query = "\n".join(f"{name}: {said}" for name, said in case.query.items())
        turns = (("query", query), ("memory", case.context), ("answer", case.answer))
        return ShownCase(case.question, case.gold, case.answer, score, turns, case.failure)


def transcript(exchange: Sequence[ChatMessage]) -> str:
    """A conversation as Markdown."""
    parts = []
    for message in exchange:
        fence = "~~~~"
        while fence in message.content:
            fence += "~"
        parts.append(f"## {message.role}\n\n{fence}\n{message.content}\n{fence}\n")
    # what a model writes may hold half a character, which no file can
    return "\n".join(parts).encode("utf-8", "replace").decode()


def _entry(record: Record) -> LineageEntry:
    return LineageEntry(
        id=record.id,
        parent=record.parent,
        title=record.title,
        message=record.message,
        score=record.score,
        delta=record.delta,
        kind="seed" if record.parent is None else "child",
        regressed=record.regressed,
        refused=record.refused,
    )
