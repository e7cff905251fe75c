"""Joining views into one score, worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.fusion import fuse, min_max, rrf
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.query import analyse
from memgene.retrieval.views import View

Make = Callable[..., UnitIndex]
POOL = np.asarray([0, 1, 2, 3])


def view(name: str, scores: Mapping[int, float], weight: float = 1.0) -> View:
    """A view that returned these rows, in this order; other rows score 0 in it."""
    return View(
        name,
        np.asarray(list(scores), np.int64),
        np.asarray(list(scores.values()), np.float32),
        weight,
        lambda rows: np.asarray([scores.get(int(r), 0.0) for r in rows], np.float32),
    )


LEXICAL = view("lexical", {1: 8.0, 0: 4.0, 3: 2.0}, weight=2.0)
DENSE = view("dense", {2: 0.9, 1: 0.3}, weight=0.5)


@pytest.fixture
def index(index_of: Make) -> UnitIndex:
    return index_of("Anna: one", "Ben: one two", "Anna: one two three", "x")


def fused(
    index: UnitIndex, fusion: str, *views: View, question: str = "what?", **changes: object
) -> list[float]:
    quiet = {"weight_speaker": 0.0, "weight_length": 0.0} | changes
    config = RetrievalConfig(fusion=fusion, **quiet)  # type: ignore[arg-type]
    return fuse(views, POOL, analyse(question, index), index, config).tolist()


def test_min_max_maps_to_0_and_1_and_equals_to_0() -> None:
    assert min_max(np.asarray([2, 4, 3], np.float32)).tolist() == [0, 1, 0.5]
    assert min_max(np.asarray([-1, 1], np.float32)).tolist() == [0, 1]
    assert min_max(np.asarray([5, 5], np.float32)).tolist() == [0, 0]
    assert min_max(np.asarray([], np.float32)).tolist() == []


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=20))
def test_min_max_keeps_the_order_inside_0_and_1(values: list[float]) -> None:
    given_values = np.asarray(values, np.float32)
    scaled = min_max(given_values)
    assert scaled.min() >= 0
    assert scaled.max() <= 1
    assert (np.diff(scaled[np.argsort(given_values, kind="stable")]) >= 0).all()


def test_weighted_sum_of_min_max(index: UnitIndex) -> None:
    # lexical 4 8 0 2 → .5 1 0 .25; dense 0 .3 .9 0 → 0 ⅓ 1 0
    expected = [2 * 0.5, 2 * 1 + 0.5 / 3, 0.5 * 1, 2 * 0.25]
    assert fused(index, "weighted_sum", LEXICAL, DENSE) == pytest.approx(expected)


def test_the_plain_sum_weighs_all_alike(index: UnitIndex) -> None:
    one = view("lexical", {1: 8.0, 0: 4.0, 3: 2.0})
    other = view("dense", {2: 0.9, 1: 0.3})
    expected = [0.5, 1 + 1 / 3, 1, 0.25]
    assert fused(index, "sum", one, other) == pytest.approx(expected)


def test_a_view_of_weight_0_adds_candidates_but_no_score(index: UnitIndex) -> None:
    silent = view("structured", {3: 5.0}, weight=0.0)
    alone, beside = (
        fused(index, "weighted_sum", LEXICAL),
        fused(index, "weighted_sum", LEXICAL, silent),
    )
    assert alone == beside


def test_speakers_the_question_names_gain_their_weight(index: UnitIndex) -> None:
    question = "What did Anna say?"
    found = fused(index, "weighted_sum", question=question, weight_speaker=0.7)
    assert found == pytest.approx([0.7, 0, 0.7, 0])
    assert fused(index, "weighted_sum", weight_speaker=0.7) == [0, 0, 0, 0]
    assert fused(index, "sum", question=question, weight_speaker=0.7) == [1, 0, 1, 0]


def test_length_counts_as_the_log_of_the_words(index: UnitIndex) -> None:
    logs = [math.log(1 + n) for n in (2, 3, 4, 1)]  # the speaker's name is a word
    expected = [3 * (x - logs[3]) / (logs[2] - logs[3]) for x in logs]
    assert fused(index, "weighted_sum", weight_length=3) == pytest.approx(expected)
    assert fused(index, "sum", weight_length=3) == [0, 0, 0, 0]


def test_reciprocal_ranks_count_from_1_over_what_a_view_returned(index: UnitIndex) -> None:
    expected = [2 / 62, 2 / 61 + 0.5 / 62, 0.5 / 61, 2 / 63]
    assert fused(index, "rrf", LEXICAL, DENSE) == pytest.approx(expected)
    assert rrf([LEXICAL], np.asarray([3, 1])).tolist() == pytest.approx([2 / 63, 2 / 61])


def test_one_view_alone_keeps_its_own_scores(index: UnitIndex) -> None:
    assert fused(index, "lexical_only", LEXICAL) == [4, 8, 0, 2]
    assert fused(index, "dense_only", DENSE) == pytest.approx([0, 0.3, 0.9, 0])


def test_without_views_nothing_has_a_score(index: UnitIndex) -> None:
    for fusion in ("weighted_sum", "sum", "rrf", "lexical_only"):
        assert fused(index, fusion) == [0, 0, 0, 0]
