"""Exploration around π: what is drawn, how likely it was, and the slopes of both terms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memgene.core import InputError
from memgene.retrieval.router.policy import Policy, kl, kl_slope, log_softmax
from memgene.retrieval.router.special import digamma

Floats = NDArray[np.float64]

OPEN = Policy(10.0, floor=0.0)


def logit_pairs(low: float = -3.0) -> st.SearchStrategy[Floats]:
    return st.tuples(*[st.floats(low, -low)] * 2).map(np.asarray)


def logits(most: int = 6) -> st.SearchStrategy[Floats]:
    return st.lists(st.floats(-2, 2), min_size=2, max_size=most).map(np.asarray)


def weights(many: int) -> st.SearchStrategy[Floats]:
    parts = st.lists(st.floats(0.01, 1), min_size=many, max_size=many)
    return parts.map(lambda given: np.asarray(given) / np.sum(given))


def differences(value: Callable[[Floats], float], at: Floats, step: float = 1e-5) -> Floats:
    """Central finite differences."""
    moves = step * np.eye(len(at))
    return np.asarray([(value(at + m) - value(at - m)) / (2 * step) for m in moves])


@pytest.mark.parametrize(
    ("kappa", "pi", "drawn", "density"),
    [
        (2.0, [0.5, 0.5], [0.3, 0.7], 1.0),  # Beta(1, 1) is uniform
        (3.0, [2 / 3, 1 / 3], [0.3, 0.7], 0.6),  # Beta(2, 1): 2ζ
        (4.0, [0.5, 0.5], [0.25, 0.75], 6 * 0.25 * 0.75),  # Beta(2, 2): 6ζ(1 − ζ)
        (3.0, [1 / 3] * 3, [0.2, 0.3, 0.5], 2.0),  # Dirichlet(1, 1, 1): 1 / area = Γ(3)
    ],
)
def test_densities_by_hand(
    kappa: float, pi: list[float], drawn: list[float], density: float
) -> None:
    found = Policy(kappa).log_prob(np.log(pi), np.asarray(drawn))
    assert math.exp(found) == pytest.approx(density, rel=1e-12)


@given(logit_pairs(), st.floats(0.001, 0.999), st.floats(1, 50))
def test_two_routes_are_the_published_beta(x: Floats, zeta: float, kappa: float) -> None:
    pi_d = 1 / (1 + math.exp(x[1] - x[0]))
    pi_s = 1 / (1 + math.exp(x[0] - x[1]))
    a, b = kappa * pi_d, kappa * pi_s
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    log_density = (a - 1) * math.log(zeta) + (b - 1) * math.log(1 - zeta) - log_beta
    psi_a, psi_b = digamma(np.asarray([a, b]))
    slope = kappa * pi_d * pi_s * (math.log(zeta) - math.log(1 - zeta) - psi_a + psi_b)
    policy, drawn = Policy(kappa, floor=0.0), np.asarray([zeta, 1 - zeta])
    assert policy.log_prob(x, drawn) == pytest.approx(log_density, rel=1e-9, abs=1e-9)
    assert policy.log_prob_slope(x, drawn) == pytest.approx([slope, -slope], rel=1e-9, abs=1e-9)


@given(logit_pairs(), logit_pairs())
def test_kl_of_two_routes_has_the_published_slope(x: Floats, prior: Floats) -> None:
    pi = np.exp(log_softmax(x))
    slope = pi[0] * pi[1] * ((x[0] - x[1]) - (prior[0] - prior[1]))
    assert kl_slope(x, prior) == pytest.approx([slope, -slope], rel=1e-9, abs=1e-12)


@given(st.data(), logits(), st.floats(2, 50))
def test_log_prob_slope_matches_finite_differences(
    data: st.DataObject, x: Floats, kappa: float
) -> None:
    drawn = data.draw(weights(len(x)))
    policy = Policy(kappa, floor=0.0)
    by_differences = differences(lambda at: float(policy.log_prob(at, drawn)), x)
    assert policy.log_prob_slope(x, drawn) == pytest.approx(by_differences, rel=1e-6, abs=1e-6)


@given(st.data(), logits())
def test_kl_slope_matches_finite_differences(data: st.DataObject, x: Floats) -> None:
    prior = np.log(data.draw(weights(len(x))))
    by_differences = differences(lambda at: float(kl(at, prior)), x)
    assert kl_slope(x, prior) == pytest.approx(by_differences, rel=1e-6, abs=1e-6)


@given(st.data(), logits())
def test_kl_is_zero_only_at_the_prior(data: st.DataObject, x: Floats) -> None:
    pi, prior = np.exp(log_softmax(x)), data.draw(weights(len(x)))
    assert kl(x, x) == 0
    assert kl(x, np.log(prior)) == pytest.approx(float(pi @ np.log(pi / prior)), abs=1e-12)
    assert kl(x, np.log(prior)) >= -1e-15


@given(logits())
def test_the_mean_is_pi_where_no_route_is_at_the_floor(x: Floats) -> None:
    pi = np.exp(x) / np.exp(x).sum()
    assert OPEN.mean(x) == pytest.approx(pi, rel=1e-12)


@pytest.mark.parametrize("pi", [[0.02, 0.98], [0.3, 0.7], [0.1, 0.2, 0.7], [0.25] * 4])
@pytest.mark.parametrize("kappa", [10.0, 50.0])
def test_what_is_drawn_is_pi_on_average(pi: list[float], kappa: float) -> None:
    many = 40_000
    rows = np.tile(np.log(pi), (many, 1))
    drawn = Policy(kappa).sample(rows, np.random.default_rng(7))
    error = np.sqrt(np.multiply(pi, np.subtract(1, pi)) / (kappa + 1) / many)
    assert (np.abs(drawn.mean(axis=0) - pi) < 4 * error).all()
    variance = np.multiply(pi, np.subtract(1, pi)) / (kappa + 1)
    assert drawn.var(axis=0) == pytest.approx(variance, rel=0.06)


def test_the_slope_is_zero_on_average_so_that_a_constant_reward_teaches_nothing() -> None:
    policy, x = Policy(10.0), np.log([0.03, 0.97])
    rows = np.tile(x, (40_000, 1))
    slopes = policy.log_prob_slope(rows, policy.sample(rows, np.random.default_rng(3)))
    error = slopes.std(axis=0) / math.sqrt(len(rows))
    assert (np.abs(slopes.mean(axis=0)) < 4 * error).all()


@given(logits(8), st.integers(0, 2**32 - 1), st.floats(1, 60))
def test_drawn_weights_are_weights(x: Floats, seed: int, kappa: float) -> None:
    drawn = Policy(kappa, floor=0.0).sample(8 * x, np.random.default_rng(seed))
    assert (drawn > 0).all()
    assert drawn.sum() == pytest.approx(1)
    assert np.isfinite(Policy(kappa).log_prob_slope(x, drawn)).all()


@pytest.mark.parametrize(
    ("pi", "held"),
    [
        ([0.001, 0.999], [0.02, 0.98]),
        ([0.999, 0.001], [0.98, 0.02]),
        ([0.0, 0.4, 0.6], [0.02, 0.392, 0.588]),
        ([0.001, 0.0202, 0.9788], [0.02, 0.02, 0.96]),  # giving way puts the second under as well
        ([0.3, 0.7], [0.3, 0.7]),
    ],
)
def test_no_route_is_drawn_less_than_the_floor_on_average(
    pi: list[float], held: list[float]
) -> None:
    x = np.log(np.maximum(pi, 1e-30))
    assert Policy(floor=0.02).mean(x) == pytest.approx(held, rel=1e-9)


@given(st.lists(st.floats(-30, 30), min_size=2, max_size=12).map(np.asarray))
def test_the_floor_holds_and_the_rest_keeps_its_order(x: Floats) -> None:
    mean = Policy(floor=0.02).mean(x)
    assert mean.sum() == pytest.approx(1)
    assert mean.min() >= 0.02 - 1e-12
    assert (np.diff(mean[np.argsort(x)]) >= -1e-12).all()


def test_a_route_at_the_floor_can_come_back() -> None:
    policy, far, edge = Policy(), np.log([1e-6, 1 - 1e-6]), np.log([0.02, 0.98])
    liked = np.asarray([0.9, 0.1])
    assert policy.log_prob_slope(far, liked) == pytest.approx(policy.log_prob_slope(edge, liked))
    assert policy.log_prob_slope(far, liked)[0] > 0


def test_a_floor_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(InputError, match=r"set floor below 0\.0200"):
        Policy(floor=0.02).mean(np.zeros(50))
