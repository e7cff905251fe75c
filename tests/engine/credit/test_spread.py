"""Relational credit on graphs small enough to walk by hand, and against a walk of every path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.bank.protocol import Relation, RelationKind
from memgene.engine.credit.settings import CreditSettings
from memgene.engine.credit.spread import Reached, reach, spread

DENSE, SPARSE, TIME = RelationKind.DENSE, RelationKind.SPARSE, RelationKind.TIME
RHO = {DENSE: 0.5, SPARSE: 0.4, TIME: 0.3}


class Graph:
    """Edges given as `a-b` (dense), `a~b` (sparse) and `a>b` (time, a before b)."""

    def __init__(self, *edges: Relation | str) -> None:
        self.relations = [self._read(e) if isinstance(e, str) else e for e in edges]
        self.asked = 0

    def __call__(self, units: Sequence[str]) -> Iterable[Relation]:
        self.asked += 1
        near = set(units)
        return [r for r in self.relations if r.source_id in near or r.target_id in near]

    @staticmethod
    def _read(edge: str) -> Relation:
        source, sign, target = edge
        return Relation({"-": DENSE, "~": SPARSE, ">": TIME}[sign], source, target)


def hops(number: int) -> CreditSettings:
    return CreditSettings(hops=number)


def coefficients(
    graph: Graph, sources: Sequence[str], settings: CreditSettings
) -> dict[str, dict[str, float]]:
    found = reach(sources, graph, settings)
    return {one.unit_id: dict(one.coefficients) for one in found}


def test_a_coefficient_is_the_product_of_the_edges_passed() -> None:
    chain = Graph("a-b", "b~c")
    assert coefficients(chain, "a", hops(2)) == {"b": {"a": 0.5}, "c": {"a": 0.5 * 0.4}}


def test_credit_goes_no_further_than_the_hops() -> None:
    chain = Graph("a-b", "b-c", "c-d")
    assert [(r.unit_id, r.hops) for r in reach("a", chain, hops(2))] == [("b", 1), ("c", 2)]


def test_no_hops_read_no_edges() -> None:
    chain = Graph("a-b")
    assert reach("a", chain, hops(0)) == []
    assert chain.asked == 0


def test_time_edges_pass_credit_to_predecessors_only() -> None:
    day = Graph("a>b", "b>c")
    assert coefficients(day, "b", hops(2)) == {"a": {"b": 0.3}}


def test_only_the_strongest_path_counts() -> None:
    # from a to d: over b .5 · .5, over c .4 · .4, and directly .3 (d was before a)
    diamond = Graph("a-b", "b-d", "a~c", "c~d", "d>a")
    assert coefficients(diamond, "a", hops(2))["d"] == {"a": 0.3}
    assert coefficients(Graph("a-b", "b-d", "a~c", "c~d"), "a", hops(2))["d"] == {"a": 0.25}


def test_a_longer_path_may_be_the_stronger_one() -> None:
    settings = CreditSettings(hops=2, rho_dense=0.9)
    (to_b, _) = reach("a", Graph("b>a", "a-c", "c-b"), settings)
    assert dict(to_b.coefficients) == {"a": pytest.approx(0.81)}
    assert to_b.hops == 1


def test_exposed_memories_are_not_reached_but_lead_on() -> None:
    line = Graph("a-b", "b-c")
    assert coefficients(line, "ab", hops(2)) == {"c": {"a": 0.25, "b": 0.5}}


def test_a_route_without_share_passes_nothing() -> None:
    settings = CreditSettings(hops=2, rho_sparse=0.0)
    assert coefficients(Graph("a~b", "b-c"), "a", settings) == {}


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ({"x": 0.5}, 0.5 * 0.8),  # Σ c below 1: the share itself
        ({"x": 0.5, "y": 0.25}, 0.5 * 0.8 + 0.25 * -0.4),
        ({"x": 1.0, "y": 1.0}, (0.8 - 0.4) / 2),  # Σ c above 1: a mean
        ({"x": 0.5, "z": 1.0}, 0.5 * 0.8),  # z has no residual, so it says nothing
        ({"z": 1.0}, 0.0),
    ],
)
def test_credit_of_several_sources(shares: dict[str, float], expected: float) -> None:
    assert spread(Reached("m", shares, 1), {"x": 0.8, "y": -0.4}) == pytest.approx(expected)


UNITS = "abcdef"
EDGES = st.lists(
    st.tuples(st.sampled_from(UNITS), st.sampled_from(UNITS), st.sampled_from(RelationKind))
    .filter(lambda edge: edge[0] != edge[1])
    .map(lambda edge: Relation(edge[2], edge[0], edge[1])),
    max_size=14,
)
SOURCES = st.sets(st.sampled_from(UNITS), min_size=1, max_size=3).map(sorted)


def best_walks(edges: Sequence[Relation], source: str, steps: int) -> dict[str, float]:
    """The best product over every walk of at most `steps` edges: no table, no frontier."""
    best = {source: 1.0}

    def walk(unit: str, strength: float, left: int) -> None:
        best[unit] = max(best.get(unit, 0.0), strength)
        if not left:
            return
        for edge in edges:
            if edge.target_id == unit:
                walk(edge.source_id, strength * RHO[edge.kind], left - 1)
            if edge.source_id == unit and edge.kind is not TIME:
                walk(edge.target_id, strength * RHO[edge.kind], left - 1)

    walk(source, 1.0, steps)
    return best


@given(edges=EDGES, sources=SOURCES, steps=st.integers(0, 3))
def test_every_coefficient_is_the_best_walk(
    edges: list[Relation], sources: list[str], steps: int
) -> None:
    found = coefficients(Graph(*edges), sources, hops(steps))
    walks = {source: best_walks(edges, source, steps) for source in sources}
    expected = {
        unit: {s: pytest.approx(walks[s][unit]) for s in sources if unit in walks[s]}
        for unit in UNITS
        if unit not in sources and any(unit in walks[s] for s in sources)
    }
    assert found == expected


@given(edges=EDGES, sources=SOURCES, again=st.lists(st.sampled_from(UNITS), max_size=4))
def test_more_paths_that_are_no_stronger_change_nothing(
    edges: list[Relation], sources: list[str], again: list[str]
) -> None:
    before = coefficients(Graph(*edges), sources, hops(2))
    # copies of the graph's own edges through other units: as many paths more, none stronger
    copies = [
        Relation(e.kind, e.source_id.upper(), e.target_id)
        for e in edges
        if e.source_id in again and e.source_id not in sources
    ] + [
        Relation(e.kind, e.source_id, e.target_id.upper())
        for e in edges
        if e.target_id in again and e.target_id not in sources
    ]
    after = coefficients(Graph(*edges, *copies), sources, hops(2))
    assert {unit: after[unit] for unit in before} == before


@given(
    pairs=st.lists(st.tuples(st.sampled_from(UNITS), st.sampled_from(UNITS)), max_size=12),
    sources=SOURCES,
    steps=st.integers(1, 4),
)
def test_along_time_edges_credit_never_reaches_what_came_later(
    pairs: list[tuple[str, str]], sources: list[str], steps: int
) -> None:
    edges = [Relation(TIME, *sorted(pair)) for pair in pairs if pair[0] != pair[1]]
    for reached in reach(sources, Graph(*edges), hops(steps)):
        assert all(reached.unit_id < source for source in reached.coefficients)


@given(edges=EDGES, sources=SOURCES, steps=st.integers(0, 3))
def test_hops_are_a_limit_and_sources_are_left_out(
    edges: list[Relation], sources: list[str], steps: int
) -> None:
    for reached in reach(sources, Graph(*edges), hops(steps)):
        assert 1 <= reached.hops <= steps
        assert reached.unit_id not in sources
        assert all(0 < c <= 0.5 for c in reached.coefficients.values())
