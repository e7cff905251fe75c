"""Metrics by name: what each needs, and when it applies."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from memgene.core import ConfigError, InputError, LabelledQuestion
from memgene.tasks.metrics.answers import (
    contains_match,
    exact_match,
    mcq_accuracy,
    squad_f1,
    token_f1,
)
from memgene.tasks.metrics.locomo import official_locomo_f1
from memgene.tasks.metrics.rankings import (
    evidence_in_text,
    hit_at_k,
    mrr,
    ndcg_at_k,
    recall_at_k,
)
from memgene.tasks.metrics.rubric import criteria_of
from memgene.tasks.metrics.scored import RankedUnit, Scored

JUDGE = "judge"  # the judge whose scores bear a metric's plain name


class Needs(StrEnum):
    """What a metric looks at; `judge`: at the answer, through a language model's eyes."""

    ANSWER = "answer"
    JUDGE = "judge"
    RANKING = "ranking"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class Metric:
    """A named score in [0, 1], 1 the best. None where it does not apply to a question.

    `applies` tells where it does when that cannot be seen from `compute` alone, because a judge
    has to be asked first; `judge` is then the judge's name.
    """

    name: str
    needs: Needs
    description: str
    compute: Callable[[Scored], float | None]
    applies: Callable[[Scored], bool] | None = None
    judge: str | None = None

    def __call__(self, scored: Scored) -> float | None:
        return self.compute(scored)


def get_metric(name: str) -> Metric:
    """The metric of that name; `recall@k`, `hit@k` and `ndcg@k` exist for every k ≥ 1.

    What judges score exists once for each judge: `judge_strict` is what `judge` says,
    `judge_strict@judge2` what `judge2` says. `A+B` is the mean of several that need no judge.
    """
    if name in METRICS:
        return METRICS[name]
    if "+" in name:
        return _mean(name)
    base, at, judge = name.partition("@")
    if base in JUDGED and (not at or re.fullmatch(r"[a-z]\w*", judge)):
        return judged_by(base, judge or JUDGE)
    parsed = re.fullmatch(r"(recall|hit|ndcg)@([1-9]\d*)", name)
    if parsed is None:
        known = ", ".join((*METRICS, *JUDGED))
        raise InputError(
            f"there is no metric {name!r}; there are {known}, recall@K, hit@K and ndcg@K"
        )
    return {"recall": _recall, "hit": _hit, "ndcg": _ndcg}[parsed[1]](int(parsed[2]))


def judged_by(base: str, judge: str) -> Metric:
    """One of JUDGED as the judge of that name scores it."""
    metric = JUDGED[base]
    if judge == JUDGE:
        return metric
    return _judged(f"{base}@{judge}", judge, f"{metric.description}, by {judge}", metric.applies)


def no_judge(metric: str, judge: str) -> ConfigError:
    """The error of a metric whose judge is not there."""
    return ConfigError(
        f"metric {metric} needs a language model that judges: set `model` in [llm.{judge}], "
        "or leave the metric out"
    )


def score_all(scored: Scored, metrics: Mapping[str, Metric] | None = None) -> dict[str, float]:
    """Every metric that applies to the question, by name; the others are absent."""
    chosen = METRICS if metrics is None else metrics
    values = ((name, metric(scored)) for name, metric in chosen.items())
    return {name: value for name, value in values if value is not None}


def can_apply(metric: Metric, labelled: LabelledQuestion, *, ranks: bool = True) -> bool:
    """Whether the metric has a score for this question at all, whatever is answered and found by
    a memory that ranks (or that does not)."""
    texts = () if ranks else tuple((ref,) for ref in labelled.gold.evidence)
    probe = Scored(
        labelled.question, labelled.gold, ranking=() if ranks else None, evidence_texts=texts
    )
    return metric(probe) is not None if metric.applies is None else metric.applies(probe)


def _mean(name: str) -> Metric:
    """Mean of the metrics joined by `+`; applies where all of them do, so that no memory is
    scored by another part than the others."""
    parts = tuple(get_metric(part) for part in name.split("+"))
    judged = [part.name for part in parts if part.judge is not None]
    if judged or len(set(parts)) < len(parts):
        raise InputError(f"{name!r}: a mean is of different metrics, none of them a judge's")
    answers = any(part.needs is Needs.ANSWER for part in parts)

    def compute(scored: Scored) -> float | None:
        values = [value for part in parts if (value := part(scored)) is not None]
        return sum(values) / len(parts) if len(values) == len(parts) else None

    about = "mean of " + " and ".join(part.name for part in parts)
    return Metric(name, Needs.ANSWER if answers else parts[0].needs, about, compute)


