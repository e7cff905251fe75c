"""Root causes, computed from traces by hand-made cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from memgene.core import RunError
from memgene.evaluation.case import Case, HitTrace
from memgene.evolution.diagnosis import Cause, cause_of, cut_of, diagnose, is_ranking

Make = Callable[..., Case]


def hits(*refs: str) -> tuple[HitTrace, ...]:
    return tuple(HitTrace(f"u{i}", (ref,), 1.0, "", f"s{i}") for i, ref in enumerate(refs))


@pytest.fixture
def two_facts(make_case: Make) -> Case:
    """Needs m1 and m2; both stored and in the pool; shown: m1 only."""
    return make_case("q", "g", 0.5, evidence=("m1", "m2"), hits=hits("m1", "x"), shown=2)


def test_a_question_with_full_score_has_no_cause(two_facts: Case) -> None:
    assert cause_of(two_facts, 1.0, "recall@10") is None


def test_answers_fail_below_a_half_rankings_below_one(two_facts: Case) -> None:
    assert cause_of(two_facts, 0.6, "token_f1") is None
    assert cause_of(two_facts, 0.6, "recall@10") is Cause.RANKED_LOW


@pytest.mark.parametrize(
    ("bank", "pool", "cause"),
    [
        (0.5, 0.5, Cause.NEVER_STORED),
        (1.0, 0.5, Cause.NOT_RETRIEVED),
        (1.0, 1.0, Cause.RANKED_LOW),
    ],
)
def test_the_cause_is_the_step_that_loses_evidence(
    two_facts: Case, bank: float, pool: float, cause: Cause
) -> None:
    found = replace(two_facts, bank_evidence=bank, pool_evidence=pool)
    assert cause_of(found, 0.0, "token_f1") is cause


def test_on_a_tie_the_earlier_step_is_the_cause(two_facts: Case) -> None:
    lost_twice = replace(two_facts, hits=hits("x"), bank_evidence=1.0, pool_evidence=0.5)
    assert cause_of(lost_twice, 0.0, "token_f1") is Cause.NOT_RETRIEVED


def test_all_evidence_shown_and_still_wrong_is_the_answer(two_facts: Case) -> None:
    shown = replace(two_facts, hits=hits("m2", "m1"))
    assert cause_of(shown, 0.0, "token_f1") is Cause.ANSWERED_WRONG
    assert cause_of(replace(shown, shown=1), 0.0, "token_f1") is Cause.RANKED_LOW


def test_the_k_of_the_metric_decides_not_what_was_shown(two_facts: Case) -> None:
    deep = replace(two_facts, hits=hits("m1", "x", "m2"), shown=3)
    assert cause_of(deep, 0.0, "token_f1") is Cause.ANSWERED_WRONG
    assert cause_of(deep, 0.5, "recall@2") is Cause.RANKED_LOW


def test_evidence_may_name_an_episode(two_facts: Case) -> None:
    episode = replace(two_facts, evidence=("s1",))
    assert cause_of(episode, 0.0, "token_f1") is Cause.ANSWERED_WRONG


def test_without_usable_evidence_or_ranking_the_cause_is_undetermined(two_facts: Case) -> None:
    for unclear in (
        replace(two_facts, evidence=()),
        replace(two_facts, excluded="evidence is malformed"),
        replace(two_facts, hits=None),
    ):
        assert cause_of(unclear, 0.0, "token_f1") is Cause.UNDETERMINED


def test_a_diagnosis_counts_causes_and_lost_score(make_case: Make) -> None:
    cases = [
        make_case("1", "a", 1.0),
        make_case("2", "a", 0.0),
        make_case("3", "b", 0.0, pool_evidence=0.0, category="hard", question_type="when"),
        make_case("4", "b", 0.5, evidence=("m4", "n4"), bank_evidence=0.5, pool_evidence=0.5),
        make_case("5", "b", 0.0, error="read: boom"),
        make_case("6", "b", 0.0, scores={}),
    ]
    found = diagnose(cases, "recall@10")
    assert (found.questions, found.mean) == (4, pytest.approx(1.5 / 4))
    assert found.causes == {
        Cause.NEVER_STORED: 1,
        Cause.NOT_RETRIEVED: 1,
        Cause.RANKED_LOW: 1,
        Cause.ANSWERED_WRONG: 0,
        Cause.UNDETERMINED: 0,
    }
    assert found.lost[Cause.NEVER_STORED] == pytest.approx(0.5 / 4)
    assert found.lost[Cause.RANKED_LOW] == pytest.approx(1 / 4)
    assert found.mean + sum(found.lost.values()) == pytest.approx(1)
    assert found.by_category["hard"].causes[Cause.NOT_RETRIEVED] == 1
    assert found.by_type["when"].mean == 0.0
    assert [f.question_id for f in found.worst] == ["2", "3", "4"]
    assert found.multi_hop == pytest.approx(1 / 3)


def test_a_type_is_weak_when_it_lags_and_is_frequent(make_case: Make) -> None:
    cases = [make_case(f"s{i}", "a", 1.0) for i in range(40)]
    cases += [make_case(f"w{i}", "a", 0.0, question_type="when") for i in range(10)]
    cases += [make_case(f"h{i}", "a", 0.0, question_type="where") for i in range(9)]
    assert diagnose(cases, "recall@10").weak_types() == ("when",)


def test_abstentions_are_a_share(make_case: Make) -> None:
    cases = [make_case(str(i), "a", 0.0, abstained=i < 3) for i in range(4)]
    assert diagnose(cases, "recall@10").abstained == 0.75


def test_a_metric_that_never_applies_is_an_error(make_case: Make) -> None:
    with pytest.raises(RunError, match="applies to none"):
        diagnose([make_case("1", "a", 1.0)], "token_f1")


def test_kinds_of_metrics() -> None:
    assert [cut_of(m) for m in ("recall@10", "ndcg@5", "mrr", "token_f1")] == [10, 5, None, None]
    assert [is_ranking(m) for m in ("recall@10", "mrr", "token_f1")] == [True, True, False]
