"""Vector search against a brute-force reference in float64."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from memgene.core.errors import InputError, MissingDependencyError
from memgene.retrieval import vector_index
from memgene.retrieval.vector_index import (
    HNSW_ROWS,
    ExactIndex,
    HnswIndex,
    VectorIndex,
    make_index,
)


def unit(matrix: np.ndarray) -> np.ndarray:
    rows = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return rows.astype(np.float32)


def reference(
    matrix: np.ndarray, query: np.ndarray, limit: int, findable: np.ndarray
) -> tuple[list[int], list[float]]:
    """The best findable rows, sorted in Python by (−score, row)."""
    scores = matrix.astype(np.float64) @ query.astype(np.float64)
    best = sorted(np.flatnonzero(findable), key=lambda row: (-scores[row], row))[:limit]
    return [int(row) for row in best], [float(scores[row]) for row in best]


def filled(matrix: np.ndarray) -> ExactIndex:
    index = ExactIndex(matrix.shape[1])
    index.append(matrix)
    return index


@pytest.fixture(params=[ExactIndex, HnswIndex])
def index(request: pytest.FixtureRequest) -> VectorIndex:
    """An empty index of either kind, three numbers a row."""
    if request.param is HnswIndex:
        pytest.importorskip("usearch")
    return request.param(3)  # type: ignore[no-any-return]


ROWS = np.array([[1, 0, 0], [0, 1, 0], [0.6, 0.8, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32)
QUERY = np.array([0.6, 0.8, 0], dtype=np.float32)


def test_the_best_rows_come_first_and_equal_scores_by_row(index: VectorIndex) -> None:
    index.append(ROWS)
    rows, scores = index.search(QUERY, 4)
    assert rows.tolist() == [2, 1, 3, 0]
    np.testing.assert_allclose(scores, [1.0, 0.8, 0.8, 0.6], rtol=1e-6)
    assert (rows.dtype, scores.dtype) == (np.int64, np.float32)


def test_a_limit_beyond_the_rows_gives_all(index: VectorIndex) -> None:
    index.append(ROWS)
    assert index.search(QUERY, 99)[0].tolist() == [2, 1, 3, 0, 4]


def test_nothing_is_found_in_an_empty_index_or_with_limit_zero(index: VectorIndex) -> None:
    assert index.search(QUERY, 5)[0].shape == (0,)
    index.append(np.zeros((0, 3), dtype=np.float32))
    assert len(index) == 0
    index.append(ROWS)
    assert index.search(QUERY, 0)[0].shape == (0,)


def test_only_allowed_rows_are_found(index: VectorIndex) -> None:
    index.append(ROWS)
    allowed = np.array([True, False, False, True, True])
    assert index.search(QUERY, 2, allowed)[0].tolist() == [3, 0]
    assert index.search(QUERY, 2, np.zeros(5, dtype=np.bool_))[0].shape == (0,)


def test_a_removed_row_is_erased_and_its_number_not_used_again(index: VectorIndex) -> None:
    index.append(ROWS)
    index.remove(np.array([2, 1]))
    index.remove(np.array([2]))
    index.append(np.array([[0.6, 0.8, 0]], dtype=np.float32))
    assert len(index) == 6
    assert index.search(QUERY, 9)[0].tolist() == [5, 3, 0, 4]
    allowed = np.array([True, True, True, False, False, True])
    assert index.search(QUERY, 9, allowed)[0].tolist() == [5, 0]
    assert index.scores(QUERY)[[1, 2]].tolist() == [0.0, 0.0]


def test_scores_of_all_rows_and_of_some(index: VectorIndex) -> None:
    index.append(ROWS)
    np.testing.assert_allclose(index.scores(QUERY), [0.6, 0.8, 1.0, 0.8, 0.0], rtol=1e-6)
    np.testing.assert_allclose(index.scores_at(QUERY, np.array([4, 2, 2])), [0, 1, 1], rtol=1e-6)
    assert index.scores_at(QUERY, np.zeros(0, dtype=np.int64)).shape == (0,)


def test_what_does_not_fit_is_refused(index: VectorIndex) -> None:
    index.append(ROWS)
    with pytest.raises(InputError, match=r"shape \(m, 3\)"):
        index.append(np.zeros((2, 4), dtype=np.float32))
    with pytest.raises(InputError, match="row 1 of the batch is not finite"):
        index.append(np.array([[0, 0, 0], [np.nan, 0, 0]], dtype=np.float32))
    with pytest.raises(InputError, match=r"query of shape \(3,\)"):
        index.search(np.zeros(4, dtype=np.float32), 1)
    with pytest.raises(InputError, match="not finite"):
        index.search(np.array([np.inf, 0, 0], dtype=np.float32), 1)
    with pytest.raises(InputError, match="the mask has shape"):
        index.search(QUERY, 1, np.ones(4, dtype=np.bool_))
    with pytest.raises(InputError, match="limit must be 0 or more"):
        index.search(QUERY, -1)
    with pytest.raises(InputError, match="0 … 4"):
        index.remove(np.array([5]))
    assert len(index) == 5


@st.composite
def searches(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int, np.ndarray, list[int]]:
    """Small whole numbers, so that products are exact and ties are common."""
    n, d = draw(st.integers(0, 40)), draw(st.integers(1, 6))
    numbers = st.integers(-3, 3)
    matrix = draw(hnp.arrays(np.float32, (n, d), elements=numbers))
    query = draw(hnp.arrays(np.float32, d, elements=numbers))
    allowed = draw(hnp.arrays(np.bool_, n))
    removed = draw(st.lists(st.integers(0, n - 1), max_size=8)) if n else []
    return matrix, query, draw(st.integers(0, 45)), allowed, removed


@given(searches(), st.booleans(), st.sampled_from([5, vector_index._BOUND_ROWS]))
def test_exact_search_is_the_brute_force_answer(
    case: tuple[np.ndarray, np.ndarray, int, np.ndarray, list[int]], masked: bool, bound_rows: int
) -> None:
    matrix, query, limit, allowed, removed = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_index, "_BOUND_ROWS", bound_rows)
        index = filled(matrix[:20])
        index.append(matrix[20:])
    index.remove(np.array(removed, dtype=np.int64))
    findable = allowed.copy() if masked else np.ones(len(matrix), dtype=np.bool_)
    findable[removed] = False
    rows, scores = index.search(query, limit, allowed if masked else None)
    expected_rows, expected_scores = reference(matrix, query, limit, findable)
    assert rows.tolist() == expected_rows
    assert scores.tolist() == expected_scores


@pytest.mark.parametrize("share", [None, 0.5, 0.02])
def test_exact_search_over_many_real_vectors(share: float | None) -> None:
    rng = np.random.default_rng(5)
    matrix, query = unit(rng.normal(size=(5000, 64))), unit(rng.normal(size=(1, 64)))[0]
    allowed = None if share is None else rng.random(5000) < share
    findable = np.ones(5000, dtype=np.bool_) if allowed is None else allowed
    rows, scores = filled(matrix).search(query, 60, allowed)
    expected_rows, expected_scores = reference(matrix, query, 60, findable)
    assert rows.tolist() == expected_rows
    np.testing.assert_allclose(scores, expected_scores, atol=1e-6)


def test_equal_rows_tie_wherever_they_stand() -> None:
    rng = np.random.default_rng(6)
    matrix = unit(rng.normal(size=(1003, 37)))
    twins = [0, 1, 499, 500, 998, 1001, 1002]
    matrix[twins] = matrix[0]
    rows, scores = filled(matrix).search(matrix[0], 10)
    assert rows[:7].tolist() == twins
    assert len(set(scores[:7].tolist())) == 1


def test_ties_across_the_limit_keep_the_first_rows() -> None:
    matrix = np.tile(unit(np.random.default_rng(7).normal(size=(1, 37))), (503, 1))
    assert filled(matrix).search(matrix[0], 5)[0].tolist() == [0, 1, 2, 3, 4]


def decaying(rng: np.random.Generator, n: int, dimension: int = 40) -> np.ndarray:
    """Rows whose coordinates shrink, turned into a random basis: the bound can tell them apart."""
    turned = np.linalg.qr(rng.normal(size=(dimension, dimension)))[0]
    return unit(rng.normal(size=(n, dimension)) * 0.85 ** np.arange(dimension) @ turned)


@pytest.mark.parametrize("masked", [False, True])
def test_the_bound_rules_out_rows_and_changes_no_answer(
    monkeypatch: pytest.MonkeyPatch, masked: bool
) -> None:
    monkeypatch.setattr(vector_index, "_BOUND_ROWS", 1000)
    rng = np.random.default_rng(11)
    matrix, query = decaying(rng, 4000), decaying(rng, 1)[0]
    index = ExactIndex(40)
    for start in range(0, 4000, 500):
        index.append(matrix[start : start + 500])
    gone = np.arange(0, 4000, 7)
    index.remove(gone)
    allowed = rng.random(4000) < 0.6 if masked else np.ones(4000, dtype=np.bool_)
    findable = allowed.copy()
    findable[gone] = False
    monkeypatch.setattr(ExactIndex, "scores", lambda *_: pytest.fail("scanned every row"))
    rows, _ = index.search(query, 20, allowed if masked else None)
    assert rows.tolist() == reference(matrix, query, 20, findable)[0]


def test_the_bound_of_the_zero_query_rules_out_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_index, "_BOUND_ROWS", 100)
    index = filled(decaying(np.random.default_rng(12), 300))
    assert index.search(np.zeros(40, dtype=np.float32), 3)[0].tolist() == [0, 1, 2]


def test_a_score_does_not_depend_on_the_size_of_the_index() -> None:
    rng = np.random.default_rng(8)
    matrix, query = unit(rng.normal(size=(2000, 50))), unit(rng.normal(size=(1, 50)))[0]
    small, large = filled(matrix[:7]), filled(matrix)
    rows, scores = small.search(query, 7)
    np.testing.assert_array_equal(large.scores_at(query, rows), scores)


def test_rows_of_any_length_are_compared_by_inner_product() -> None:
    index = filled(np.array([[1, 0], [100, 0], [-100, 1]], dtype=np.float32))
    rows, scores = index.search(np.array([2, 0], dtype=np.float32), 3)
    assert rows.tolist() == [1, 0, 2]
    assert scores.tolist() == [200.0, 2.0, -200.0]


@given(st.lists(st.integers(0, 300), max_size=6))
def test_many_appends_are_one_append(sizes: list[int]) -> None:
    matrix = np.arange(2 * sum(sizes), dtype=np.float32).reshape(-1, 2)
    index = ExactIndex(2)
    start = 0
    for size in sizes:
        index.append(matrix[start : start + size])
        start += size
    np.testing.assert_array_equal(index.matrix, matrix)


def test_a_row_needs_a_number() -> None:
    with pytest.raises(InputError, match="at least 1"):
        ExactIndex(0)


# -- HNSW


def clustered(rng: np.random.Generator, n: int, dimension: int = 32) -> np.ndarray:
    """Points around 40 centres, as real embeddings lie, not spread evenly."""
    centres = rng.normal(size=(40, dimension))
    return unit(centres[rng.integers(0, 40, n)] + 0.4 * rng.normal(size=(n, dimension)))


@pytest.fixture(scope="module")
def both() -> tuple[ExactIndex, HnswIndex, np.ndarray]:
    """The same 4,000 rows in both kinds of index, and 50 queries."""
    pytest.importorskip("usearch")
    points = clustered(np.random.default_rng(9), 4050)
    matrix, queries = points[:4000], points[4000:]
    graph = HnswIndex(32)
    graph.append(matrix[:1500])
    graph.append(matrix[1500:])
    return filled(matrix), graph, queries


def recall(
    exact: ExactIndex, graph: HnswIndex, queries: np.ndarray, allowed: np.ndarray | None
) -> float:
    found = 0
    for query in queries:
        true, _ = exact.search(query, 20, allowed)
        found += len(np.intersect1d(true, graph.search(query, 20, allowed)[0]))
    return found / (20 * len(queries))


def test_hnsw_finds_what_exact_search_finds(
    both: tuple[ExactIndex, HnswIndex, np.ndarray],
) -> None:
    assert recall(*both, allowed=None) > 0.97


@pytest.mark.parametrize(("share", "bar"), [(0.5, 0.97), (0.1, 0.95)])
def test_hnsw_finds_enough_under_a_mask(
    both: tuple[ExactIndex, HnswIndex, np.ndarray], share: float, bar: float
) -> None:
    allowed = np.random.default_rng(10).random(4000) < share
    assert recall(*both, allowed=allowed) > bar
    rows, _ = both[1].search(both[2][0], 20, allowed)
    assert len(rows) == 20
    assert allowed[rows].all()


def test_hnsw_is_exact_where_few_rows_are_allowed(
    both: tuple[ExactIndex, HnswIndex, np.ndarray],
) -> None:
    exact, graph, queries = both
    allowed = np.zeros(4000, dtype=np.bool_)
    allowed[[3, 700, 3999]] = True
    for query in queries:
        rows, scores = graph.search(query, 2, allowed)
        true_rows, true_scores = exact.search(query, 2, allowed)
        np.testing.assert_array_equal(rows, true_rows)
        np.testing.assert_array_equal(scores, true_scores)


def test_hnsw_is_exact_when_the_graph_gives_too_few_allowed_rows() -> None:
    """Half the rows are allowed, but the nearest half is not."""
    pytest.importorskip("usearch")
    angles = np.linspace(0, np.pi, 4000)
    matrix = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    graph = HnswIndex(2)
    graph.append(matrix)
    allowed = np.arange(4000) >= 2000
    assert graph.search(matrix[0], 3, allowed)[0].tolist() == [2000, 2001, 2002]


def test_hnsw_scores_are_the_exact_ones(both: tuple[ExactIndex, HnswIndex, np.ndarray]) -> None:
    exact, graph, queries = both
    rows, scores = graph.search(queries[0], 20)
    np.testing.assert_array_equal(scores, exact.scores_at(queries[0], rows))
    assert np.all(np.diff(scores) <= 0)
    np.testing.assert_array_equal(graph.scores(queries[0]), exact.scores(queries[0]))


def test_hnsw_of_bytes_finds_nearly_as_much(
    both: tuple[ExactIndex, HnswIndex, np.ndarray],
) -> None:
    exact, _, queries = both
    graph = HnswIndex(32, dtype="i8")
    graph.append(exact.matrix)
    assert recall(exact, graph, queries, allowed=None) > 0.95


def test_equal_appends_give_equal_answers(both: tuple[ExactIndex, HnswIndex, np.ndarray]) -> None:
    exact, graph, queries = both
    again = HnswIndex(32)
    again.append(exact.matrix[:1500])
    again.append(exact.matrix[1500:])
    for query in queries:
        assert again.search(query, 60)[0].tolist() == graph.search(query, 60)[0].tolist()


# -- choosing


def test_small_indices_are_exact_and_large_ones_hnsw() -> None:
    pytest.importorskip("usearch")
    assert isinstance(make_index(1000, 8), ExactIndex)
    assert isinstance(make_index(HNSW_ROWS, 8), HnswIndex)
    assert isinstance(make_index(10, 8, "hnsw"), HnswIndex)
    assert isinstance(make_index(HNSW_ROWS, 8, "exact"), ExactIndex)


def test_without_usearch_auto_is_exact_and_hnsw_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    assert isinstance(make_index(HNSW_ROWS, 8), ExactIndex)
    with pytest.raises(MissingDependencyError, match=r"memgene\[hnsw\]"):
        make_index(10, 8, "hnsw")


def test_another_preference_is_refused() -> None:
    with pytest.raises(InputError, match="auto, exact or hnsw"):
        make_index(10, 8, "flat")  # type: ignore[arg-type]
