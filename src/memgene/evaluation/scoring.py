"""From what was asked, found and answered to scores. Gold is read here, never passed on."""

from __future__ import annotations

from collections.abc import Sequence, Set

from memgene.core import Answer, Context, InputError, LabelledQuestion
from memgene.tasks.metrics import Needs, Scored, evidence_index, evidence_texts, get_metric
from memgene.tasks.metrics.registry import score_all
from memgene.tasks.task import Task

IN_TEXT = "evidence_in_text"


class Scorer:
    """Scores questions of one task by the named metrics. Stateless once made, thread-safe.

    Where a metric on rankings is asked for, memories that do not rank get `evidence_in_text`.
    `needs_answers` is False when every metric looks at rankings or contexts alone.
    """

    def __init__(self, task: Task, metrics: Sequence[str]) -> None:
        if not metrics:
            raise InputError("an evaluation needs at least one metric")
        self._metrics = {name: get_metric(name) for name in metrics}
        if any(metric.needs is Needs.RANKING for metric in self._metrics.values()):
            self._metrics.setdefault(IN_TEXT, get_metric(IN_TEXT))
        self.needs_answers = any(m.needs is Needs.ANSWER for m in self._metrics.values())
        self._texts = evidence_index(task)
        self._episode_of = {
            message.id: episode.id
            for episode in task.episodes
            for message in episode.messages
            if message.id is not None
        }

    def scores(
        self, labelled: LabelledQuestion, context: Context, answer: Answer
    ) -> dict[str, float]:
        """Every asked metric that applies, by name."""
        scored = Scored(
            question=labelled.question,
            gold=labelled.gold,
            answer=answer.text,
            abstained=answer.abstained,
            ranking=context.hits,
            context=context.text,
            evidence_texts=self._evidence_texts(labelled) if context.hits is None else (),
        )
        return score_all(scored, self._metrics)

    def held(self, labelled: LabelledQuestion, refs: Set[str]) -> float | None:
        """Share of gold evidence among these ids, None where there is no usable evidence."""
        evidence = usable_evidence(labelled)
        return len(refs & set(evidence)) / len(evidence) if evidence else None

    def pool_evidence(self, labelled: LabelledQuestion, context: Context) -> float | None:
        """Share of gold evidence among the candidates; None for memories that do not rank."""
        if context.hits is None:
            return None
        pool = set(context.pool)
        pool |= {self._episode_of[ref] for ref in context.pool if ref in self._episode_of}
        for hit in context.hits:
            pool |= {hit.id, *hit.refs, *([hit.source] if hit.source else [])}
        return self.held(labelled, pool)

    def _evidence_texts(self, labelled: LabelledQuestion) -> tuple[tuple[str, ...], ...]:
        return evidence_texts(labelled, self._texts) if usable_evidence(labelled) else ()


def usable_evidence(labelled: LabelledQuestion) -> tuple[str, ...]:
    """Unique gold units in order; empty when they cannot be scored."""
    return () if labelled.gold.unusable else tuple(dict.fromkeys(labelled.gold.evidence))
