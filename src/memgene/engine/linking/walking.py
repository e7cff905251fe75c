"""The memory graph around some units."""

from __future__ import annotations

from collections.abc import Sequence

from memgene.bank.protocol import Bank, Relation, RelationKind
from memgene.bank.unit import UnitStatus
from memgene.core import Scope


def neighbourhood(
    bank: Bank,
    ids: Sequence[str],
    hops: int,
    kinds: Sequence[RelationKind] = (),
    *,
    scope: Scope | None = None,
) -> tuple[Relation, ...]:
    """Edges within `hops` of some units, breadth first, each once; one read of the bank a hop.

    Edges are passed in either direction; whoever gives credit along time edges looks at theirs.
    Units that are not active, or that `scope` does not admit, are neither reached nor passed: an
    edge between a run and units without one may lead on into another run. `kinds` empty: all.
    """
    found: dict[tuple[str, str, str], Relation] = {}
    reached = set(_open(bank, ids, scope))
    frontier = [i for i in dict.fromkeys(ids) if i in reached]
    for _ in range(hops):
        edges = bank.relations(frontier, kinds) if frontier else []
        ends = dict.fromkeys(i for e in edges for i in (e.source_id, e.target_id))
        new = _open(bank, [i for i in ends if i not in reached], scope)
        reached.update(new)
        for edge in edges:
            if edge.source_id in reached and edge.target_id in reached:
                found.setdefault((edge.kind, edge.source_id, edge.target_id), edge)
        frontier = new
    return tuple(found.values())


def _open(bank: Bank, ids: Sequence[str], scope: Scope | None) -> list[str]:
    """Those of the units that may be passed, in order."""
    return [unit.id for unit in bank.get(ids, scope) if unit.status is UnitStatus.ACTIVE]
