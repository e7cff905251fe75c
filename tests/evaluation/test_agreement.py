"""Agreement of judges, with values worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.core import InputError
from memgene.evaluation import Case, agreements, cohen_kappa
from memgene.evaluation.agreement import ONE_CLASS, REFERENCE_NAME


def verdict(correct: bool) -> dict[str, Any]:
    return {"correct": correct, "explanation": "", "model": "m", "prompt": "p"}


def rubric(*met: bool) -> dict[str, Any]:
    criteria = [{"criterion": "c", "points": 1, "met": one, "explanation": ""} for one in met]
    return {"unclipped": 0, "criteria": criteria, "model": "m", "prompt": "p"}


def case(name: str, f1: float | None = None, **judgements: dict[str, Any]) -> Case:
    return Case(
        question_id=name,
        group=name[0],
        category="fact",
        question="",
        gold=(),
        evidence=(),
        query={},
        context="",
        shown=0,
        hits=None,
        answer="",
        abstained=False,
        rule=None,
        scores={} if f1 is None else {"token_f1": f1},
        judgements=judgements,
    )


def pairs(both: int, only_first: int, only_second: int, neither: int) -> list[Case]:
    """Cases of two judges by how their verdicts fall."""
    fallen = [
        (True, True, both),
        (True, False, only_first),
        (False, True, only_second),
        (False, False, neither),
    ]
    verdicts = [(a, b) for a, b, count in fallen for _ in range(count)]
    return [
        case(f"q{n}", strict=verdict(a), lenient=verdict(b)) for n, (a, b) in enumerate(verdicts)
    ]


def test_kappa_of_the_textbook_table() -> None:
    # 20 both yes, 5 and 10 apart, 15 both no: p_o = .7, p_e = .5·.6 + .5·.4 = .5, kappa = .4.
    [one] = agreements(pairs(20, 5, 10, 15))
    assert one.kappa == pytest.approx(0.4)
    assert one.agreement.mean == pytest.approx(0.7)
    assert one.agreement.n == 50
    assert 0.5 < one.agreement.low < 0.7 < one.agreement.high < 0.9
    assert (one.both, one.only_first, one.only_second, one.neither) == (20, 5, 10, 15)
    assert (one.first, one.second, one.reference, one.note) == ("strict", "lenient", False, "")


@pytest.mark.parametrize(
    ("first", "second", "kappa"),
    [
        ("1100", "1100", 1.0),
        ("1100", "0011", -1.0),
        ("1100", "1010", 0.0),
        ("1111", "1100", 0.0),  # one judge never says no: as good as chance, but defined
        ("1111", "0000", 0.0),  # p_o = p_e = 0
        ("1110", "1100", 0.5),  # p_o = 3/4, p_e = 3/8 + 1/8 = 1/2
        ("1111", "1111", None),
        ("0", "0", None),
    ],
)
def test_kappa_by_hand(first: str, second: str, kappa: float | None) -> None:
    assert cohen_kappa([c == "1" for c in first], [c == "1" for c in second]) == kappa


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_kappa_is_symmetric_and_one_only_where_all_agree(said: list[tuple[bool, bool]]) -> None:
    first, second = [a for a, _ in said], [b for _, b in said]
    kappa = cohen_kappa(first, second)
    assert kappa == cohen_kappa(second, first)
    if kappa is None:
        assert len({*first, *second}) == 1
    else:
        assert -1 <= kappa <= 1
        assert (kappa == 1) == (first == second)


@pytest.mark.parametrize(("first", "second"), [([], []), ([True], [])])
def test_kappa_needs_pairs(first: Sequence[bool], second: Sequence[bool]) -> None:
    with pytest.raises(InputError, match="pairs"):
        cohen_kappa(first, second)


def test_where_one_class_is_all_there_is_kappa_is_none_and_says_so() -> None:
    [one] = agreements(pairs(3, 0, 0, 0))
    assert (one.kappa, one.note, one.agreement.mean) == (None, ONE_CLASS, 1.0)


def test_only_questions_that_a_model_judged_for_both_count() -> None:
    by_rule = {"correct": False, "rule": "the answer is empty"}
    cases = [
        *pairs(1, 0, 0, 1),
        case("q8", strict=verdict(True)),
        case("q9", strict=verdict(True), lenient=by_rule),
        case("qa", strict=by_rule, lenient=by_rule),
        case("qb"),
    ]
    [one] = agreements(cases)
    assert one.agreement.n == 2


def test_every_pair_of_judges_is_compared_and_each_with_the_words() -> None:
    judges = {"judge_strict": True, "judge_lenient": True, "judge_strict@judge2": False}
    cases = [
        case("q1", 0.5, **{name: verdict(True) for name in judges}),
        case("q2", 0.49, **{name: verdict(said) for name, said in judges.items()}),
    ]
    found = {(one.first, one.second): one for one in agreements(cases)}
    assert list(found) == [
        ("judge_strict", "judge_lenient"),
        ("judge_strict", "judge_strict@judge2"),
        ("judge_lenient", "judge_strict@judge2"),
        ("judge_strict", REFERENCE_NAME),
        ("judge_lenient", REFERENCE_NAME),
        ("judge_strict@judge2", REFERENCE_NAME),
    ]
    assert {key for key, one in found.items() if one.reference} == set(list(found)[3:])
    assert found["judge_strict", "judge_strict@judge2"].agreement.mean == 0.5
    assert found["judge_strict", REFERENCE_NAME].agreement.mean == 0.5
    assert found["judge_strict@judge2", REFERENCE_NAME].agreement.mean == 1.0


def test_rubrics_are_compared_criterion_by_criterion_and_with_rubrics_only() -> None:
    cases = [
        case(
            "q1",
            1.0,
            rubric=rubric(True, True, False, False),
            **{"rubric@judge2": rubric(True, False, False, False)},
            judge_strict=verdict(True),
        ),
        case("q2", rubric=rubric(True), **{"rubric@judge2": rubric(True)}),
    ]
    by_criteria, words = agreements(cases)
    assert (by_criteria.first, by_criteria.second) == ("rubric", "rubric@judge2")
    assert by_criteria.agreement.mean == (3 / 4 + 1) / 2
    assert by_criteria.agreement.n == 2
    # 5 criteria: p_o = 4/5, yes 3/5 and 2/5, p_e = 6/25 + 6/25 = 12/25, kappa = 8/13.
    assert by_criteria.kappa == pytest.approx(8 / 13)
    assert (words.first, words.second) == ("judge_strict", REFERENCE_NAME)


def test_a_question_asked_under_several_seeds_counts_once() -> None:
    def asked(a: bool, b: bool) -> Case:
        return case("q1", strict=verdict(a), lenient=verdict(b))

    seeds = [asked(True, True), asked(True, False), asked(False, False), asked(True, True)]
    other = case("q2", strict=verdict(True), lenient=verdict(True))
    [one] = agreements([*seeds, other])
    assert one.agreement.n == 2
    assert one.agreement.mean == (3 / 4 + 1) / 2


def test_groups_are_resampled_where_there_are_enough() -> None:
    few = [case(f"{g}1", strict=verdict(True), lenient=verdict(True)) for g in "abcd"]
    assert str(agreements(few)[0].agreement.method) == "questions"
    many = [*few, case("e1", strict=verdict(True), lenient=verdict(False))]
    assert str(agreements(many)[0].agreement.method) == "groups"


def test_the_json_says_it_all() -> None:
    [one] = agreements(pairs(1, 1, 1, 1))
    record = json.loads(json.dumps(one.to_json()))
    assert record["agreement"]["mean"] == 0.5
    assert (record["first"], record["second"], record["kappa"]) == ("strict", "lenient", 0.0)
    assert record["both"] == record["neither"] == record["only_first"] == 1
