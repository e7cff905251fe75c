"""Writing the edges that differ, and how far the bank is linked, in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from memgene.bank.protocol import Bank, Relation, RelationKind
from memgene.engine.linking.group import Edge
from memgene.engine.linking.start import Start
from memgene.engine.linking.state import FRAME, keep

_BATCH = 2000

Edges = Mapping[Edge, float]
"""Weights of edges by kind and ends."""


@dataclass(frozen=True, slots=True)
class Written:
    """Edges by kind, the state now in the bank, and the version of the bank that is linked."""

    added: Mapping[RelationKind, int]
    removed: Mapping[RelationKind, int]
    token: bytes
    version: int


def by_ends(relations: Iterable[Relation]) -> dict[Edge, float]:
    """Stored edges as linking knows them."""
    return {(edge.kind, edge.source_id, edge.target_id): edge.weight for edge in relations}


def write(bank: Bank, start: Start, there: Edges, wanted: Edges, *, whole: bool) -> Written:
    """Turn the edges that are there into those that are wanted.

    Where the bank changed since the start, edges of units that are gone are left out, and the
    version linked is that of the start: the next link looks at the changes.
    """
    out = sorted(edge for edge in there if edge not in wanted)
    into = sorted(edge for edge in wanted if there.get(edge) != wanted[edge])
    with bank.atomic():
        followed = bank.version() == start.version
        if not followed:
            held = bank.existing([i for _, a, b in into for i in (a, b)])
            into = [edge for edge in into if edge[1] in held and edge[2] in held]
        for some in _batches(out):
            bank.unrelate([Relation(kind, a, b) for kind, a, b in some])
        for some in _batches(into):
            bank.relate([Relation(*edge, wanted[edge]) for edge in some])
        if start.anew:
            bank.set_state(FRAME, start.frame.to_bytes())
        level = None if followed else start.version
        token = keep(bank, start.state, level=level, whole=whole)
        version = bank.version() if followed else start.version
    return Written(_counted(into), _counted(out), token, version)


def _batches(edges: Sequence[Edge]) -> Iterator[list[Edge]]:
    rest = iter(edges)
    while some := list(islice(rest, _BATCH)):
        yield some


def _counted(edges: Iterable[Edge]) -> dict[RelationKind, int]:
    found = Counter(kind for kind, _, _ in edges)
    return {kind: found[kind] for kind in RelationKind if found[kind]}
