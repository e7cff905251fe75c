"""The network's way back: every slope against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.retrieval.router import network
from memgene.retrieval.router.router import Router

Trained = Callable[..., Router]
STEP = 1e-5


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([0, 3]), st.sampled_from([None, 1.5]))
def test_every_parameter_has_the_slope_of_finite_differences(
    trained: Trained, seed: int, hidden: int, bound: float | None
) -> None:
    router = trained(seed, hidden=hidden, bound=bound)
    rng = np.random.default_rng(seed)
    queries, features = rng.standard_normal((4, 4)), rng.standard_normal((4, 2))
    upstream = rng.standard_normal((4, 3))
    passed = network.forward(router.arrays, queries, features, hidden, bound)
    gradient = network.backward(router.arrays, passed, upstream, hidden, bound)
    learned = [name for name in router.arrays if name not in network.STATISTICS]
    assert sorted(gradient) == sorted(learned)
    for name in learned:
        held = router.arrays[name]
        for at in np.ndindex(held.shape):
            sums = []
            for sign in (1, -1):
                moved = np.array(held)
                moved[at] += sign * STEP
                changed = replace(router, arrays={**router.arrays, name: moved})
                sums.append((upstream * changed.deltas(queries, features)).sum())
            by_difference = (sums[0] - sums[1]) / (2 * STEP)
            assert gradient[name][at] == pytest.approx(by_difference, rel=1e-6, abs=1e-6)


def test_the_form_says_which_arrays_there_are() -> None:
    assert network.shapes(2, 3, 5, 0) == {
        "feature_mean": (3,),
        "feature_scale": (3,),
        "head": (2, 3),
        "head_bias": (2,),
    }
    assert network.shapes(2, 3, 5, 7) == {
        "feature_mean": (3,),
        "feature_scale": (3,),
        "layer1": (7, 5),
        "layer1_bias": (7,),
        "layer2": (7, 7),
        "layer2_bias": (7,),
        "head": (2, 10),
        "head_bias": (2,),
    }
