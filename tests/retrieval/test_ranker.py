"""Learned weights at work: score = Σ w · clip((x − mean) / scale, ±4)."""

from __future__ import annotations

import numpy as np
import pytest

from memgene.core import ConfigError
from memgene.retrieval.ranker import Ranker

RANKER = Ranker({"a": 2.0, "b": -1.0}, {"a": 1.0, "b": 0.0}, {"a": 0.5, "b": 1.0})


def test_by_hand() -> None:
    matrix = np.asarray([[1.0, 0.0], [2.0, 3.0], [0.5, -1.0]], np.float32)
    assert RANKER.score(matrix).tolist() == pytest.approx([0, 2 * 2 - 3, -2 + 1])


def test_outliers_are_clipped_at_four_scales() -> None:
    matrix = np.asarray([[100.0, -100.0]], np.float32)
    assert RANKER.standardised(matrix).tolist() == [[4, -4]]
    assert RANKER.score(matrix).tolist() == [2 * 4 + 4]


def test_features_are_named_in_the_order_of_the_weights() -> None:
    assert RANKER.features == ("a", "b")
    written = Ranker(
        {"a": 2.0, "b": -1.0}, {"b": 0.0, "a": 1.0}, {"b": 1.0, "a": 0.5}
    )  # a file may list the means in another order
    matrix = np.asarray([[2.0, 3.0]], np.float32)
    assert written.score(matrix).tolist() == RANKER.score(matrix).tolist()


def test_round_trip() -> None:
    ranker = Ranker({"a": 0.1}, {"a": 0.2}, {"a": 0.3}, "answer_tokens", 7)
    back = Ranker.from_dict(ranker.to_dict())
    assert back == ranker
    assert back.digest == ranker.digest
    assert (back.target, back.questions) == ("answer_tokens", 7)


def test_the_digest_tells_weights_apart() -> None:
    other = Ranker({"a": 2.0, "b": -1.0}, {"a": 1.0, "b": 0.0}, {"a": 0.5, "b": 1.1})
    assert other.digest != RANKER.digest


@pytest.mark.parametrize(
    ("weight", "mean", "scale"),
    [
        ({}, {}, {}),
        ({"a": 1.0}, {}, {"a": 1.0}),
        ({"a": 1.0}, {"b": 1.0}, {"a": 1.0}),
        ({"a": float("nan")}, {"a": 0.0}, {"a": 1.0}),
        ({"a": 1.0}, {"a": float("inf")}, {"a": 1.0}),
        ({"a": 1.0}, {"a": 0.0}, {"a": 0.0}),
        ({"a": 1.0}, {"a": 0.0}, {"a": -1.0}),
    ],
)
def test_weights_that_cannot_score_are_refused(
    weight: dict[str, float], mean: dict[str, float], scale: dict[str, float]
) -> None:
    with pytest.raises(ConfigError, match="ranker"):
        Ranker(weight, mean, scale)


@pytest.mark.parametrize("part", ["weight", "mean", "scale", "target", "questions"])
def test_a_missing_part_is_named(part: str) -> None:
    values = RANKER.to_dict()
    del values[part]
    with pytest.raises(ConfigError, match=part):
        Ranker.from_dict(values)
