"""The memory graph around one question: what was shown for it, and what is linked to that.

Kept as `graph.json` beside a state. It holds text of memories; `redacted` leaves ids and numbers.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from memgene.bank.protocol import Bank, Relation, RelationKind
from memgene.bank.unit import MemoryUnit
from memgene.core import DataError, Hit, InputError, Scope
from memgene.engine import MemoryEngine
from memgene.engine.learned import is_distilled
from memgene.engine.lines import one_line
from memgene.engine.linking import neighbourhood

GRAPH_FILE = "graph.json"
FORMAT = 1
MOST_NODES = 24
_EXPOSED, _TEXT, _QUESTION = 10, 90, 240


@dataclass(frozen=True, slots=True)
class PictureNode:
    """A memory: its id, the first words of its text, its mean value in [0, 1] and how often it was
    exposed to a reward. `rank` is its place (from 1) among those that were shown, None for
    neighbours. `distilled`: made of an interaction, not written."""

    id: str
    text: str
    value: float
    exposures: int = 0
    rank: int | None = None
    distilled: bool = False


@dataclass(frozen=True, slots=True)
class PictureEdge:
    """An edge between two of the nodes; those in time point from earlier to later."""

    kind: RelationKind
    source: str
    target: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """Nodes in order (those that were shown first, by rank) and the edges among them. `hidden`
    counts neighbours that had no room."""

    question: str
    nodes: tuple[PictureNode, ...] = ()
    edges: tuple[PictureEdge, ...] = ()
    hidden: int = 0

    def redacted(self) -> GraphPicture:
        """Without text: ids and numbers, which may be published."""
        nodes = tuple(replace(node, text="") for node in self.nodes)
        return replace(self, question="", nodes=nodes)

    def to_json(self) -> str:
        """The content of `graph.json`; equal pictures give equal text."""
        return json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str, where: str = GRAPH_FILE) -> GraphPicture:
        """Inverse of `to_json`; `where` names the file in errors.

        Raises DataError when it is damaged, of another format, or an edge has no node at its end.
        """
        try:
            values: Any = json.loads(text)
            found = values.pop("format")
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise DataError(f"{where} is no picture of a graph: {error!r}") from error
        if found != FORMAT:
            raise DataError(f"{where} has format {found!r}; this memgene reads {FORMAT}")
        try:
            made = TypeAdapter(cls).validate_python(values)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise DataError(f"{where} is damaged: {place}: {first['msg']}") from error
        known = {node.id for node in made.nodes}
        if any(not known.issuperset((edge.source, edge.target)) for edge in made.edges):
            raise DataError(f"{where} is damaged: an edge leads to a node that is not there")
        return made


def picture(
    engine: MemoryEngine,
    question: str,
    hits: Sequence[Hit],
    hops: int = 1,
    *,
    scope: Scope | None = None,
) -> GraphPicture:
    """The graph around a question: the first ten of `hits`, which were shown for it, and the active
    memories at most `hops` edges away that `scope` admits (None: all), in all at most 24.

    Nearer neighbours come first, among them those of the strongest edge, then by id. Reads the
    bank and changes nothing; equal banks give equal pictures. Raises InputError for `hops` below 0.
    """
    if hops < 0:
        raise InputError(f"hops must be 0 or more, got {hops}")
    bank = engine.bank
    shown = list(dict.fromkeys(hit.id for hit in hits[:_EXPOSED]))
    ids, layer, hidden = list(shown), list(shown), 0
    for _ in range(hops):
        near = _beyond(neighbourhood(bank, layer, 1, scope=scope), layer, ids)
        layer = near[: MOST_NODES - len(ids)]
        hidden += len(near) - len(layer)
        ids += layer
    exposures = {v.unit_id: v.exposures for v in bank.values(ids) if v.cluster == ""}
    ranks = {unit_id: rank for rank, unit_id in enumerate(shown, 1)}
    units = bank.get(ids, scope)
    nodes = tuple(_node(u, exposures.get(u.id, 0), ranks.get(u.id)) for u in units)
    return GraphPicture(
        one_line(question, _QUESTION), nodes, _among(bank, [node.id for node in nodes]), hidden
    )


def _among(bank: Bank, ids: Sequence[str]) -> tuple[PictureEdge, ...]:
    """The edges between some units."""
    there = set(ids)
    inside = [r for r in bank.relations(ids) if there.issuperset((r.source_id, r.target_id))]
    inside.sort(key=lambda r: (r.kind, r.source_id, r.target_id))
    return tuple(PictureEdge(r.kind, r.source_id, r.target_id, round(r.weight, 6)) for r in inside)


def _beyond(edges: Sequence[Relation], layer: Sequence[str], known: Collection[str]) -> list[str]:
    """Ends of edges from a layer to what is not known yet, the strongest first."""
    inside, seen = set(layer), set(known)
    strongest: dict[str, float] = {}
    for edge in edges:
        ends = (edge.source_id, edge.target_id)
        for here, there in (ends, ends[::-1]):
            if here in inside and there not in seen:
                strongest[there] = max(edge.weight, strongest.get(there, edge.weight))
    return sorted(strongest, key=lambda unit_id: (-strongest[unit_id], unit_id))


def _node(unit: MemoryUnit, exposures: int, rank: int | None) -> PictureNode:
    return PictureNode(
        id=unit.id,
        text=one_line(unit.spoken, _TEXT),
        value=round(unit.utility, 6),
        exposures=exposures,
        rank=rank,
        distilled=is_distilled(unit),
    )
