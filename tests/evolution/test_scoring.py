"""Means and pairs of cases."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memgene.core import InputError
from memgene.evaluation.case import Case, HitTrace
from memgene.evolution.scoring import Pairs, evidence_pairs, mean, paired, values

Make = Callable[..., Case]


def test_errors_and_metrics_that_do_not_apply_are_left_out(make_case: Make) -> None:
    cases = [
        make_case("1", "a", 1.0),
        make_case("2", "a", 0.0, error="read: boom"),
        make_case("3", "a", 0.0, scores={}),
        make_case("4", "a", 0.5),
    ]
    assert values(cases, "recall@10") == [1.0, 0.5]
    assert mean(cases, "recall@10") == 0.75
    assert mean(cases, "mrr") is None


def test_pairs_are_questions_scored_in_both(make_case: Make) -> None:
    ours = [make_case(n, "g" + n, 1.0) for n in "123"]
    theirs = [make_case("3", "g3", 0.5), make_case("1", "g1", 0.0), make_case("9", "g9", 0.0)]
    found = paired(ours, theirs, "recall@10")
    assert found == Pairs((1.0, 1.0), (0.0, 0.5), ("g1", "g3"))
    assert found.delta == 0.75
    with pytest.raises(InputError, match="no question has mrr in both"):
        paired(ours, theirs, "mrr")


def test_evidence_is_compared_in_contexts_of_equal_length(make_case: Make) -> None:
    def hits(*refs: str) -> tuple[HitTrace, ...]:
        return tuple(HitTrace(ref, (ref,), 1.0, "") for ref in refs)

    ours = make_case("1", "g", 0.0, evidence=("a", "b"), hits=hits("x", "a", "b"), shown=3)
    theirs = make_case("1", "g", 0.0, evidence=("a", "b"), hits=hits("x", "y", "b"), shown=2)
    assert evidence_pairs([ours], [theirs]) == Pairs((0.5,), (0.0,), ("g",))
    for unusable in ({"evidence": ()}, {"hits": None}, {"excluded": "bad"}, {"error": "boom"}):
        assert evidence_pairs([make_case("1", "g", 0.0, **unusable)], [theirs]) is None
