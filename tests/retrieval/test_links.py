"""Neighbours along edges in time: both directions, each once, read when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from memgene.bank.protocol import Relation, RelationKind
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.links import TimeLinks

Make = Callable[..., UnitIndex]


class Edges:
    """Edges by the units' numbers, and what was asked for."""

    def __init__(self, *pairs: tuple[str, str]) -> None:
        self.pairs = pairs
        self.asked: list[list[str]] = []

    def __call__(self, ids: Sequence[str]) -> list[Relation]:
        self.asked.append(list(ids))
        return [
            Relation(RelationKind.TIME, a, b) for a, b in self.pairs if {a, b}.intersection(ids)
        ]


@pytest.fixture
def index(index_of: Make) -> UnitIndex:
    return index_of("one", "two", "three", "four")


def around(links: TimeLinks, *rows: int) -> list[int]:
    return links.around(np.array(rows, np.int64)).tolist()


def test_neighbours_lie_before_and_after(index: UnitIndex) -> None:
    links = TimeLinks(index, Edges(("u1", "u2"), ("u2", "u3"), ("u2", "u3")))
    assert around(links, 1) == [0, 2]
    assert around(links, 0, 2) == [1]
    assert around(links, 3) == []
    assert around(links) == []


def test_ends_that_are_not_there_are_left_out(index: UnitIndex) -> None:
    index.remove("u1")
    links = TimeLinks(index, Edges(("u1", "u2"), ("u2", "elsewhere"), ("u2", "u4")))
    assert around(links, 1) == [3]


def test_each_row_is_asked_for_once_until_the_memory_changes(index: UnitIndex) -> None:
    edges = Edges(("u1", "u2"))
    links = TimeLinks(index, edges)
    around(links, 0, 1)
    around(links, 1, 2)
    assert edges.asked == [["u1", "u2"], ["u3"]]
    edges.pairs = (("u1", "u4"),)
    assert around(links, 0) == [1]
    links.forget(index)
    assert around(links, 0) == [3]
