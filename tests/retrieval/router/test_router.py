"""The residual router: the prior until it has learned, then the prior bent by Δ."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.core import ConfigError, InputError
from memgene.retrieval.router.observation import TWO_ROUTES, Observation, smoothed
from memgene.retrieval.router.router import Router

Trained = Callable[..., Router]
Observed = Callable[..., Observation]
ROUTES, FEATURES = ("dense", "sparse", "date"), ("length", "names")


def linear(bound: float | None = None) -> Router:
    """Two routes, two features, weights written out."""
    fresh = Router.fresh(TWO_ROUTES, FEATURES, bound=bound)
    head = np.asarray([[0.5, -1.0], [0.0, 0.25]])
    return replace(fresh, arrays={**fresh.arrays, "head": head, "head_bias": np.asarray([0.1, 0])})


def question(prior: list[float], features: list[float]) -> Observation:
    return Observation(TWO_ROUTES, np.asarray(prior), np.zeros(0), np.asarray(features))


@given(st.integers(0, 1000), st.sampled_from([0, 3]), st.sampled_from([None, 1.5]), st.floats(0, 1))
def test_an_untrained_router_is_the_prior_bit_by_bit(
    observed: Observed, seed: int, hidden: int, bound: float | None, confidence: float
) -> None:
    router = Router.fresh(ROUTES, FEATURES, 4, hidden=hidden, bound=bound, seed=seed)
    seen = observed(seed)
    seen = replace(seen, prior=smoothed(seen.prior, confidence))
    assert router.untrained
    assert router.weights(seen).tolist() == seen.prior.tolist()
    assert router.prior_weights(seen).tolist() == seen.prior.tolist()


def test_weights_by_hand() -> None:
    # Δ = (.1 + .5·2 − 1, .25) = (.1, .25)
    lifted = [0.6 * math.exp(0.1), 0.4 * math.exp(0.25)]
    weights = linear().weights(question([0.6, 0.4], [2.0, 1.0]))
    assert weights.tolist() == pytest.approx([w / sum(lifted) for w in lifted])


def test_a_bound_bends_each_delta() -> None:
    deltas = linear(1.5).deltas(np.zeros((1, 0)), np.asarray([[2.0, 1.0]]))[0]
    bent = [1.5 * math.tanh(0.1 / 1.5), 1.5 * math.tanh(0.25 / 1.5)]
    assert deltas.tolist() == pytest.approx(bent)


@given(st.integers(0, 1000), st.floats(0.1, 3), st.floats(1, 1e6))
def test_a_bounded_delta_never_exceeds_its_bound(
    trained: Trained, observed: Observed, seed: int, bound: float, large: float
) -> None:
    router = trained(seed, bound=bound)
    arrays = {**router.arrays, "head": large * router.arrays["head"]}
    seen = observed(seed)
    deltas = replace(router, arrays=arrays).deltas(seen.query[None], seen.features[None])
    assert (np.abs(deltas) <= bound).all()


@given(st.integers(0, 1000), st.sampled_from([0, 3]))
def test_weights_are_the_softmax_of_the_prior_and_delta(
    trained: Trained, observed: Observed, seed: int, hidden: int
) -> None:
    router, seen = trained(seed, hidden=hidden, bound=None), observed(seed)
    lifted = np.exp(np.log(seen.prior) + router.deltas(seen.query[None], seen.features[None])[0])
    assert router.weights(seen) == pytest.approx(lifted / lifted.sum(), rel=1e-12)
    assert not router.untrained


def test_a_delta_without_a_bound_may_be_huge() -> None:
    router = linear()
    arrays = {**router.arrays, "head_bias": np.asarray([5000.0, 0.0])}
    weights = replace(router, arrays=arrays).weights(question([0.1, 0.9], [0.0, 0.0]))
    assert weights.tolist() == [1, 0]


def test_many_questions_at_once_are_each_as_alone(trained: Trained, observed: Observed) -> None:
    router, seen = trained(1), [observed(seed) for seed in range(5)]
    queries, features = (
        np.asarray([o.query for o in seen]),
        np.asarray([o.features for o in seen]),
    )
    together = router.deltas(queries, features)
    for row, one in zip(together, seen, strict=True):
        alone = router.deltas(one.query[None], one.features[None])[0]
        assert row == pytest.approx(alone, rel=1e-12)


def test_only_the_direction_of_the_query_counts(trained: Trained, observed: Observed) -> None:
    router, seen = trained(1), observed(2)
    longer = replace(seen, query=17 * seen.query)
    turned = replace(seen, query=-seen.query)
    assert router.weights(longer) == pytest.approx(router.weights(seen), rel=1e-12)
    assert router.weights(turned) != pytest.approx(router.weights(seen), rel=1e-3)
    assert np.isfinite(router.weights(replace(seen, query=np.zeros(4)))).all()


def test_a_linear_router_does_not_look_at_the_query(trained: Trained, observed: Observed) -> None:
    router, seen = trained(1, hidden=0), observed(2)
    other = replace(seen, query=np.zeros(0))
    assert router.weights(other).tolist() == router.weights(seen).tolist()


def test_features_are_standardised_and_outliers_clipped() -> None:
    router = Router.fresh(TWO_ROUTES, FEATURES, bound=None)
    router = router.with_statistics(np.asarray([[1.0, 7.0], [5.0, 7.0]]))
    assert router.arrays["feature_mean"].tolist() == [3, 7]
    assert router.arrays["feature_scale"].tolist() == [2, 1]  # one that does not vary
    arrays = {**router.arrays, "head": np.asarray([[1.0, 1.0], [0.0, 0.0]])}
    deltas = replace(router, arrays=arrays).deltas(
        np.zeros((2, 0)), np.asarray([[4.0, 8.0], [1e9, 7.0]])
    )
    assert deltas[:, 0].tolist() == pytest.approx([0.5 + 1, 4])


def test_statistics_are_fixed_before_learning(trained: Trained) -> None:
    with pytest.raises(InputError, match="fixed before it learns"):
        trained(0).with_statistics(np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("features", "words"),
    [
        (np.zeros((0, 2)), r"matrix \(n, 2\)"),
        (np.zeros((3, 1)), r"matrix \(n, 2\)"),
        (np.zeros(2), r"matrix \(n, 2\)"),
        (np.full((2, 2), np.nan), "finite"),
    ],
)
def test_statistics_of_what_does_not_fit_are_refused(
    features: np.ndarray[tuple[int, ...], np.dtype[np.float64]], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        Router.fresh(TWO_ROUTES, FEATURES).with_statistics(features)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"routes": ("dense", "sparse", "week")}, "the question offers"),
        ({"routes": ("sparse", "dense", "date")}, "the question offers"),
        ({"prior": np.asarray([0.5, 0.5])}, r"shape \(3,\)"),
        ({"prior": np.asarray([0.5, 0.5, 0.0])}, "above 0 and sum to 1"),
        ({"prior": np.asarray([0.5, 0.5, 0.5])}, "above 0 and sum to 1"),
        ({"prior": np.asarray([0.5, 0.5, np.nan])}, "above 0 and sum to 1"),
        ({"features": np.zeros(3)}, r"2 features \(length, names\)"),
        ({"features": np.asarray([0.0, np.nan])}, "finite"),
        ({"query": np.zeros(5)}, "embedder it was trained with"),
        ({"query": np.full(4, np.inf)}, "finite"),
    ],
)
def test_an_observation_that_does_not_fit_is_refused(
    trained: Trained, observed: Observed, change: dict[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        trained(0).weights(replace(observed(0), **change))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"routes": ("dense",)}, "two routes or more"),
        ({"routes": ("dense", "dense")}, "route names must be different"),
        ({"features": ("length", "")}, "feature names must be different"),
        ({"hidden": -1}, "0 or more"),
        ({"dimension": 0}, "need a query embedding"),
        ({"bound": 0.0}, "bound must be above 0"),
        ({"bound": math.nan}, "bound must be above 0"),
        ({"strength": -1.0}, "strength must be 0 or more"),
        ({"strength": math.inf}, "strength must be 0 or more"),
        ({"hidden": 0}, "has arrays"),
        ({"hidden": 4}, "must have shape"),
        ({"routes": ("dense", "sparse")}, "must have shape"),
    ],
)
def test_a_router_that_cannot_work_is_refused(
    trained: Trained, change: dict[str, object], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        replace(trained(0), **change)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("head", np.nan, "finite"),
        ("layer2_bias", np.inf, "finite"),
        ("feature_scale", 0.0, "above 0"),
        ("feature_scale", -1.0, "above 0"),
    ],
)
def test_numbers_that_cannot_be_used_are_refused(
    trained: Trained, name: str, value: float, words: str
) -> None:
    router = trained(0)
    with pytest.raises(ConfigError, match=words):
        replace(router, arrays={**router.arrays, name: np.full_like(router.arrays[name], value)})


def test_a_router_cannot_be_changed_from_outside(trained: Trained) -> None:
    router = trained(0)
    mine = np.array(router.arrays["head"])
    copied = replace(router, arrays={**router.arrays, "head": mine})
    mine += 1
    assert copied == router
    with pytest.raises(ValueError, match="read-only"):
        router.arrays["head"][0, 0] = 1


def test_equal_content_is_equal_and_survives_a_worker_process(trained: Trained) -> None:
    router = trained(5)
    again = pickle.loads(pickle.dumps(router))
    assert again == router == trained(5)
    assert hash(again) == hash(router)
    assert again.digest == router.digest
    assert len(router.digest) == 12
    assert router != trained(6)
    assert router != replace(router, strength=0.5)
    assert router != "router"


def test_fresh_layers_follow_the_seed() -> None:
    one, two, other = (
        Router.fresh(ROUTES, FEATURES, 4, hidden=8, bound=None, seed=seed) for seed in (1, 1, 2)
    )
    assert one.to_bytes() == two.to_bytes()
    assert one != other
    assert not one.arrays["head"].any()
    assert one.arrays["layer1"].all()
