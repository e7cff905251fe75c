"""Consecutive units of a source, as the index of retrieval has them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memgene.bank import MemoryUnit
from memgene.engine.linking.chains import Chains, Place
from memgene.retrieval.index import NONE, UnitIndex

turns = st.lists(
    st.tuples(st.sampled_from(["one", "two", None]), st.one_of(st.none(), st.integers(0, 5))),
    max_size=12,
)


def place(source: str, turn: int, run: str | None = None) -> Place:
    return Place(run, source, turn)


@given(told=turns, gone=st.sets(st.integers(0, 11)), stops=st.sets(st.integers(0, 11)))
def test_chains_are_those_of_the_index(
    told: list[tuple[str | None, int | None]], gone: set[int], stops: set[int]
) -> None:
    chains, index = Chains(), UnitIndex()
    for row, (source, turn) in enumerate(told):
        unit = MemoryUnit(f"unit {row}", source=source, turn_start=turn, id=str(row), seq=row + 1)
        index.append([unit])
        if source is not None:
            chains.add(row, place(source, unit.seq if turn is None else turn), unit.seq)
        if row in stops:
            chains.settle()
    chains.settle()
    for row in sorted(gone & set(range(len(told)))):
        chains.remove(row)
        index.remove(str(row))
        if row in stops:
            chains.settle()
    chains.settle()
    expected = {(row, int(n)) for row, n in enumerate(index.next) if n != NONE}
    assert chains.edges(range(len(told))).keys() == expected


def test_settling_gives_what_is_consecutive_only_now() -> None:
    chains = Chains()
    for row in (0, 1, 2):
        chains.add(row, place("talk", 10 * row), row)
    assert chains.settle() == [(0, 1), (1, 2)]
    chains.add(3, place("talk", 5), 3)
    assert chains.settle() == [(0, 3), (3, 1)]
    chains.remove(1)
    assert chains.settle() == [(3, 2)]
    assert chains.settle() == []


def test_a_refused_pair_is_no_edge_and_is_new_when_it_meets_again() -> None:
    chains = Chains()
    for row in (0, 2):
        chains.add(row, place("talk", row), row)
    chains.settle()
    chains.refused.add((0, 2))
    assert chains.edges([0, 2]) == {}
    chains.add(1, place("talk", 1), 1)
    assert chains.settle() == [(0, 1), (1, 2)]
    chains.remove(1)
    assert chains.settle() == [(0, 2)]
    assert chains.edges([0]) == {(0, 2): 1.0}


def test_runs_have_their_own_chains() -> None:
    chains = Chains()
    chains.add(0, place("talk", 0, "a"), 0)
    chains.add(1, place("talk", 1, "b"), 1)
    chains.add(2, place("talk", 2, "a"), 2)
    assert chains.settle() == [(0, 2)]
