"""The two similarities, against their definitions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.bank import EmbedderInfo, MemoryUnit
from memgene.engine.linking.dense import DenseScores
from memgene.engine.linking.frame import SQUARE, Frame, calibrate
from memgene.engine.linking.keywords import keywords
from memgene.engine.linking.nearest import Nearest, Scorer
from memgene.engine.linking.runs import Runs
from memgene.engine.linking.settings import LinkSettings
from memgene.engine.linking.sparse import SparseScores
from memgene.retrieval.growable import Column

WORDS = ["tea", "boat", "roof", "opera", "canoe", "lake"]


def scored(scorer: Scorer, rows: Sequence[int], most: int | None = None) -> dict:
    found = {}
    for _, pairs in scorer.pairs(np.asarray(rows, np.int64), most):
        sides = zip(pairs.rows.tolist(), pairs.others.tolist(), pairs.scores.tolist(), strict=True)
        found.update({(row, other): score for row, other, score in sides})
    return found


def together(one: str | None, two: str | None) -> bool:
    return one == two or one is None or two is None


# -- dense


def dense(vectors: np.ndarray, threshold: float, runs: list[str | None]) -> DenseScores:
    info = EmbedderInfo("test", vectors.shape[1])
    frame = Frame(1, np.zeros(1, np.uint16), info, False, np.zeros(vectors.shape[1], np.float32))
    known = Runs()
    known.append(runs)
    scorer = DenseScores(vectors.shape[1], threshold, known)
    scorer.append(frame.grid(vectors))
    return scorer


@given(seed=st.integers(0, 10**6), steps=st.lists(st.integers(1, 90), min_size=1, max_size=5))
def test_dense_rows_that_come_and_go_score_as_if_handed_in_at_once(
    seed: int, steps: list[int]
) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(sum(steps), 6)).astype(np.float32)
    grown = dense(vectors[: steps[0]], 0.3, [None] * len(vectors))
    whole = dense(vectors, 0.3, [None] * len(vectors))
    grid, size = whole.grid.copy(), steps[0]
    for more in steps[1:]:
        scored(grown, range(size))
        gone = np.asarray([int(rng.integers(size))])
        grown.remove(gone)
        whole.remove(gone)
        grown.append(grid[size : size + more])
        size += more
    assert scored(grown, range(size)) == scored(whole, range(size))


@given(seed=st.integers(0, 10**6), many=st.integers(1, 30))
def test_dense_pairs_are_those_at_the_threshold_that_one_reader_sees(seed: int, many: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(many, 6)).astype(np.float32)
    runs = [[None, "a", "b"][number] for number in rng.integers(0, 3, many)]
    scorer = dense(vectors, 0.3, runs)
    grid = scorer.grid.astype(np.int64)
    expected = {
        (a, b): int(grid[a] @ grid[b]) / SQUARE
        for a, b in permutations(range(many), 2)
        if grid[a] @ grid[b] >= 0.3 * SQUARE and together(runs[a], runs[b])
    }
    assert scored(scorer, range(many)) == expected


def test_leaving_out_what_cannot_be_among_the_best_loses_none_of_them() -> None:
    """Over 320 rows, more than 5 chunks, some of them equal: lists are the same with the cut."""
    rng = np.random.default_rng(3)
    vectors = np.repeat(rng.normal(size=(180, 6)), 4, axis=0).astype(np.float32)
    scorer = dense(vectors, 0.1, [None] * 720)
    every, seq = np.arange(720), np.arange(720)
    cut, whole = Nearest(5), Nearest(5)
    for lists, most in ((cut, 5), (whole, 720)):
        lists.grow(720)

        class Cut:
            def pairs(self, rows: np.ndarray, _: int | None, most: int = most):
                return scorer.pairs(rows, most)

        lists.build(every, seq, Cut(), lambda _: None)
    assert np.array_equal(cut.others, whole.others)
    assert len(scored(scorer, range(720), 5)) < len(scored(scorer, range(720))) / 2


def test_a_removed_row_is_near_to_nothing() -> None:
    vectors = np.ones((3, 4), np.float32)
    scorer = dense(vectors, 0.5, [None] * 3)
    scorer.remove(np.array([1]))
    assert scored(scorer, [0, 1, 2]) == {(0, 2): 1.0, (2, 0): 1.0}


# -- sparse


class Told:
    """Documents and a scorer over them, with word weights of 1,000·ln(1 + N/½) each: equal."""

    def __init__(self, documents: list[list[str]], **settings: float) -> None:
        self.settings = LinkSettings(**settings)  # type: ignore[arg-type]
        frame = calibrate([], None, None, self.settings, centred=False)
        self.alive: Column[np.bool_] = Column(np.bool_)
        self.runs = Runs()
        self.scorer = SparseScores(frame, self.settings, self.alive, self.runs)
        self.add(documents)

    def add(self, documents: list[list[str]], run: str | None = None) -> list[int]:
        first = len(self.alive.values)
        self.alive.extend([True] * len(documents))
        self.runs.append([run] * len(documents))
        self.scorer.append(documents)
        return self.scorer.settle(np.arange(first, first + len(documents))).tolist()

    def remove(self, row: int) -> list[int]:
        self.alive.values[row] = False
        self.scorer.remove(np.array([row]))
        return self.scorer.settle(np.array([row])).tolist()

    def pairs(self) -> dict:
        return scored(self.scorer, np.flatnonzero(self.alive.values).tolist())


def test_jaccard_by_hand() -> None:
    """Two of four words in common: 2/4. One word in common is too few, whatever the share."""
    told = Told([["tea", "boat", "roof"], ["tea", "boat", "opera"], ["tea"], ["lake"]])
    assert told.pairs() == {(0, 1): 0.5, (1, 0): 0.5}


def test_rare_words_weigh_more() -> None:
    """Weights 357 (`tea`) and 1204 (`boat`, `roof`, `opera`) as in the frame of these units."""
    documents = [["tea", "boat"], ["tea"], ["tea", "roof"], ["opera"]]
    settings = LinkSettings(sparse_shared=1)
    frame = calibrate(documents, None, None, settings, centred=False)
    alive: Column[np.bool_] = Column(np.bool_)
    alive.extend([True] * 4)
    runs = Runs()
    runs.append([None] * 4)
    scorer = SparseScores(frame, settings, alive, runs)
    scorer.append(documents)
    scorer.settle(np.arange(4))
    found = scored(scorer, range(4))
    assert found == {
        (a, b): pytest.approx(357 / (1204 + 357)) for a, b in ((0, 1), (1, 0), (1, 2), (2, 1))
    }


def test_a_word_of_too_many_units_is_no_keyword_until_they_are_fewer() -> None:
    told = Told([["tea", "boat", "roof"], ["tea", "boat", "lake"]], sparse_most=2)
    assert told.pairs() == {(0, 1): 0.5, (1, 0): 0.5}
    assert told.add([["tea"]]) == [0, 1, 2]
    assert told.pairs() == {}
    assert told.remove(2) == [0, 1]
    assert told.pairs() == {(0, 1): 0.5, (1, 0): 0.5}


def test_settling_tells_only_whose_coefficients_change() -> None:
    told = Told([["tea", "boat"], ["lake", "opera"]], sparse_most=1)
    assert told.add([["tea", "roof"]]) == [0, 2]
    assert told.add([["canoe"]]) == [3]


documents = st.lists(st.sampled_from(WORDS), unique=True, max_size=5)


@given(told=st.lists(documents, min_size=1, max_size=12), most=st.integers(1, 6), gone=st.data())
def test_sparse_pairs_are_those_of_the_definition(
    told: list[list[str]], most: int, gone: st.DataObject
) -> None:
    made = Told(told, sparse_most=most)
    living = set(range(len(told)))
    for row in gone.draw(st.lists(st.sampled_from(sorted(living)), unique=True, max_size=4)):
        made.remove(row)
        living.discard(row)
    held = {w for w in WORDS if sum(w in told[row] for row in living) <= most}
    words = {row: held & set(told[row]) for row in living}
    expected = {
        (a, b): len(words[a] & words[b]) / len(words[a] | words[b])
        for a, b in permutations(sorted(living), 2)
        if len(words[a] & words[b]) >= 2
        and len(words[a] & words[b]) >= 0.2 * len(words[a] | words[b])
    }
    assert made.pairs() == expected


def test_units_of_two_runs_share_nothing() -> None:
    told = Told([["tea", "boat"]])
    told.add([["tea", "boat"]], run="a")
    told.add([["tea", "boat"]], run="b")
    assert told.pairs().keys() == {(0, 1), (1, 0), (0, 2), (2, 0)}


def test_keywords_are_what_was_said_and_its_labels() -> None:
    unit = MemoryUnit(
        "I was sailing, and we sailed to the lake",
        speaker="Anna",
        keywords=("boats",),
        topics=("a sail",),
        entities=("Lake Como",),
    )
    assert keywords(unit) == ["sail", "lake", "boat", "como"]
