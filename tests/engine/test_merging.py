"""Several rankings as one: reciprocal rank fusion, told from the ranking that placed a hit best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.core import Why
from memgene.engine.merging import MergedRanking, merge
from memgene.retrieval.retriever import Ranking


@dataclass(frozen=True)
class Listed:
    """A ranking of rows that explains each place by its own number."""

    rows: np.ndarray
    number: int

    def explain(self, places: int) -> list[Why]:
        return [Why(fused=9.0, factors={"list": self.number, "place": p}) for p in range(places)]


def merged(*lists: Sequence[int], seq: Sequence[int] | None = None) -> MergedRanking:
    rankings = [Listed(np.array(rows, np.int64), n) for n, rows in enumerate(lists)]
    order = np.arange(100) if seq is None else np.array(seq)
    return merge(cast("list[Ranking]", rankings), order)


def test_the_merged_score_is_the_sum_of_reciprocal_ranks() -> None:
    found = merged([7, 3, 5], [3, 8])
    assert found.rows.tolist() == [3, 7, 8, 5]
    by_hand = [1 / 62 + 1 / 61, 1 / 61, 1 / 62, 1 / 63]
    assert found.fused.tolist() == pytest.approx(by_hand)


def test_scores_lie_between_zero_and_one_as_those_of_any_ranking() -> None:
    found = merged([7, 3, 5], [3, 8])
    assert (found.scores[0], found.scores[-1]) == (1, 0)
    assert found.scores[1] == pytest.approx(
        (1 / 61 - 1 / 63) / (1 / 62 + 1 / 61 - 1 / 63), rel=1e-4
    )
    assert merged([7], [7]).scores.tolist() == [1]
    assert merged([7], [8]).scores.tolist() == [1, 1]
    assert merged([], []).rows.tolist() == []


def test_ties_break_by_insertion_order() -> None:
    assert merged([1, 0], [0, 1]).rows.tolist() == [0, 1]
    assert merged([1, 0], [0, 1], seq=[9, 4]).rows.tolist() == [1, 0]


def test_a_hit_is_explained_where_it_stood_best_and_earliest() -> None:
    found = merged([7, 3, 5], [3, 8], [5, 7])
    told = dict(zip(found.rows.tolist(), found.explain(9), strict=True))
    stood = {
        row: (why.factors["sub_query"], why.factors["list"], why.factors["place"])
        for row, why in told.items()
    }
    assert stood == {7: (0, 0, 0), 3: (1, 1, 0), 8: (1, 1, 1), 5: (2, 2, 0)}
    assert told[7].fused == pytest.approx(1 / 61 + 1 / 62, abs=1e-6)


def test_only_the_first_places_are_explained() -> None:
    found = merged([7, 3, 5], [3, 8])
    assert [why.factors["place"] for why in found.explain(2)] == [0, 0]
    assert found.explain(0) == []


@given(st.lists(st.lists(st.integers(0, 30), unique=True, max_size=12), min_size=1, max_size=5))
def test_every_row_is_there_once_and_scores_fall(lists: list[list[int]]) -> None:
    found = merged(*lists)
    rows = found.rows.tolist()
    assert sorted(rows) == sorted({row for rows in lists for row in rows})
    sums = {row: sum(1 / (61 + x.index(row)) for x in lists if row in x) for row in rows}
    assert found.fused.tolist() == pytest.approx([sums[row] for row in rows])
    assert found.fused.tolist() == sorted(found.fused.tolist(), reverse=True)
    assert len(found.explain(len(rows))) == len(rows)
