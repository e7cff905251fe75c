"""The supervised loss: gold first, through the fused score."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.core import InputError
from memgene.retrieval.router.listwise import Ranked
from memgene.retrieval.router.policy import log_softmax

HALF = np.asarray([0.5, 0.5])
SCORES = np.asarray([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])


def ranked(target: list[float], base: list[float] | None = None) -> Ranked:
    return Ranked(SCORES, np.asarray(base or [0.0, 0.0, 0.0]), np.asarray(target))


def test_the_fused_score_by_hand() -> None:
    fused = ranked([1, 0, 0], [0.1, 0.2, 0.3]).fused(np.asarray([0.8, 0.2]), HALF, 2.0)
    # 2 · 2 routes · (.3·dense − .3·sparse)
    assert fused.tolist() == pytest.approx([0.1 + 1.2, 0.2 - 1.2, 0.3])


def test_at_the_prior_the_base_is_left_exactly_as_it_is() -> None:
    base = [0.1, 0.7, 0.3]
    assert ranked([1, 0, 0], base).fused(HALF, HALF, 3.0).tolist() == base


def test_the_loss_of_one_gold_candidate_is_its_cross_entropy() -> None:
    loss = ranked([3, 0, 0], [1.0, 0.0, -1.0]).loss(HALF, HALF, 1.0)
    assert loss == pytest.approx(-math.log(math.e / (math.e + 1 + 1 / math.e)))


def test_gold_candidates_do_not_compete_with_each_other() -> None:
    loss = ranked([3, 1, 0], [2.0, 1.0, 0.0]).loss(HALF, HALF, 1.0)
    first, second = math.log(1 + math.exp(-2)), math.log(1 + math.exp(-1))
    assert loss == pytest.approx(0.75 * first + 0.25 * second)


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(2, 12), st.floats(0.1, 3))
def test_the_slope_matches_finite_differences(
    seed: int, routes: int, many: int, strength: float
) -> None:
    rng = np.random.default_rng(seed)
    target = rng.random(many) * (rng.random(many) < 0.4)
    target[0], target[1] = 1.0, 0.0
    case = Ranked(rng.random((many, routes)), rng.standard_normal(many), target)
    prior, logits = rng.dirichlet(np.ones(routes)), rng.standard_normal(routes)

    def loss(x: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
        return case.loss(np.exp(log_softmax(x)), prior, strength)

    step = 1e-5
    moves = step * np.eye(routes)
    differences = [(loss(logits + m) - loss(logits - m)) / (2 * step) for m in moves]
    slope = case.slope(np.exp(log_softmax(logits)), prior, strength)
    assert slope == pytest.approx(differences, rel=1e-6, abs=1e-6)


def test_far_scores_do_not_overflow() -> None:
    case = ranked([1, 0, 0], [-900.0, 900.0, 0.0])
    assert case.loss(HALF, HALF, 1.0) == pytest.approx(1800)
    assert np.isfinite(case.slope(HALF, HALF, 1.0)).all()


@pytest.mark.parametrize(
    ("target", "teaches"), [([1, 0, 0], True), ([0, 0, 0], False), ([1, 1, 2], False)]
)
def test_a_question_teaches_where_gold_stands_beside_others(
    target: list[float], teaches: bool
) -> None:
    assert ranked(target).teaches is teaches


@pytest.mark.parametrize(
    ("scores", "base", "target", "words"),
    [
        (SCORES, [0.0] * 2, [1, 0, 0], r"needs scores \(m, K\)"),
        (SCORES, [0.0] * 3, [1, 0], r"needs scores \(m, K\)"),
        (SCORES[0], [0.0] * 3, [1, 0, 0], r"needs scores \(m, K\)"),
        (SCORES, [[0.0] * 3], [1, 0, 0], r"needs scores \(m, K\)"),
        (SCORES, [0.0, math.nan, 0.0], [1, 0, 0], "base must be finite"),
        (SCORES, [0.0] * 3, [math.inf, 0, 0], "target must be finite"),
        (SCORES, [0.0] * 3, [1, -1, 0], "0 or more"),
    ],
)
def test_what_does_not_fit_is_refused(
    scores: object, base: object, target: object, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        Ranked(np.asarray(scores), np.asarray(base), np.asarray(target))
