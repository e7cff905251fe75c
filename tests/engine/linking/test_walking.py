"""The graph around some units."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memgene.bank import Bank, MemoryUnit, Relation, RelationKind, UnitStatus
from memgene.core import Scope
from memgene.engine.linking import neighbourhood

DENSE, SPARSE, TIME = RelationKind
NAMES = "abcdef"


@pytest.fixture
def graph(bank: Bank) -> Bank:
    """a → b → c → d in time, a – e dense, e – f sparse."""
    bank.add([MemoryUnit(name, id=name) for name in NAMES])
    chain = [Relation(TIME, a, b) for a, b in ("ab", "bc", "cd")]
    bank.relate([*chain, Relation(DENSE, "a", "e", 0.7), Relation(SPARSE, "e", "f", 0.3)])
    return bank


def walked(
    bank: Bank,
    ids: Sequence[str],
    hops: int,
    kinds: Sequence[RelationKind] = (),
    scope: Scope | None = None,
) -> list[str]:
    found = neighbourhood(bank, ids, hops, kinds, scope=scope)
    return [edge.source_id + edge.target_id for edge in found]


@pytest.mark.parametrize(
    ("ids", "hops", "expected"),
    [
        ("a", 0, []),
        ("a", 1, ["ab", "ae"]),
        ("a", 2, ["ab", "ae", "bc", "ef"]),
        ("a", 9, ["ab", "ae", "bc", "ef", "cd"]),
        ("d", 2, ["cd", "bc"]),
        ("fd", 1, ["cd", "ef"]),
        ("?", 3, []),
    ],
)
def test_breadth_first_each_edge_once(
    graph: Bank, ids: str, hops: int, expected: list[str]
) -> None:
    assert walked(graph, list(ids), hops) == expected


def test_only_some_kinds(graph: Bank) -> None:
    assert walked(graph, ["a"], 3, [DENSE, SPARSE]) == ["ae", "ef"]


def test_weights_come_with_the_edges(graph: Bank) -> None:
    (edge,) = neighbourhood(graph, ["a"], 1, [DENSE])
    assert edge == Relation(DENSE, "a", "e", 0.7)


def test_units_that_are_not_active_are_not_passed(graph: Bank) -> None:
    graph.set_status(["b"], UnitStatus.ARCHIVED)
    assert walked(graph, ["a"], 3) == ["ae", "ef"]
    assert walked(graph, ["b"], 3) == []


def test_a_walk_does_not_lead_into_another_run(bank: Bank) -> None:
    one, base, two = Scope("ann", run_id="1"), Scope("ann"), Scope("ann", run_id="2")
    bank.add([MemoryUnit(n, id=n, scope=s) for n, s in zip("xyz", (one, base, two), strict=True)])
    bank.relate([Relation(SPARSE, "x", "y"), Relation(SPARSE, "y", "z")])
    assert walked(bank, ["x"], 3) == ["xy", "yz"]
    assert walked(bank, ["x"], 3, scope=one) == ["xy"]
    assert walked(bank, ["x"], 3, scope=two) == []


def test_a_batch_is_one_read_a_hop(graph: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    read = graph.relations

    def noted(ids: Sequence[str], kinds: Sequence[RelationKind] = ()) -> list[Relation]:
        asked.append(list(ids))
        return read(ids, kinds)

    monkeypatch.setattr(graph, "relations", noted)
    neighbourhood(graph, ["a", "a"], 3)
    assert asked == [["a"], ["b", "e"], ["c", "f"]]
