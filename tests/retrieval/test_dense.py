"""The dense side: raw and centred cosines, the mean, and what is embedded of a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from memgene.embed.hashing import HashingEmbedder
from memgene.embed.static import StaticEmbedder
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.dense import DenseSpace, dense_query
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.query import analyse
from memgene.retrieval.vector_index import HnswIndex

Make = Callable[..., UnitIndex]
HALF = 0.5**0.5


class HandEmbedder:
    """Texts in the plane, by a table."""

    name = "hand"
    dimension = 2

    def __init__(self, table: Mapping[str, tuple[float, float]]) -> None:
        self.table = table

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.asarray([self.table[t] for t in texts], np.float32).reshape(-1, 2)


def space(*vectors: tuple[float, float]) -> DenseSpace:
    dense = DenseSpace(HandEmbedder({"east": (1, 0), "north": (0, 1), "none": (0, 0)}))
    dense.append(np.asarray(vectors, np.float32).reshape(-1, 2))
    return dense


def cosines(dense: DenseSpace, text: str, centred: bool, rows: Sequence[int]) -> list[float]:
    return dense.cosine(text, centred, np.asarray(rows)).tolist()


def test_raw_cosines_and_search() -> None:
    dense = space((1, 0), (0.6, 0.8), (0, 1))
    assert cosines(dense, "east", False, [2, 1, 0]) == pytest.approx([0, 0.6, 1])
    rows, scores = dense.search("north", False, 2, None)
    assert (rows.tolist(), scores.tolist()) == ([2, 1], pytest.approx([1, 0.8]))
    allowed = np.asarray([True, True, False])
    assert dense.search("north", False, 2, allowed)[0].tolist() == [1, 0]


def test_centring_subtracts_the_mean_and_scales_again() -> None:
    dense = space((1, 0), (0, 1))
    # mean (½, ½): the rows become (½, −½) and (−½, ½), as does the question's vector
    assert cosines(dense, "east", True, [0, 1]) == pytest.approx([1, -1])
    assert dense.search("east", True, 5, None)[0].tolist() == [0, 1]


def test_the_mean_is_that_of_the_first_power_of_two_rows() -> None:
    dense = space((1, 0), (0, 1), (-1, 0))
    # three rows: the mean of the first two, (½, ½); the third becomes (−1.5, −½)
    third = (-1.5 * 0.5 + 0.5 * 0.5) / (2.5**0.5 * HALF)
    assert cosines(dense, "east", True, [0, 1, 2]) == pytest.approx([1, -1, third])
    dense.append(np.asarray([(0, -1)], np.float32))
    # four rows: their mean is 0
    assert cosines(dense, "east", True, [0, 1, 2, 3]) == pytest.approx([1, 0, -1, 0])


def test_a_vector_of_zero_stays_zero() -> None:
    dense = space((1, 0), (0, 1), (0, 0), (1, 0))
    assert cosines(dense, "east", True, [2]) == [0]
    assert cosines(dense, "none", True, [0, 1]) == [0, 0]
    assert cosines(dense, "east", False, [2]) == [0]


def test_a_removed_row_is_neither_found_nor_part_of_the_mean() -> None:
    dense, without = space((0.8, 0.6), (1, 0), (0, 1)), space((1, 0), (0, 1))
    expected = pytest.approx(cosines(without, "east", True, [0, 1]))
    assert cosines(dense, "east", True, [1, 2]) != expected
    dense.remove(0)
    assert cosines(dense, "east", True, [1, 2]) == expected
    for centred in (True, False):
        assert dense.search("east", centred, 5, None)[0].tolist() == [1, 2]
        assert cosines(dense, "east", centred, [0]) == [0]


def test_a_space_that_grew_between_searches_equals_one_made_at_once() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(600, 2)).astype(np.float32)
    grown = space()
    for at in (0, 1, 3, 7, 100, 300, 590):
        grown.append(vectors[len(grown) : at + 10])
        for centred in (True, False):
            grown.search("east", centred, 3, None)
    made = space()
    made.append(vectors[: len(grown)])
    everything = np.arange(len(made))
    for centred in (True, False):
        np.testing.assert_allclose(
            grown.cosine("east", centred, everything), made.cosine("east", centred, everything)
        )


def test_an_empty_space_finds_nothing() -> None:
    dense = space()
    assert len(dense) == 0
    assert dense.search("east", False, 5, None)[0].tolist() == []


def test_a_space_whose_rows_are_all_removed_finds_nothing() -> None:
    dense = space((1, 0), (0, 1))
    for row in (0, 1):
        dense.remove(row)
    for centred in (False, True):
        assert dense.search("east", centred, 5, None)[0].tolist() == []
        assert cosines(dense, "east", centred, [0, 1]) == [0, 0]


def test_diversity_looks_at_centred_vectors_of_static_embedders_only(
    static: StaticEmbedder,
) -> None:
    raw = space((1, 0), (0, 1))
    assert raw.rows(np.asarray([0])).tolist() == [[1, 0]]
    dense = DenseSpace(static)
    dense.append(static.embed(["a red boat", "a blue cup"]))
    first, second = dense.rows(np.asarray([0, 1]))
    assert float(first @ second) == pytest.approx(-1, abs=1e-5)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "Which boat did buy?"),
        ({"dense_drop_names": False}, "Which boat did Anna buy?"),
        ({"dense_content_words": "on"}, "boat buy"),
        ({"dense_content_words": "on", "dense_drop_names": False}, "boat anna buy"),
    ],
)
def test_what_is_embedded_of_a_question(
    index_of: Make, changes: dict[str, object], text: str
) -> None:
    index = index_of("Anna: Hello.")
    query = analyse("Which boat did Anna buy?", index)
    config = RetrievalConfig(**changes)  # type: ignore[arg-type]
    assert dense_query(query, config, DenseSpace(HashingEmbedder()))[0] == text


@pytest.mark.parametrize("switch", ["auto", "on", "off"])
def test_auto_means_on_for_static_embedders(
    index_of: Make, static: StaticEmbedder, switch: str
) -> None:
    query = analyse("Which boat is it?", index_of("Hello."))
    config = RetrievalConfig(dense_center=switch, dense_content_words=switch)
    for embedder, is_static in ((static, True), (HashingEmbedder(), False)):
        on = is_static if switch == "auto" else switch == "on"
        expected = ("boat", True) if on else ("Which boat is it?", False)
        assert dense_query(query, config, DenseSpace(embedder)) == expected


def test_a_large_space_is_searched_in_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("usearch", reason="the extra hnsw is not installed")
    plain = space((1, 0), (0.6, 0.8), (0, 1))
    monkeypatch.setattr("memgene.retrieval.vector_index.HNSW_ROWS", 2)
    made: list[type] = []
    make = HnswIndex.__init__

    def spy(index: HnswIndex, dimension: int) -> None:
        made.append(type(index))
        make(index, dimension)

    monkeypatch.setattr(HnswIndex, "__init__", spy)
    large = space((1, 0), (0.6, 0.8), (0, 1))
    found, expected = (d.search("north", False, 2, None) for d in (large, plain))
    assert found[0].tolist() == expected[0].tolist()
    assert HnswIndex in made
