"""Metrics: small pure functions, and a registry that says when each applies."""

from memgene.tasks.metrics.answers import (
    contains_match,
    exact_match,
    mcq_accuracy,
    squad_f1,
    token_f1,
)
from memgene.tasks.metrics.locomo import official_locomo_f1
from memgene.tasks.metrics.rankings import evidence_in_text, mrr, ndcg_at_k, recall_at_k
from memgene.tasks.metrics.registry import (
    JUDGED,
    METRICS,
    Metric,
    Needs,
    can_apply,
    get_metric,
    score_all,
)
from memgene.tasks.metrics.rubric import Criterion, criteria_of, rubric_score
from memgene.tasks.metrics.scored import RankedUnit, Scored, evidence_index, evidence_texts

__all__ = [
    "JUDGED",
    "METRICS",
    "Criterion",
    "Metric",
    "Needs",
    "RankedUnit",
    "Scored",
    "can_apply",
    "contains_match",
    "criteria_of",
    "evidence_in_text",
    "evidence_index",
    "evidence_texts",
    "exact_match",
    "get_metric",
    "mcq_accuracy",
    "mrr",
    "ndcg_at_k",
    "official_locomo_f1",
    "recall_at_k",
    "rubric_score",
    "score_all",
    "squad_f1",
    "token_f1",
]