def _over_answers(score: Callable[[str, str], float]) -> Callable[[Scored], float | None]:
    """Best over the accepted answers; not answerable = the empty answer is right.

    Does not apply to multiple choice, nor where a rubric stands in place of answers.
    """

    def compute(scored: Scored) -> float | None:
        if not _is_free_text(scored):
            return None
        return max(score(scored.predicted, answer) for answer in scored.gold.answers or ("",))

    return compute


def _is_free_text(scored: Scored) -> bool:
    rubric_only = scored.gold.rubric and not scored.gold.answers
    return not scored.question.choices and not rubric_only


def _contains(scored: Scored) -> float | None:
    if not scored.gold.answers or scored.question.choices:
        return None
    return max(contains_match(scored.predicted, answer) for answer in scored.gold.answers)


def _locomo(scored: Scored) -> float | None:
    if not _is_free_text(scored):
        return None
    category = scored.gold.category if scored.gold.answers else "adversarial"
    if category == "adversarial":
        return official_locomo_f1(scored.answer, "", category, abstained=scored.abstained)
    return max(official_locomo_f1(scored.predicted, a, category) for a in scored.gold.answers)


def _mcq(scored: Scored) -> float | None:
    choices = scored.question.choices
    if not choices or not scored.gold.answers:
        return None
    return max(mcq_accuracy(scored.predicted, choices, answer) for answer in scored.gold.answers)


def _over_ranking(
    score: Callable[[tuple[str, ...], tuple[RankedUnit, ...]], float],
) -> Callable[[Scored], float | None]:
    """Applies when there is usable evidence and the memory ranks."""

    def compute(scored: Scored) -> float | None:
        if not scored.evidence or scored.ranking is None:
            return None
        return score(scored.evidence, tuple(scored.ranking))

    return compute


def _recall(k: int) -> Metric:
    return Metric(
        f"recall@{k}",
        Needs.RANKING,
        f"share of unique gold units among the first {k} hits",
        _over_ranking(lambda evidence, ranking: recall_at_k(evidence, ranking, k)),
    )


def _hit(k: int) -> Metric:
    return Metric(
        f"hit@{k}",
        Needs.RANKING,
        f"1 when a gold unit is among the first {k} hits, else 0",
        _over_ranking(lambda evidence, ranking: hit_at_k(evidence, ranking, k)),
    )


def _ndcg(k: int) -> Metric:
    return Metric(
        f"ndcg@{k}",
        Needs.RANKING,
        f"how early the gold units stand among the first {k} hits",
        _over_ranking(lambda evidence, ranking: ndcg_at_k(evidence, ranking, k)),
    )


def _in_text(scored: Scored) -> float | None:
    """Of every context, ranked or not; reports do not show it beside recall@k."""
    if not scored.evidence or not scored.evidence_texts:
        return None
    return evidence_in_text(scored.evidence_texts, scored.context)


def _has_rubric(scored: Scored) -> bool:
    """Applies where points can be won."""
    return any(c.points > 0 for c in criteria_of(scored.gold, scored.question.id))


def _judged(
    name: str, judge: str, description: str, applies: Callable[[Scored], bool] | None
) -> Metric:
    def compute(scored: Scored) -> float | None:
        if applies is not None and not applies(scored):
            return None
        if name not in scored.judged:
            raise no_judge(name, judge)
        return scored.judged[name]

    return Metric(name, Needs.JUDGE, description, compute, applies, judge)


def _registered() -> tuple[Metric, ...]:
    answer = Needs.ANSWER
    return (
        Metric("token_f1", answer, "overlap of answer words (M* §8)", _over_answers(token_f1)),
        Metric("locomo_f1", answer, "official LoCoMo score: stems, by category", _locomo),
        Metric("squad_f1", answer, "F1 of the SQuAD 2.0 script", _over_answers(squad_f1)),
        Metric("exact", answer, "the same words in the same order", _over_answers(exact_match)),
        Metric("contains", answer, "an accepted answer stands in the reply (BFCL)", _contains),
        Metric("mcq_accuracy", answer, "the right choice is named", _mcq),
        _recall(5),
        _recall(10),
        _recall(20),
        _ndcg(10),
        Metric("mrr", Needs.RANKING, "1 / rank of the first gold unit", _over_ranking(mrr)),
        Metric(
            "evidence_in_text",
            Needs.CONTEXT,
            "share of gold units whose text stands in the context",
            _in_text,
        ),
    )


METRICS: Mapping[str, Metric] = MappingProxyType({m.name: m for m in _registered()})
JUDGED: Mapping[str, Metric] = MappingProxyType(
    {
        m.name: m
        for m in (
            _judged("judge_strict", JUDGE, "a model finds all of the gold told", _is_free_text),
            _judged("judge_lenient", JUDGE, "a model finds about the same meant", _is_free_text),
            _judged("rubric", JUDGE, "points of the criteria a model finds met", _has_rubric),
        )
    }
)
"""What only a language model can score: computed when asked for by name, never by default."""
