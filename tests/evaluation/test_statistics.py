"""Bootstrap intervals, against enumeration of every resample and against hand-worked cases."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.core import InputError
from memgene.evaluation.statistics import (
    Resampling,
    mean_interval,
    paired_difference,
    spread,
)

GROUPS = ["a", "a", "b", "c", "c", "c", "d", "e"]
VALUES = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.5, 0.0]


def every_group_resample(values: list[float], groups: list[str]) -> list[float]:
    """Independent reference: the mean of each of the G^G resamples of whole groups."""
    members = {g: [v for v, h in zip(values, groups, strict=True) if h == g] for g in groups}
    names = sorted(members)
    means = []
    for drawn in product(names, repeat=len(names)):
        pooled = [v for name in drawn for v in members[name]]
        means.append(sum(pooled) / len(pooled))
    return means


def share_at_most(sample: list[float], bound: float) -> float:
    return sum(v <= bound + 1e-9 for v in sample) / len(sample)


def test_five_groups_are_resampled_whole() -> None:
    interval = mean_interval(VALUES, GROUPS)
    exact = every_group_resample(VALUES, GROUPS)
    assert interval.method is Resampling.GROUPS
    assert (interval.mean, interval.n) == (3.5 / 8, 8)
    # Each end is a value of the exact distribution with 2.5 % in the tail, give or take 1 %.
    assert share_at_most(exact, interval.low - 1e-6) <= 0.035
    assert share_at_most(exact, interval.low) >= 0.015
    assert share_at_most(exact, interval.high) >= 0.965
    assert share_at_most(exact, interval.high - 1e-6) <= 0.985


def test_four_groups_are_too_few_so_questions_are_resampled() -> None:
    # Two questions, 0 and 1: the means 0, 1/2, 1 come with 1/4, 1/2, 1/4.
    interval = mean_interval([0.0, 1.0], ["a", "b"])
    assert interval.method is Resampling.QUESTIONS
    assert (interval.mean, interval.low, interval.high, interval.n) == (0.5, 0.0, 1.0, 2)


def test_groups_that_agree_leave_no_uncertainty_but_their_questions_do() -> None:
    values, groups = [0.0, 1.0] * 6, [g for g in "abcdef" for _ in range(2)]
    by_groups = mean_interval(values, groups)
    by_questions = mean_interval(values, groups, method=Resampling.QUESTIONS)
    within = mean_interval(values, groups, method=Resampling.WITHIN_GROUPS)
    assert (by_groups.low, by_groups.high) == (0.5, 0.5)
    assert by_questions.low < 0.4 < 0.6 < by_questions.high
    assert within.low < 0.4 < 0.6 < within.high


def test_within_groups_ignores_the_difference_between_groups() -> None:
    values, groups = [0.0] * 4 + [1.0] * 4, ["a"] * 4 + ["b"] * 4
    within = mean_interval(values, groups, method=Resampling.WITHIN_GROUPS)
    assert (within.low, within.high, within.method) == (0.5, 0.5, Resampling.WITHIN_GROUPS)


def test_the_mean_is_over_questions_not_over_groups() -> None:
    # One group of six zeros, four groups of one 1: 4/10, not 4/5.
    interval = mean_interval([0.0] * 6 + [1.0] * 4, ["big"] * 6 + ["b", "c", "d", "e"])
    assert interval.mean == 0.4


def test_no_difference_has_p_one_and_is_never_positive() -> None:
    paired = paired_difference(VALUES, VALUES, GROUPS)
    assert (paired.delta, paired.low, paired.high) == (0.0, 0.0, 0.0)
    assert (paired.p, paired.prob_positive, paired.n) == (1.0, 0.0, 8)


def test_the_same_gain_everywhere_has_the_smallest_p_there_is() -> None:
    paired = paired_difference([0.75] * 8, [0.5] * 8, GROUPS, resamples=999)
    assert (paired.delta, paired.low, paired.high) == (0.25, 0.25, 0.25)
    assert paired.p == 2 / 1000
    assert paired.prob_positive == 1.0


def test_p_and_prob_positive_follow_the_exact_distribution() -> None:
    base = [0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 0.0, 0.0]
    differences = [v - b for v, b in zip(VALUES, base, strict=True)]
    exact = every_group_resample(differences, GROUPS)
    above = sum(d > 1e-9 for d in exact) / len(exact)
    not_above = sum(d <= 1e-9 for d in exact) / len(exact)
    paired = paired_difference(VALUES, base, GROUPS)
    assert paired.prob_positive == pytest.approx(above, abs=0.02)
    assert paired.p == pytest.approx(2 * not_above, abs=0.04)


def test_equal_seeds_give_equal_results_and_other_seeds_others() -> None:
    rng = np.random.default_rng(7)
    values, groups = rng.random(60).tolist(), [str(i % 6) for i in range(60)]
    first = mean_interval(values, groups, seed=3)
    assert first == mean_interval(values, groups, seed=3)
    assert first != mean_interval(values, groups, seed=4)


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(11)
    covered = 0
    for trial in range(200):
        shifts = rng.normal(0.0, 1.0, size=40)
        values = np.repeat(shifts, 3) + rng.normal(0.0, 1.0, size=120)
        groups = [str(i) for i in range(40) for _ in range(3)]
        interval = mean_interval(values.tolist(), groups, seed=trial, resamples=400)
        covered += interval.low <= 0.0 <= interval.high
    assert 0.88 <= covered / 200 <= 0.99


scores = st.lists(
    st.tuples(st.floats(0, 1), st.floats(0, 1), st.sampled_from("abcdefg")),
    min_size=1,
    max_size=30,
)


@settings(max_examples=40, deadline=None)
@given(rows=scores, method=st.sampled_from([None, *Resampling]))
def test_an_interval_lies_inside_the_range_of_the_values(
    rows: list[tuple[float, float, str]], method: Resampling | None
) -> None:
    values, groups = [r[0] for r in rows], [r[2] for r in rows]
    interval = mean_interval(values, groups, resamples=200, method=method)
    slack = 1e-9
    assert min(values) - slack <= interval.low <= interval.high <= max(values) + slack
    assert min(values) - slack <= interval.mean <= max(values) + slack


@settings(max_examples=40, deadline=None)
@given(rows=scores)
def test_swapping_the_sides_turns_the_sign(rows: list[tuple[float, float, str]]) -> None:
    ours, theirs, groups = (list(column) for column in zip(*rows, strict=True))
    one = paired_difference(ours, theirs, groups, resamples=200)
    other = paired_difference(theirs, ours, groups, resamples=200)
    assert one.delta == pytest.approx(-other.delta)
    assert one.low == pytest.approx(-other.high, abs=1e-9)
    assert one.p == pytest.approx(other.p)


def test_spread_names_the_weakest_category() -> None:
    # Mean 0.4, squared deviations 0.04 + 0 + 0.04, over 3.
    found = spread({"fact": 0.4, "when": 0.2, "list": 0.6})
    assert (found.minimum, found.category) == (0.2, "when")
    assert found.std == pytest.approx((0.08 / 3) ** 0.5)


@pytest.mark.parametrize(
    ("values", "groups", "message"),
    [
        ([], [], "at least one value"),
        ([1.0], ["a", "b"], "1 values but 2 groups"),
        ([float("nan")], ["a"], "not a finite number"),
    ],
)
def test_unusable_values_are_refused(values: list[float], groups: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        mean_interval(values, groups)


def test_pairs_must_be_pairs() -> None:
    with pytest.raises(InputError, match="differ in length: 2 and 1"):
        paired_difference([1.0, 0.0], [1.0], ["a", "a"])


def test_level_and_resamples_are_checked() -> None:
    with pytest.raises(InputError, match="level"):
        mean_interval([1.0], ["a"], level=95)
    with pytest.raises(InputError, match="resamples"):
        mean_interval([1.0], ["a"], resamples=0)
    with pytest.raises(InputError, match="category"):
        spread({})
