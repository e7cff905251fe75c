"""Signals: how well a unit, its window, its source fit a question; worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from memgene.embed.hashing import HashingEmbedder
from memgene.embed.static import StaticEmbedder
from memgene.retrieval.bm25 import bm25, source_bm25
from memgene.retrieval.index import NONE, UnitIndex
from memgene.retrieval.query import analyse
from memgene.retrieval.signals import DENSE_SIGNALS, WORD_SIGNALS, Signals
from memgene.retrieval.soft import SoftMatcher

Make = Callable[..., UnitIndex]
MakeSignals = Callable[..., Signals]


class HandVectors:
    """Words in the plane, by their angle in degrees; others have no vector."""

    dimension = 2

    def __init__(self, angles: Mapping[str, float]) -> None:
        self.angles = angles

    def words(self, words: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(words), 2), np.float32)
        for row, word in zip(rows, words, strict=True):
            if word in self.angles:
                angle = math.radians(self.angles[word])
                row[:] = math.cos(angle), math.sin(angle)
        return rows


VECTORS = HandVectors({"boat": 0, "ship": 20, "canoe": 40, "tree": 90, "oak": 100})
COS20, COS40 = math.cos(math.radians(20)), math.cos(math.radians(40))


def weight(many: int, holders: int) -> float:
    return math.log(1 + (many - holders + 0.5) / (holders + 0.5))


def test_coverage_is_the_share_of_the_idf_that_occurs(
    index_of: Make, signals_of: MakeSignals
) -> None:
    index = index_of("a red boat", "a red car", "a cup")
    red, boat = weight(3, 2), weight(3, 1)
    covered = signals_of(index, "red boat").full("coverage")
    assert covered.tolist() == pytest.approx([1.0, red / (red + boat), 0.0])
    unknown = weight(3, 0)
    covered = signals_of(index, "red zeppelin").full("coverage")
    assert covered.tolist() == pytest.approx([red / (red + unknown)] * 2 + [0.0])


def test_prefix_covers_words_with_the_same_first_four_characters(
    index_of: Make, signals_of: MakeSignals
) -> None:
    index = index_of("a gardener", "a garden", "a garland", "red")
    gardening, red = weight(4, 2), weight(4, 1)
    assert index.postings.term("garden") is not None
    # "red" is too short to be a prefix and leaves the sum
    covered = signals_of(index, "red gardening").full("prefix")
    assert covered.tolist() == pytest.approx([1.0, 1.0, 0.0, 0.0])
    whole = signals_of(index, "red gardening").full("coverage")
    assert whole[0] == pytest.approx(gardening / (gardening + red))


def test_soft_match_takes_the_best_word_of_the_unit(
    index_of: Make, signals_of: MakeSignals
) -> None:
    index = index_of("a canoe and a ship", "a canoe", "an oak", "a boat")
    soft = signals_of(index, "boat", words=VECTORS).full("soft")
    assert soft.tolist() == pytest.approx([COS20, COS40, 0, 1], abs=1e-6)


def test_soft_match_weighs_the_words_by_idf(index_of: Make, signals_of: MakeSignals) -> None:
    index = index_of("a ship", "an oak and a ship", "tea", "tea")
    boat = tree = weight(4, 0)
    soft = signals_of(index, "boat tree", words=VECTORS).full("soft")
    oak = math.cos(math.radians(10))
    assert soft[0] == pytest.approx(boat * COS20 / (boat + tree), abs=1e-6)
    assert soft[1] == pytest.approx((boat * COS20 + tree * oak) / (boat + tree), abs=1e-6)


def test_an_equal_stem_matches_without_a_vector(index_of: Make, signals_of: MakeSignals) -> None:
    index = index_of("the zorbs", "a tree")
    soft = signals_of(index, "zorb", words=VECTORS).full("soft")
    assert soft.tolist() == pytest.approx([1.0, 0.0])


def test_the_soft_matcher_follows_a_growing_vocabulary(
    index_of: Make,
    units_of: Callable[..., list],  # type: ignore[type-arg]
) -> None:
    matcher = SoftMatcher(VECTORS)
    index = index_of("a canoe")
    terms = analyse("boat", index).terms
    assert matcher.scores(index, terms).tolist() == pytest.approx([COS40], abs=1e-6)
    index.append(units_of("x", "a ship")[1:])
    assert matcher.scores(index, terms).tolist() == pytest.approx([COS40, COS20], abs=1e-6)


def test_nothing_to_look_for_matches_nothing(index_of: Make, signals_of: MakeSignals) -> None:
    index = index_of("a boat", "a tree")
    signals = signals_of(index, "What is it?", words=VECTORS)
    for name in WORD_SIGNALS:
        assert signals.full(name).tolist() == [0.0, 0.0], name


def test_bm25_signals_are_bm25_with_and_without_names_and_windows(
    index_of: Make, signals_of: MakeSignals
) -> None:
    index = index_of("Anna: boat", "Ben: sail", "Anna: red boat", "Ben: oars", "Anna: tea")
    signals = signals_of(index, "Which boat does Anna sail?")
    query = signals.query
    bare, full = query.content(names=False), query.content(names=True)
    assert len(full) == len(bare) + 1
    expected = {
        "bm25": bm25(index, bare),
        "bm25_names": bm25(index, full),
        "window1": bm25(index, bare, offsets=(-1, 0, 1)),
        "window1_names": bm25(index, full, offsets=(-1, 0, 1)),
        "window2": bm25(index, bare, offsets=(-2, -1, 0, 1, 2)),
        "with_previous": bm25(index, bare, offsets=(-1, 0)),
        "with_next": bm25(index, bare, offsets=(0, 1)),
        "episode": source_bm25(index, bare),
    }
    for name, scores in expected.items():
        assert signals.full(name).tolist() == pytest.approx(scores.tolist()), name


def test_dense_signals_are_cosines_with_the_question_with_and_without_names(
    index_of: Make, signals_of: MakeSignals
) -> None:
    embedder = HashingEmbedder(512)
    index = index_of("Anna: red boat", "Ben: red car")
    signals = signals_of(index, "Anna red boat", embedder=embedder)
    rows = np.asarray([0, 1])
    # three words of three; of two: "red boat" against "anna red boat"
    assert signals.at("dense_question", rows).tolist() == pytest.approx([1.0, 1 / 3])
    assert signals.at("dense", rows).tolist() == pytest.approx([2 / 6**0.5, 1 / 6**0.5])


def test_what_an_index_lacks_it_does_not_name(
    index_of: Make, signals_of: MakeSignals, static: StaticEmbedder
) -> None:
    index = index_of("a boat")
    bare = signals_of(index, "boat").names
    assert set(bare) == set(WORD_SIGNALS) - {"soft"}
    rich = signals_of(index, "boat", embedder=static, words=static).names
    assert set(rich) == {*WORD_SIGNALS, *DENSE_SIGNALS}
    assert len(rich) == len(set(rich))


def test_a_removed_row_and_a_missing_neighbour_have_no_signal(
    index_of: Make, signals_of: MakeSignals, static: StaticEmbedder
) -> None:
    index = index_of("a red boat", "a red boat", "a red boat")
    index.remove("u2")
    signals = signals_of(index, "red boats", embedder=static, words=static)
    for name in signals.names:
        first, gone, missing = signals.at(name, np.asarray([0, 1, NONE])).tolist()
        assert (gone, missing) == (0, 0), name
        assert first > 0 or name in DENSE_SIGNALS, name


def test_the_table_of_all_signals_is_what_each_gives(
    index_of: Make, signals_of: MakeSignals, static: StaticEmbedder
) -> None:
    index = index_of("a red boat", "Anna: a ship", "a red boat", "a roof")
    index.remove("u3")
    signals = signals_of(index, "Which red boats has Anna?", embedder=static, words=static)
    rows = np.asarray([[0, 1], [2, NONE], [3, 0]])
    table = signals.table(rows)
    assert table.shape == (len(signals.names), 3, 2)
    for name, values in zip(signals.names, table, strict=True):
        expected = np.stack([signals.at(name, pair) for pair in rows])
        np.testing.assert_allclose(values, expected, rtol=1e-6, err_msg=name)
