"""ln Γ and ψ: known values and the identities that define them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.retrieval.router.special import digamma, log_gamma

EULER = 0.57721566490153286060651209
positive = st.floats(1e-3, 1e4)


@pytest.mark.parametrize(
    ("x", "known"),
    [
        (1.0, -EULER),
        (2.0, 1 - EULER),
        (5.0, 1 + 1 / 2 + 1 / 3 + 1 / 4 - EULER),
        (0.5, -EULER - 2 * math.log(2)),
        (0.25, -EULER - math.pi / 2 - 3 * math.log(2)),
        (10.0, 2.251752589066721107647456163885851537),
        (100.0, 4.600161852738087400416005093158573),
    ],
)
def test_digamma_at_known_points(x: float, known: float) -> None:
    assert digamma(np.asarray([x]))[0] == pytest.approx(known, rel=1e-12, abs=1e-12)


@given(positive)
def test_digamma_steps_by_one_over_x(x: float) -> None:
    here, next_one = digamma(np.asarray([x, x + 1]))
    assert next_one == pytest.approx(here + 1 / x, rel=1e-12, abs=1e-12)


@given(st.floats(0.01, 0.99))
def test_digamma_is_reflected_about_a_half(x: float) -> None:
    here, mirrored = digamma(np.asarray([x, 1 - x]))
    assert mirrored - here == pytest.approx(math.pi / math.tan(math.pi * x), rel=1e-11, abs=1e-11)


@given(st.floats(0.05, 50))
def test_digamma_is_the_slope_of_log_gamma(x: float) -> None:
    step = 1e-5 * x
    slope = (math.lgamma(x + step) - math.lgamma(x - step)) / (2 * step)
    assert digamma(np.asarray(x)) == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_the_shape_is_kept_and_the_argument_untouched() -> None:
    x = np.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert log_gamma(x).tolist() == pytest.approx(np.log([[1, 1], [2, 6]]))
    assert digamma(x).shape == (2, 2)
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]
