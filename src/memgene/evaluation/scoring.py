"""From what was asked, found and answered to scores. Gold is read here, never passed on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from memgene.core import Answer, Context, InputError, LabelledQuestion
from memgene.llm.protocol import LLM
from memgene.tasks.judges import JUDGES
from memgene.tasks.metrics import (
    Metric,
    Needs,
    Scored,
    evidence_index,
    evidence_texts,
    get_metric,
)
from memgene.tasks.metrics.registry import JUDGE, judged_by, no_judge, score_all
from memgene.tasks.task import Task

IN_TEXT = "evidence_in_text"
REFERENCE = "token_f1"


@dataclass(frozen=True, slots=True)
class Marks:
    """Every asked metric that applies, by name, and what the judges said, by metric."""

    scores: Mapping[str, float] = field(default_factory=dict)
    judgements: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class Scorer:
    """Scores questions of one task by the named metrics. Stateless once made, thread-safe.

    Where a metric on rankings is asked for, `evidence_in_text` stands beside it for memories that
    do not rank; where a judge's, `token_f1` stands beside it. `needs_answers` is False when every
    metric looks at rankings or contexts alone.

    `judges` are models by name: `judge` scores the judged metrics that are asked for, every other
    one scores them again under `METRIC@NAME`. Raises ConfigError when the judge of a metric is not
    among them.
    """

    def __init__(
        self, task: Task, metrics: Sequence[str], judges: Mapping[str, LLM] | None = None
    ) -> None:
        if not metrics:
            raise InputError("an evaluation needs at least one metric")
        self._judges = dict(judges or {})
        asked = (get_metric(name) for name in metrics)
        self._metrics = {m.name: m for metric in asked for m in self._by_each_judge(metric)}
        needs = {metric.needs for metric in self._metrics.values()}
        if Needs.RANKING in needs:
            self._metrics.setdefault(IN_TEXT, get_metric(IN_TEXT))
        if Needs.JUDGE in needs:
            self._metrics.setdefault(REFERENCE, get_metric(REFERENCE))
        self.needs_answers = bool(needs & {Needs.ANSWER, Needs.JUDGE})
        self._texts = evidence_index(task)
        self._episode_of = {
            message.id: episode.id
            for episode in task.episodes
            for message in episode.messages
            if message.id is not None
        }

    def marks(self, labelled: LabelledQuestion, context: Context, answer: Answer) -> Marks:
        """Scores and judgements. Raises what a judge raises when it gives no verdict."""
        scored = Scored(
            question=labelled.question,
            gold=labelled.gold,
            answer=answer.text,
            abstained=answer.abstained,
            ranking=context.hits,
            context=context.text,
            evidence_texts=self._evidence_texts(labelled),
        )
        judged = {
            metric.name: JUDGES[metric.name.partition("@")[0]](self._judges[judge], scored)
            for metric, judge in self._judged()
            if metric.applies is None or metric.applies(scored)
        }
        known = replace(scored, judged={name: said.score for name, said in judged.items()})
        return Marks(
            score_all(known, self._metrics),
            {name: dict(said.verdict) for name, said in judged.items()},
        )

    def broken(self, labelled: LabelledQuestion) -> Marks:
        """0 for every metric that applies: the memory itself broke, so nobody was asked."""
        scored = Scored(
            question=labelled.question,
            gold=labelled.gold,
            answer="",
            abstained=False,
            ranking=None,
            context="",
            evidence_texts=self._evidence_texts(labelled),
        )
        judged = {
            metric.name: 0.0
            for metric, _ in self._judged()
            if metric.applies is None or metric.applies(scored)
        }
        applying = score_all(replace(scored, judged=judged), self._metrics)
        return Marks(dict.fromkeys(applying, 0.0))

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

    def _judged(self) -> Iterator[tuple[Metric, str]]:
        for metric in self._metrics.values():
            if metric.judge is not None:
                yield metric, metric.judge

    def _by_each_judge(self, metric: Metric) -> Iterator[Metric]:
        """The metric, then once more for every further judge when it is the first judge's."""
        if metric.judge is not None and metric.judge not in self._judges:
            raise no_judge(metric.name, metric.judge)
        yield metric
        if metric.judge == JUDGE:
            for name in self._judges:
                if name != JUDGE:
                    yield judged_by(metric.name, name)

    def _evidence_texts(self, labelled: LabelledQuestion) -> tuple[tuple[str, ...], ...]:
        return evidence_texts(labelled, self._texts) if usable_evidence(labelled) else ()


def usable_evidence(labelled: LabelledQuestion) -> tuple[str, ...]:
    """Unique gold units in order; empty when they cannot be scored."""
    return () if labelled.gold.unusable else tuple(dict.fromkeys(labelled.gold.evidence))
