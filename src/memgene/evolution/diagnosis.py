"""Where score is lost: the root cause of every failing question, computed from its trace.

Source: EvolveMem §4. Because a case holds the gold evidence, what the bank holds, the pool and the
ranking, causes are counted, not guessed; a proposer (rules or a model) only proposes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from memgene.core import RunError
from memgene.evaluation.case import Case
from memgene.evolution.scoring import value
from memgene.tasks.metrics.rankings import recall_at_k

WRONG_BELOW = 0.5
WORST = 20


class Cause(StrEnum):
    """The step at which a question's score was lost (undetermined: it has no usable evidence)."""

    NEVER_STORED = "never_stored"
    NOT_RETRIEVED = "not_retrieved"
    RANKED_LOW = "ranked_low"
    ANSWERED_WRONG = "answered_wrong"
    UNDETERMINED = "undetermined"


@dataclass(frozen=True, slots=True)
class Failing:
    """A question that lost score, and where; `case` is all that happened to it."""

    question_id: str
    question: str
    category: str
    question_type: str
    score: float
    cause: Cause
    case: Case = field(repr=False)


@dataclass(frozen=True, slots=True)
class Part:
    """Questions of one category or predicted type: count, mean score, failing ones per cause."""

    questions: int
    mean: float
    causes: Mapping[Cause, int]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is wrong with a configuration on the dev questions, for a metric.

    `lost` is the score lost per cause (Σ 1 − score over failing questions, divided by all
    questions: the shares and the mean score add up to at most 1). `abstained` is a share of all
    questions, `multi_hop` the share of failing questions with more than one piece of evidence.
    """

    metric: str
    questions: int
    mean: float
    causes: Mapping[Cause, int]
    lost: Mapping[Cause, float]
    by_category: Mapping[str, Part]
    by_type: Mapping[str, Part]
    failing: tuple[Failing, ...]
    abstained: float
    multi_hop: float

    @property
    def worst(self) -> tuple[Failing, ...]:
        """The worst cases, lowest score first, then in question order."""
        return tuple(sorted(self.failing, key=lambda f: f.score)[:WORST])

    def weak_types(self, least: int = 10, margin: float = 0.1) -> tuple[str, ...]:
        """Predicted types of at least `least` questions whose mean lies `margin` under the whole,
        the one that loses most score first."""
        weak = [
            (part.questions * (self.mean - part.mean), name)
            for name, part in self.by_type.items()
            if part.questions >= least and part.mean < self.mean - margin
        ]
        return tuple(name for _, name in sorted(weak, key=lambda pair: (-pair[0], pair[1])))


def diagnose(cases: Sequence[Case], metric: str) -> Diagnosis:
    """Diagnose the cases the metric applies to. Raises RunError when there is none."""
    scored = [(case, v) for case in cases if (v := value(case, metric)) is not None]
    if not scored:
        raise RunError(
            f"metric {metric} applies to none of the dev questions; choose another with --metric"
        )
    found = {case.question_id: cause_of(case, v, metric) for case, v in scored}
    failing = tuple(
        Failing(case.question_id, case.question, case.category, case.question_type, v, cause, case)
        for case, v in scored
        if (cause := found[case.question_id]) is not None
    )
    n = len(scored)
    several = {case.question_id for case, _ in scored if len(set(case.evidence)) > 1}
    return Diagnosis(
        metric=metric,
        questions=n,
        mean=sum(v for _, v in scored) / n,
        causes={c: sum(f.cause is c for f in failing) for c in Cause},
        lost={c: sum(1 - f.score for f in failing if f.cause is c) / n for c in Cause},
        by_category=_table([(case.category, case, v) for case, v in scored], found),
        by_type=_table([(case.question_type, case, v) for case, v in scored], found),
        failing=failing,
        abstained=sum(case.abstained for case, _ in scored) / n,
        multi_hop=sum(f.question_id in several for f in failing) / max(len(failing), 1),
    )


def cause_of(case: Case, score: float, metric: str) -> Cause | None:
    """The root cause of a failing question, None when it does not fail.

    A ranking metric fails below 1, an answer metric below 0.5. The cause is the step that loses
    the largest share of the evidence (the earlier one on a tie): storing, retrieving into the
    pool, ranking into the first k (of `recall@k`, else the units shown). All evidence in place
    and still failing = answered wrong.
    """
    if score >= (1.0 if is_ranking(metric) else WRONG_BELOW):
        return None
    if not case.evidence or case.excluded is not None or case.hits is None:
        return Cause.UNDETERMINED
    ranked = recall_at_k(case.evidence, case.hits, cut_of(metric) or case.shown)
    pool = max(ranked, 1.0 if case.pool_evidence is None else case.pool_evidence)
    bank = max(pool, 1.0 if case.bank_evidence is None else case.bank_evidence)
    losses = {
        Cause.NEVER_STORED: 1 - bank,
        Cause.NOT_RETRIEVED: bank - pool,
        Cause.RANKED_LOW: pool - ranked,
    }
    worst = max(losses, key=lambda cause: losses[cause])
    if losses[worst] > 0:
        return worst
    return Cause.RANKED_LOW if is_ranking(metric) else Cause.ANSWERED_WRONG


def is_ranking(metric: str) -> bool:
    """Whether a metric looks at the ranking alone (then answers and the context cut are free)."""
    return metric == "mrr" or cut_of(metric) is not None


def cut_of(metric: str) -> int | None:
    """The k of `recall@k`, `hit@k` and `ndcg@k`, None for other metrics."""
    parsed = re.fullmatch(r"(?:recall|hit|ndcg)@(\d+)", metric)
    return int(parsed[1]) if parsed else None


def _table(
    rows: Sequence[tuple[str, Case, float]], found: Mapping[str, Cause | None]
) -> dict[str, Part]:
    table: dict[str, list[tuple[str, float]]] = {}
    for name, case, v in rows:
        table.setdefault(name, []).append((case.question_id, v))
    return {
        name: Part(
            len(members),
            sum(v for _, v in members) / len(members),
            {c: sum(found[q] is c for q, _ in members) for c in Cause},
        )
        for name, members in sorted(table.items())
    }
