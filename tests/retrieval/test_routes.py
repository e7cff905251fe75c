"""The two routes: S(m; P) = Σ_a (w_a/N_a) Σ_i 1/(60 + rank_{a,i}) + λ_Q/(60 + rank_Q), worked out
by hand and by a slow implementation that shares no code with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.bank import MemoryUnit, SqliteBank
from memgene.bank.protocol import Filter, Relation, RelationKind, Value
from memgene.core import Hit, InputError
from memgene.embed.hashing import HashingEmbedder
from memgene.engine import MemoryEngine
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.router.observation import SelfRouting
from memgene.retrieval.routes import PoolRanks, RouteSearch, ranks_in, route_terms, value_ranks

NAN = float("nan")
ROUTES = RetrievalConfig(
    fusion="q_rrf",
    route_pool=5,
    utility_weight=0,
    max_df=1,
    dense_drop_names=False,
    lexical_drop_names=False,
)
EVEN = np.array([0.5, 0.5])


def floats(*values: float) -> np.ndarray:
    return np.asarray(values, np.float32)


def searched(route: str, *scores: float) -> PoolRanks:
    """A search that scores rows 0, 1, 2 … like this, over a pool of these rows."""
    known, rows = floats(*scores), np.arange(len(scores))
    search = RouteSearch(route, route, rows, known, lambda some: known[some])
    return PoolRanks.of(search, rows, rows)


# -- ranks


def test_ranks_count_from_1_and_equal_scores_follow_the_order_of_insertion() -> None:
    assert ranks_in(floats(0.2, 0.9, 0.9, 0.1), np.arange(4)).tolist() == [3, 1, 2, 4]
    assert ranks_in(floats(0.2, 0.9, 0.9, 0.1), np.array([0, 2, 1, 3])).tolist() == [3, 2, 1, 4]


def test_what_a_route_cannot_score_shares_its_last_rank() -> None:
    assert ranks_in(floats(NAN, 0.9, NAN, -0.1), np.arange(4)).tolist() == [4, 1, 4, 2]
    assert ranks_in(floats(NAN, NAN), np.arange(2)).tolist() == [2, 2]


def test_equal_values_share_a_dense_rank() -> None:
    assert value_ranks(floats(0.5, 0.9, 0.5, 0.1, 0.9)).tolist() == [2, 1, 2, 3, 1]
    assert value_ranks(floats(0.5, 0.5)).tolist() == [1, 1]


def test_the_searches_of_a_route_count_as_their_mean() -> None:
    ranked = [
        searched("dense", 0.9, 0.5), searched("dense", 0.1, 0.4), searched("sparse", 2.0, NAN),
    ]  # fmt: skip
    terms = route_terms(ranked, 2)
    both = (1 / 61 + 1 / 62) / 2  # first in one, second in the other
    assert terms == pytest.approx(np.array([[both, 1 / 61], [both, 1 / 62]]))


def test_in_a_route_without_a_search_all_are_last() -> None:
    terms = route_terms([searched("sparse", 1.0, 2.0, 3.0)], 3)
    assert terms[:, 0] == pytest.approx(np.full(3, 1 / 63))


# -- the whole, by hand


@pytest.fixture
def bank() -> Iterator[SqliteBank]:
    opened = SqliteBank(":memory:")
    yield opened
    opened.close()


class Compass(HashingEmbedder):
    """Texts about north and east point there; others have no vector."""

    name = "compass"

    def __init__(self) -> None:
        super().__init__(2)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.array([["north" in t, "east" in t] for t in texts], np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)


def stored(engine: MemoryEngine, *lines: str) -> list[str]:
    """Ids of the units of these texts."""
    return [receipt.id for receipt in engine.write([MemoryUnit(line) for line in lines])]


def test_the_formula_by_hand(bank: SqliteBank) -> None:
    engine = MemoryEngine(bank, Compass(), ROUTES.changed(q_rank_weight=0.5))
    north, both, east, lamp = stored(engine, "north wind", "north east wind", "east", "lamp")
    bank.set_values([Value(east, "", 0.9), Value(both, "", 0.1)])
    ranking = engine.prepare("wind north").rank(np.array([0.75, 0.25]))
    ids = [engine.bank.page(None)[row].id for row in ranking.rows]
    # dense: north 1, both .707, east 0; the lamp has no vector and is not in the pool.
    # sparse: "north wind" is the shorter of two texts that hold both words; "east" holds none.
    # value: east .9, north ½, both .1.
    expected = {
        north: 0.75 / 61 + 0.25 / 61 + 0.5 / 62,
        both: 0.75 / 62 + 0.25 / 62 + 0.5 / 63,
        east: 0.75 / 63 + 0.25 / 63 + 0.5 / 61,
    }
    assert lamp not in ids
    assert dict(zip(ids, ranking.fused.tolist(), strict=True)) == pytest.approx(expected)
    assert ids == [north, east, both]


def test_a_hit_is_explained_term_by_term(bank: SqliteBank) -> None:
    engine = MemoryEngine(bank, Compass(), ROUTES.changed(q_rank_weight=0.5, route_prior=0.75))
    stored(engine, "north wind", "east")
    first, second = engine.retrieve("north wind").hits
    assert first.why.weights == {"dense": 0.75, "sparse": 0.25}
    assert first.why.features == {
        "route.dense": pytest.approx(0.75 / 61, abs=1e-6),
        "route.sparse": pytest.approx(0.25 / 61, abs=1e-6),
        "value_rank": pytest.approx(0.5 / 61, abs=1e-6),
    }
    for hit in (first, second):
        assert hit.why.fused == pytest.approx(sum(hit.why.features.values()), abs=2e-6)
    assert first.why.views["dense"].rank == first.why.views["sparse"].rank == 1
    # the second has no word of the question: the sparse route gave it no rank, and the last term
    assert second.why.views["sparse"].rank is None
    assert second.why.features["route.sparse"] == pytest.approx(0.25 / 62, abs=1e-6)


def test_a_hit_tells_its_ranks_in_the_whole_pool(bank: SqliteBank) -> None:
    engine = MemoryEngine(bank, Compass(), ROUTES)
    stored(engine, *(f"north {word}" for word in WORDS[:5]), "north east wind", "east wind")
    hits = engine.retrieve("wind north").hits
    assert len(hits) == 7  # five by vectors, all by words
    ranks = sorted(hit.why.views["dense"].rank or 0 for hit in hits)
    assert ranks == [1, 2, 3, 4, 5, 6, 7]


def test_a_rewrite_is_searched_beside_the_question(bank: SqliteBank) -> None:
    engine = MemoryEngine(bank, Compass(), ROUTES.changed(q_rank_weight=0))
    north, east = stored(engine, "north", "east gale")
    routing = SelfRouting("east", "gale", prior=1.0, confidence=0.5)
    prepared = engine.prepare("north", routing=routing)
    views = prepared.rank().views
    assert [v.name for v in views] == ["dense", "dense_rewrite", "sparse", "sparse_rewrite"]
    rows, scores, _ = prepared.route_table()
    units = engine.bank.page(None)
    terms = {units[r].id: t for r, t in zip(rows, scores, strict=True)}
    half = (1 / 61 + 1 / 62) / 2
    assert terms[north].tolist() == pytest.approx([half, half])
    assert terms[east].tolist() == pytest.approx([half, half])
    # p̄ = ξ·p⁰ + (1 − ξ)/2
    assert prepared.prior.tolist() == pytest.approx([0.75, 0.25])


def test_a_rewrite_that_searches_alike_counts_once(bank: SqliteBank) -> None:
    engine = MemoryEngine(bank, Compass(), ROUTES)
    stored(engine, "north", "east")
    raw = engine.prepare("the north wind")
    twin = engine.prepare("the north wind", routing=SelfRouting("the north wind", "north wind"))
    assert [v.name for v in twin.rank().views] == ["dense", "sparse"]
    assert twin.rank(EVEN).fused.tolist() == raw.rank(EVEN).fused.tolist()


def test_without_vectors_only_words_and_values_count(bank: SqliteBank) -> None:
    engine = MemoryEngine(bank, None, ROUTES)
    wind, gale = stored(engine, "north wind", "a north gale that blows")
    ranking = engine.prepare("north").rank(np.array([0.3, 0.7]))
    assert ranking.fused.tolist() == pytest.approx(
        [0.3 / 62 + 0.7 / 61 + 0.5 / 61, 0.3 / 62 + 0.7 / 62 + 0.5 / 61]
    )
    assert [hit.id for hit in engine.retrieve("north").hits] == [wind, gale]


def test_an_empty_memory_and_an_empty_question_find_nothing(bank: SqliteBank) -> None:
    engine = MemoryEngine(bank, Compass(), ROUTES)
    assert engine.retrieve("north").hits == ()
    stored(engine, "north")
    assert engine.retrieve("").hits == ()
    assert engine.prepare("the of and").rank().rows.tolist() == []


def test_weights_must_fit_the_routes(bank: SqliteBank) -> None:
    prepared = MemoryEngine(bank, None, ROUTES).prepare("north")
    for wrong in (np.ones(3), np.array([0.5, NAN]), np.float64(1)):
        with pytest.raises(InputError, match="one each for dense, sparse"):
            prepared.rank(wrong)


# -- against a slow implementation, over random small banks

WORDS = ("amber", "boat", "cedar", "drum", "ember", "flute", "grove")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
shares = st.floats(0, 1).map(lambda share: np.array([share, 1 - share]))


@st.composite
def banks(draw: st.DrawFn) -> tuple[list[str], dict[int, float], list[tuple[int, int]]]:
    """Texts, values of some of them, and edges in time."""
    said = draw(st.lists(texts, min_size=1, max_size=12, unique=True))
    place = st.integers(0, len(said) - 1)
    values = draw(st.dictionaries(place, st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])))
    edges = draw(st.lists(st.tuples(place, place).filter(lambda e: e[0] != e[1]), max_size=8))
    return said, values, edges


def slow_ranks(scores: dict[int, float | None], pool: list[int]) -> dict[int, int]:
    able = [m for m in pool if scores.get(m) is not None]
    better = sorted(able, key=lambda m: (-(scores[m] or 0.0), m))
    return {m: better.index(m) + 1 if m in better else len(pool) for m in pool}


def slow_scores(
    routes: dict[str, list[dict[int, float | None]]],
    values: dict[int, float],
    pool: list[int],
    weights: dict[str, float],
    lead: float,
) -> dict[int, float]:
    total = dict.fromkeys(pool, 0.0)
    for route, searches in routes.items():
        for scores in searches:
            ranks = slow_ranks(scores, pool)
            for m in pool:
                total[m] += weights[route] / len(searches) / (60 + ranks[m])
    for m in pool:
        higher = {values[n] for n in pool if values[n] > values[m]}
        total[m] += lead / (60 + 1 + len(higher))
    return total


def slow_order(total: dict[int, float]) -> list[int]:
    return sorted(total, key=lambda m: (-round(total[m], 12), m))


class World:
    """An engine over a random bank, and what its routes score, place by place."""

    def __init__(self, bank: SqliteBank, said: list[str], values: dict[int, float]) -> None:
        self.embedder = HashingEmbedder(16)
        self.engine = MemoryEngine(bank, self.embedder, ROUTES)
        self.ids = stored(self.engine, *said)
        bank.set_values([Value(self.ids[m], "", q) for m, q in values.items()])
        self.said = said
        self.values = {m: values.get(m, 0.5) for m in range(len(said))}

    def dense(self, text: str) -> dict[int, float | None]:
        rows = self.embedder.embed(self.said)
        cosines = np.vecdot(rows, self.embedder.embed([text])[0])
        return dict(enumerate(cosines.tolist()))

    def sparse(self, text: str) -> dict[int, float | None]:
        found = self.engine.bank.search_text(text.split(), None, 100)
        return {self.ids.index(match.id): match.score for match in found}

    def places(self, hits: Sequence[Hit]) -> list[int]:
        return [self.ids.index(hit.id) for hit in hits]


def best(scores: dict[int, float | None], limit: int) -> list[int]:
    able = [(s, m) for m, s in scores.items() if s is not None]
    return [m for _, m in sorted(able, key=lambda pair: (-pair[0], pair[1]))[:limit]]


@pytest.fixture
def in_a_world() -> Callable[..., World]:
    opened: list[SqliteBank] = []

    def make(said: list[str], values: dict[int, float]) -> World:
        while opened:
            opened.pop().close()
        opened.append(SqliteBank(":memory:"))
        return World(opened[0], said, values)

    yield make  # type: ignore[misc]
    while opened:
        opened.pop().close()


relaxed = settings(max_examples=60, deadline=None)


def test_the_ranking_is_that_of_the_slow_formula(in_a_world: Callable[..., World]) -> None:
    @relaxed
    @given(banks(), texts, texts, texts, shares, st.sampled_from([0.0, 0.5, 2.0]))
    def check(
        drawn: tuple[list[str], dict[int, float], list[tuple[int, int]]],
        asked: str,
        dense: str,
        sparse: str,
        weights: np.ndarray,
        lead: float,
    ) -> None:
        said, values, _ = drawn
        world = in_a_world(said, values)
        engine = world.engine.with_config(ROUTES.changed(q_rank_weight=lead))
        prepared = engine.prepare(asked, routing=SelfRouting(dense, sparse, 0.3, 0.5, "rules"))
        routes = {
            "dense": [world.dense(t) for t in dict.fromkeys((asked, dense))],
            "sparse": [world.sparse(t) for t in dict.fromkeys((asked, sparse))],
        }
        every = [s for searches in routes.values() for s in searches]
        pool = sorted({m for scores in every for m in best(scores, ROUTES.route_pool)})
        total = slow_scores(
            routes, world.values, pool, dict(zip(routes, weights.tolist(), strict=True)), lead
        )
        ranking = prepared.rank(weights)
        units = engine.bank.page(None)
        places = [world.ids.index(units[row].id) for row in ranking.rows]
        assert places == slow_order(total)
        assert ranking.fused.tolist() == pytest.approx([total[m] for m in places], rel=1e-6)
        table = prepared.route_table()
        assert (table.base + table.scores @ weights).tolist() == pytest.approx(
            [total[world.ids.index(units[row].id)] for row in table.rows]
        )

    check()


def test_neighbours_in_time_of_the_first_join_and_everything_is_ranked_anew(
    in_a_world: Callable[..., World],
) -> None:
    @relaxed
    @given(banks(), texts, shares, st.integers(1, 3))
    def check(
        drawn: tuple[list[str], dict[int, float], list[tuple[int, int]]],
        asked: str,
        weights: np.ndarray,
        top: int,
    ) -> None:
        said, values, edges = drawn
        world = in_a_world(said, values)
        world.engine.bank.relate(
            [Relation(RelationKind.TIME, world.ids[a], world.ids[b]) for a, b in edges]
            + [Relation(RelationKind.DENSE, world.ids[0], i) for i in world.ids[1:]]
        )
        engine = world.engine.with_config(ROUTES.changed(graph_expansion=True, context_k=top))
        routes = {"dense": [world.dense(asked)], "sparse": [world.sparse(asked)]}
        by_route = dict(zip(routes, weights.tolist(), strict=True))
        pool = sorted({m for (s,) in routes.values() for m in best(s, ROUTES.route_pool)})
        first = slow_order(slow_scores(routes, world.values, pool, by_route, 0.5))[:top]
        near = {b for a, b in edges if a in first} | {a for a, b in edges if b in first}
        total = slow_scores(routes, world.values, sorted({*pool, *near}), by_route, 0.5)
        found = engine.read(engine.prepare(asked), weights, limit=50)
        assert world.places(found.hits) == slow_order(total)

    check()


def test_with_equal_values_their_weight_changes_no_ranking(
    in_a_world: Callable[..., World],
) -> None:
    @relaxed
    @given(banks(), texts, shares, st.sampled_from([0.0, 0.25, 0.75, 1.0]), st.floats(0, 2))
    def check(
        drawn: tuple[list[str], dict[int, float], list[tuple[int, int]]],
        asked: str,
        weights: np.ndarray,
        q: float,
        lead: float,
    ) -> None:
        said, _, _ = drawn
        world = in_a_world(said, dict.fromkeys(range(len(said)), q))
        orders = []
        for weight in (0.0, lead):
            engine = world.engine.with_config(ROUTES.changed(q_rank_weight=weight))
            orders.append(world.places(engine.read(engine.prepare(asked), weights).hits))
        assert orders[0] == orders[1]

    check()


def test_ranks_run_from_1_to_the_size_of_the_pool(in_a_world: Callable[..., World]) -> None:
    @relaxed
    @given(banks(), texts)
    def check(drawn: tuple[list[str], dict[int, float], list[tuple[int, int]]], asked: str) -> None:
        said, values, _ = drawn
        world = in_a_world(said, values)
        table = world.engine.prepare(asked).route_table()
        size = len(table.rows)
        for column in (1 / table.scores - 60).T:
            ranks = np.round(column).astype(int)
            able = ranks[ranks < size]
            assert sorted(able) == list(range(1, len(able) + 1))
            assert ranks.min(initial=1) >= 1
            assert ranks.max(initial=0) == size

    check()


def test_a_filter_holds_for_the_routes_and_their_neighbours(bank: SqliteBank) -> None:
    engine = MemoryEngine(bank, Compass(), ROUTES.changed(graph_expansion=True))
    kept = replace(MemoryUnit("north wind"), metadata={"kind": "a"})
    other = replace(MemoryUnit("north gale"), metadata={"kind": "b"})
    later = replace(MemoryUnit("lamp"), metadata={"kind": "b"})
    ids = [receipt.id for receipt in engine.write([kept, other, later])]
    bank.relate([Relation(RelationKind.TIME, ids[0], ids[2])])
    found = engine.retrieve("north", where=Filter(metadata={"kind": "a"}))
    assert [hit.id for hit in found.hits] == ids[:1]
    assert {hit.id for hit in engine.retrieve("north").hits} == set(ids)
