"""What holds of credit whatever the interaction: order, snapshot, bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.bank import MemoryUnit
from memgene.bank.protocol import RelationKind
from memgene.engine.credit.settings import CreditSettings, Rule

Make = Callable[..., Any]

PARTS = st.sampled_from([0.0, 0.25, 0.5, 1.0])
SHARES = st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0])
SHOWN = st.dictionaries(st.integers(0, 5), PARTS, min_size=1, max_size=4)
EDGES = st.lists(
    st.tuples(st.sampled_from(RelationKind), st.integers(0, 5), st.integers(0, 5)).filter(
        lambda edge: edge[1] != edge[2]
    ),
    max_size=10,
)
HOW = st.builds(
    CreditSettings,
    rule=st.sampled_from(Rule),
    alpha=st.sampled_from([0.1, 0.3, 1.0]),
    hops=st.integers(0, 2),
    conditional=st.booleans(),
    new_value=st.sampled_from(["sources", "reward"]),
)
STARTS = st.lists(SHARES, min_size=6, max_size=6)


@settings(max_examples=25, deadline=None)
@given(starts=STARTS, edges=EDGES, shown=SHOWN, reward=SHARES, how=HOW)
def test_the_order_of_exposures_does_not_matter(
    make: Make,
    starts: list[float],
    edges: list[tuple[RelationKind, int, int]],
    shown: dict[int, float],
    reward: float,
    how: CreditSettings,
) -> None:
    outcomes = []
    for order in list(permutations(shown))[:6]:
        memory = make(starts, edges)
        parts = {place: shown[place] for place in order}
        credited = memory.give(parts, reward, how, "boil water", MemoryUnit("a bronze bell"))
        outcomes.append((memory.values(), credited))
    assert all(outcome == outcomes[0] for outcome in outcomes)


@settings(max_examples=40, deadline=None)
@given(starts=STARTS, edges=EDGES, shown=SHOWN, reward=SHARES, how=HOW)
def test_every_value_is_what_the_formulas_say_of_the_snapshot(
    make: Make,
    starts: list[float],
    edges: list[tuple[RelationKind, int, int]],
    shown: dict[int, float],
    reward: float,
    how: CreditSettings,
) -> None:
    memory = make(starts, edges)
    memory.give(shown, reward, how)
    highest = max(shown.values())
    deltas: dict[int, float] = {}
    for place, u in shown.items():
        if how.rule is Rule.TD:
            deltas[place] = reward * u - starts[place]
        elif how.rule is Rule.GAP:
            deltas[place] = u * (reward - starts[place])
        else:
            deltas[place] = (reward - starts[place]) if 0.25 < u == highest else 0.0
    for place, start in enumerate(starts):
        delta = deltas.get(place)
        if delta is None:
            delta = _relational(place, edges, deltas, shown, how)
        expected = min(1.0, max(0.0, start + how.alpha * delta))
        assert memory.q(place) == pytest.approx(expected)
        assert 0.0 <= memory.q(place) <= 1.0


def _relational(
    place: int,
    edges: Sequence[tuple[RelationKind, int, int]],
    deltas: dict[int, float],
    shown: dict[int, float],
    how: CreditSettings,
) -> float:
    """Credit of one unexposed unit, found by walking from it back to what was shown."""
    shares = {
        RelationKind.DENSE: how.rho_dense,
        RelationKind.SPARSE: how.rho_sparse,
        RelationKind.TIME: how.rho_time,
    }
    best: dict[int, float] = {}

    def back(here: int, strength: float, left: int) -> None:
        if here in shown:
            best[here] = max(best.get(here, 0.0), strength)
        for kind, earlier, later in edges if left else ():
            if earlier == here:
                back(later, strength * shares[kind], left - 1)
            if later == here and kind is not RelationKind.TIME:
                back(earlier, strength * shares[kind], left - 1)

    back(place, 1.0, how.hops)
    spoken = {s: c for s, c in best.items() if how.rule is Rule.TD or _speaks(shown, s, how)}
    total = sum(c * deltas[s] for s, c in spoken.items())
    return total / max(1.0, sum(spoken.values()))


def _speaks(shown: dict[int, float], place: int, how: CreditSettings) -> bool:
    return shown[place] > 0 and (how.rule is Rule.GAP or shown[place] == max(shown.values()))


@settings(max_examples=20, deadline=None)
@given(starts=STARTS, edges=EDGES, places=st.sets(st.integers(0, 5), min_size=1), reward=SHARES)
@pytest.mark.parametrize("rule", [Rule.GAP, Rule.USED])
def test_an_attribution_of_zero_changes_nothing(
    make: Make,
    rule: Rule,
    starts: list[float],
    edges: list[tuple[RelationKind, int, int]],
    places: set[int],
    reward: float,
) -> None:
    memory = make(starts, edges)
    before = memory.values()
    how = CreditSettings(rule, hops=2)
    credited = memory.give(dict.fromkeys(sorted(places), 0.0), reward, how, "boil water")
    assert credited.changes == ()
    assert memory.values() == before
