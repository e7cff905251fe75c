"""Values at read time: `(n·Q_c + shrink·Q) / (n + shrink)` for the kind of query, else Q."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from memgene.bank.protocol import Value
from memgene.bank.unit import MemoryUnit
from memgene.retrieval.clusters import QueryClusters
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.values import UnitValues

Make = Callable[..., UnitIndex]
ROWS = np.array([2, 0, 1])


@pytest.fixture
def index(index_of: Make) -> UnitIndex:
    return index_of(MemoryUnit("a"), MemoryUnit("b", utility=0.8), MemoryUnit("c", utility=0.2))


def values(**kinds: tuple[int, float, int]) -> UnitValues:
    """`kind=(row, q, exposures)`."""
    made = UnitValues()
    for kind, (row, q, exposures) in kinds.items():
        made.put(row, [Value(f"u{row}", kind, q, exposures)])
    return made


def test_without_kinds_a_value_is_the_utility(index: UnitIndex) -> None:
    plain = UnitValues()
    assert not plain.conditional
    assert plain.at(ROWS, "", 2.0, index).tolist() == pytest.approx([0.2, 0.5, 0.8])


def test_a_kind_counts_by_its_exposures(index: UnitIndex) -> None:
    found = values(cleaning=(1, 0.1, 3)).at(ROWS, "cleaning", 2.0, index)
    assert found.tolist() == pytest.approx([0.2, 0.5, (3 * 0.1 + 2 * 0.8) / 5])


def test_without_shrinkage_the_kind_alone_counts(index: UnitIndex) -> None:
    assert values(cleaning=(1, 0.1, 1)).at(ROWS, "cleaning", 0.0, index)[2] == pytest.approx(0.1)


def test_a_kind_that_was_never_exposed_says_nothing(index: UnitIndex) -> None:
    for shrink in (0.0, 2.0):
        found = values(cleaning=(1, 0.1, 0)).at(ROWS, "cleaning", shrink, index)
        assert found.tolist() == pytest.approx([0.2, 0.5, 0.8])


def test_another_kind_of_query_sees_the_utility(index: UnitIndex) -> None:
    for kind in ("heating", ""):
        found = values(cleaning=(1, 0.1, 3)).at(ROWS, kind, 2.0, index)
        assert found.tolist() == pytest.approx([0.2, 0.5, 0.8])


def test_the_column_of_the_index_is_not_written_to(index: UnitIndex) -> None:
    values(cleaning=(0, 0.1, 9)).at(np.arange(3), "cleaning", 0.0, index)
    assert index.boost("utility").tolist() == pytest.approx([0.5, 0.8, 0.2])


def test_new_values_of_a_row_replace_the_old_ones(index: UnitIndex) -> None:
    found = values(cleaning=(1, 0.1, 3))
    found.put(1, [Value("u1", "heating", 0.9, 1), Value("u1", "", 0.8, 4)])
    assert found.at(ROWS, "cleaning", 2.0, index)[2] == pytest.approx(0.8)
    assert found.at(ROWS, "heating", 1.0, index)[2] == pytest.approx((0.9 + 0.8) / 2)


def test_the_kind_of_a_query_is_the_nearest_one_known() -> None:
    found = values(x=(0, 0.9, 1))
    found.clusters = QueryClusters(("x", "y"), np.eye(2, dtype=np.float32))
    assert found.kind_of(np.array([0.9, 0.4], np.float32)) == "x"
    assert found.kind_of(np.zeros(2, np.float32)) == ""
    assert UnitValues().kind_of(np.array([0.9, 0.4], np.float32)) == ""
