"""AdamW, step by step as in the paper's algorithm."""

from __future__ import annotations

import math

import numpy as np
import pytest

from memgene.retrieval.router.adamw import AdamW


def test_two_steps_by_hand() -> None:
    descent = AdamW(rate=0.1)
    arrays = descent.step({"w": np.asarray([1.0])}, {"w": np.asarray([4.0])})
    assert arrays["w"].tolist() == pytest.approx([1 - 0.1], rel=1e-8)  # g / |g| at first
    arrays = descent.step(arrays, {"w": np.asarray([-2.0])})
    first = 0.9 * 0.1 * 4 + 0.1 * -2
    second = 0.999 * 0.001 * 16 + 0.001 * 4
    turn = (first / (1 - 0.9**2)) / math.sqrt(second / (1 - 0.999**2))
    assert arrays["w"].tolist() == pytest.approx([0.9 - 0.1 * turn], rel=1e-7)


def test_decay_is_apart_from_the_gradient() -> None:
    descent = AdamW(rate=0.1, decay=0.5)
    arrays = descent.step({"w": np.asarray([2.0])}, {"w": np.asarray([0.0])})
    assert arrays["w"].tolist() == pytest.approx([2 - 0.1 * 0.5 * 2])


def test_what_has_no_gradient_stays_and_nothing_is_changed_in_place() -> None:
    given = {"w": np.asarray([1.0]), "mean": np.asarray([3.0])}
    moved = AdamW(rate=0.1).step(given, {"w": np.asarray([1.0])})
    assert moved["mean"] is given["mean"]
    assert given["w"].tolist() == [1.0]
    assert moved["w"].tolist() != [1.0]


def test_it_finds_the_bottom_of_a_bowl() -> None:
    descent, arrays = AdamW(rate=0.05), {"w": np.asarray([5.0, -3.0])}
    for _ in range(1500):
        arrays = descent.step(arrays, {"w": 2 * (arrays["w"] - [1.0, 2.0])})
    assert arrays["w"].tolist() == pytest.approx([1, 2], abs=1e-3)
