"""Relational credit: what exposed memories hand on along the edges of the memory graph.

Source: CoEvo-Mem §4. A neighbour gets the share Π ρ of the edges passed, by the strongest path
alone: many weak paths must not add up. Pure functions; nothing is read or written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memgene.bank.protocol import Relation, RelationKind
from memgene.engine.credit.settings import CreditSettings

Edges = Callable[[Sequence[str]], Iterable[Relation]]
"""All edges that touch any of some units."""


@dataclass(frozen=True, slots=True)
class Reached:
    """An unexposed memory, and the `coefficients` by which the exposed ones reach it (each in
    (0, 1], by the id of the exposed one). `hops` is the fewest edges to any of them."""

    unit_id: str
    coefficients: Mapping[str, float]
    hops: int


def reach(sources: Sequence[str], edges: Edges, settings: CreditSettings) -> list[Reached]:
    """Every unexposed memory within `settings.hops` edges of a source, ordered by id.

    Sources are never reached themselves, but paths may lead through them. Time edges are passed
    against their direction alone: from a memory to those before it.
    """
    known: dict[str, list[tuple[str, float]]] = {}
    best = {source: {source: 1.0} for source in sources}
    hops = dict.fromkeys(sources, 0)
    frontier = list(dict.fromkeys(sources))
    for hop in range(1, settings.hops + 1):
        _learn_steps(known, [unit for unit in frontier if unit not in known], edges, settings)
        for source in best:
            best[source] = _one_hop_more(best[source], known)
        frontier = sorted({unit for coefficients in best.values() for unit in coefficients})
        for unit in frontier:
            hops.setdefault(unit, hop)
    ordered = sorted(best.items())
    return [
        Reached(
            unit,
            {source: found[unit] for source, found in ordered if unit in found},
            hops[unit],
        )
        for unit in sorted(hops.keys() - best.keys())
    ]


def spread(reached: Reached, residuals: Mapping[str, float]) -> float:
    """`Δ = Σ c·δ / max(1, Σ c)` over the exposed memories that reach it and have a residual."""
    total = weight = 0.0
    for source, coefficient in reached.coefficients.items():
        if source in residuals:
            total += coefficient * residuals[source]
            weight += coefficient
    return total / max(1.0, weight)


def _learn_steps(
    known: dict[str, list[tuple[str, float]]],
    units: Sequence[str],
    edges: Edges,
    settings: CreditSettings,
) -> None:
    """Fill in the steps credit can take from these units, each with its share."""
    share = {
        RelationKind.DENSE: settings.rho_dense,
        RelationKind.SPARSE: settings.rho_sparse,
        RelationKind.TIME: settings.rho_time,
    }
    steps: dict[str, list[tuple[str, float]]] = {unit: [] for unit in units}
    for edge in edges(units) if units else ():
        rho = share[edge.kind]
        if edge.target_id in steps:
            steps[edge.target_id].append((edge.source_id, rho))
        if edge.kind is not RelationKind.TIME and edge.source_id in steps:
            steps[edge.source_id].append((edge.target_id, rho))
    known.update(steps)


def _one_hop_more(
    best: Mapping[str, float], known: Mapping[str, Sequence[tuple[str, float]]]
) -> dict[str, float]:
    """The strongest paths of one edge more, or as they are where those are no stronger."""
    longer = dict(best)
    for unit, coefficient in best.items():
        for neighbour, rho in known.get(unit, ()):
            if coefficient * rho > longer.get(neighbour, 0.0):
                longer[neighbour] = coefficient * rho
    return longer
