"""Which consecutive units belong together: what is known of it, and asking about the rest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memgene.bank.protocol import Bank
from memgene.engine.linking.check import TimeCheck, checked
from memgene.engine.linking.nearest import Told
from memgene.engine.linking.state import LEARNING, LinkState, is_of

Pair = tuple[str, str]
"""Ids, the earlier unit first."""


@dataclass(frozen=True, slots=True)
class Known:
    """Pairs were asked about before, and those with an edge belong together. `changed` units may
    say something else since; after a `gap` units may have become neighbours without having been
    asked about."""

    changed: frozenset[str]
    gap: bool


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The pairs that do not belong together; how many were asked about, and what failed."""

    refused: tuple[Pair, ...] = ()
    checks: int = 0
    degraded: tuple[str, ...] = ()


def known_of(bank: Bank, state: LinkState, active: Collection[str]) -> Known:
    """What the edges of a bank tell that was linked with a model, as its state says."""
    if not is_of(bank, state):
        return Known(frozenset(), gap=True)
    changed = bank.changed_since(state.version, LEARNING)
    return Known(changed, gap=not changed <= set(active))


def verdicts(
    bank: Bank,
    pairs: Sequence[Pair],
    linked: Collection[Pair],
    known: Known | None,
    check: TimeCheck | None,
    told: Told,
) -> Verdicts:
    """Decide on pairs that are consecutive. `linked` have an edge now; `known` None: no pair was
    asked about before.

    Where nothing is known, the check is asked; without one, consecutive units belong together.
    """
    refused, asked = list[Pair](), list[Pair]()
    for pair in pairs:
        if known is None or not known.changed.isdisjoint(pair):
            if check is not None:
                asked.append(pair)
        elif pair not in linked:
            (asked if known.gap and check is not None else refused).append(pair)
    if check is None or not asked:
        return Verdicts(tuple(refused))
    ids = list(dict.fromkeys(i for pair in asked for i in pair))
    units = {unit.id: unit for unit in bank.get(ids)}
    there = [(a, b) for a, b in asked if a in units and b in units]  # others were deleted just now
    found = checked(check, [(units[a], units[b]) for a, b in there], told)
    refused += [pair for pair, together in zip(there, found.verdicts, strict=True) if not together]
    return Verdicts(tuple(refused), len(there), found.degraded)
