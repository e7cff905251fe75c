"""The units of one user and agent, and the edges between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgene.bank.protocol import RelationKind
from memgene.bank.unit import MemoryUnit
from memgene.engine.linking.chains import Chains, Place
from memgene.engine.linking.dense import DenseScores
from memgene.engine.linking.frame import Frame, Grid
from memgene.engine.linking.keywords import keywords
from memgene.engine.linking.nearest import Nearest, Rows, Scorer, Told
from memgene.engine.linking.runs import Runs
from memgene.engine.linking.settings import LinkSettings
from memgene.engine.linking.sparse import SparseScores
from memgene.retrieval.growable import Column

Edge = tuple[RelationKind, str, str]
"""Kind, source id, target id. Dense and sparse edges are written once, older unit first."""

_BUILD_SHARE = 4  # build lists anew when more than a quarter of the rows came


@dataclass(frozen=True, slots=True)
class Node:
    """What linking needs to know of a unit. `place` is None without a source."""

    id: str
    seq: int
    run: str | None
    place: Place | None
    keywords: tuple[str, ...]
    vector: NDArray[np.float32] | None

    @classmethod
    def of(cls, unit: MemoryUnit, vector: NDArray[np.float32] | None) -> Node:
        """A unit with its vector."""
        place = None
        if unit.source is not None:
            turn = unit.seq if unit.turn_start is None else unit.turn_start
            place = Place(unit.scope.run_id, unit.source, turn)
        words = tuple(keywords(unit))
        return cls(unit.id, unit.seq, unit.scope.run_id, place, words, vector)


@dataclass(frozen=True, slots=True)
class Moved:
    """What an update touched: ids whose edges may differ or were handed in, pairs consecutive only
    now (earlier, later), and how many units had their neighbours worked out."""

    ids: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    units: int


class Group:
    """Rows 0, 1, 2 …, one a unit; a unit that changes gets a new one."""

    def __init__(self, frame: Frame, settings: LinkSettings) -> None:
        self._frame = frame
        self._settings = settings
        self._ids: list[str] = []
        self._row_of: dict[str, int] = {}
        self._places: dict[int, Place] = {}
        self._alive = Column(np.bool_)
        self._seq = Column(np.int64)
        self._runs = Runs()
        self._chains = Chains()
        self._dense: DenseScores | None = None
        self._sparse: SparseScores | None = None
        self._lists: dict[RelationKind, tuple[Nearest, Scorer]] = {}
        kinds, info = settings.kinds, frame.embedder
        if RelationKind.DENSE in kinds and info is not None and frame.threshold is not None:
            self._dense = DenseScores(info.dimension, frame.threshold, self._runs)
            self._lists[RelationKind.DENSE] = Nearest(settings.dense_neighbours), self._dense
        if RelationKind.SPARSE in kinds:
            self._sparse = SparseScores(frame, settings, self._alive, self._runs)
            self._lists[RelationKind.SPARSE] = Nearest(settings.sparse_degree), self._sparse
        self._timed = RelationKind.TIME in kinds

    def __contains__(self, unit_id: str) -> bool:
        return unit_id in self._row_of

    def __len__(self) -> int:
        return len(self._row_of)

    @property
    def holes(self) -> int:
        """Rows of units that went or changed."""
        return len(self._ids) - len(self._row_of)

    def update(self, gone: Iterable[str], nodes: Sequence[Node], told: Told) -> Moved:
        """Take units out, and bring in those that are new or differ from what is known of them."""
        fresh = [node for node in nodes if not self._knows(node)]
        left = [*gone, *(node.id for node in fresh)]
        out = np.asarray([self._row_of.pop(i) for i in left if i in self._row_of], np.int64)
        self._remove(out)
        into = self._append(fresh)
        dirty, pairs = self._relist(out, into, told), self._chains.settle()
        ends = {row for pair in pairs for row in pair}
        rows = np.union1d(dirty, np.asarray(sorted(ends), np.int64))
        looked_at = [*left, *(node.id for node in nodes)]
        ids = dict.fromkeys([self._ids[row] for row in rows.tolist()] + looked_at)
        named = tuple((self._ids[a], self._ids[b]) for a, b in pairs)
        return Moved(tuple(ids), named, len(dirty))

    def refuse(self, earlier: str, later: str) -> None:
        """These consecutive units do not belong together."""
        self._chains.refused.add((self._row_of[earlier], self._row_of[later]))

    def edges(self, ids: Iterable[str]) -> Mapping[Edge, float]:
        """Edges that touch any of some units, with their weights."""
        rows = np.asarray(sorted(self._row_of[i] for i in ids if i in self._row_of), np.int64)
        found: dict[Edge, float] = {}
        for kind, (nearest, _) in self._lists.items():
            for (one, two), weight in nearest.edges(rows).items():
                older, newer = sorted((one, two), key=lambda row: int(self._seq.values[row]))
                found[kind, self._ids[older], self._ids[newer]] = weight
        for (one, two), weight in self._chains.edges(rows.tolist()).items():
            found[RelationKind.TIME, self._ids[one], self._ids[two]] = weight
        return found

    def _knows(self, node: Node) -> bool:
        """Whether a unit is as it was. Its vector must be as well; the grid tells."""
        row = self._row_of.get(node.id)
        if row is None or self._places.get(row) != node.place or not self._runs.of(row, node.run):
            return False
        if self._sparse is not None and not self._sparse.same(row, node.keywords):
            return False
        if self._dense is None:
            return True
        return np.array_equal(self._dense.grid[row], self._grid([node])[0])

    def _relist(self, out: Rows, into: Rows, told: Told) -> Rows:
        """Bring the lists of neighbours level; the rows where they may differ, ascending."""
        dirty = np.union1d(out, into)
        for kind, (nearest, scorer) in self._lists.items():
            nearest.grow(len(self._ids))
            touched = into
            if self._sparse is not None and kind is RelationKind.SPARSE:
                touched = self._sparse.settle(np.concatenate([out, into]))
            if len(touched) * _BUILD_SHARE > len(self):
                nearest.clear(out)
                living = np.flatnonzero(self._alive.values)
                nearest.build(living, self._seq.values, scorer, told)
                dirty = np.union1d(dirty, living)
            else:
                moved = nearest.update(
                    out, touched, self._alive.values, self._seq.values, scorer, told
                )
                dirty = np.union1d(dirty, moved)
        return dirty

    def _grid(self, nodes: Sequence[Node]) -> Grid:
        """Vectors on the grid; zero for units that have none."""
        assert self._frame.mean is not None
        vectors = np.zeros((len(nodes), len(self._frame.mean)), np.float32)
        for place, node in enumerate(nodes):
            if node.vector is not None:
                vectors[place] = node.vector
        return self._frame.grid(vectors)

    def _remove(self, rows: Rows) -> None:
        self._alive.values[rows] = False
        if self._dense is not None:
            self._dense.remove(rows)
        if self._sparse is not None:
            self._sparse.remove(rows)
        for row in rows.tolist():
            self._places.pop(row, None)
            self._chains.remove(row)

    def _append(self, nodes: Sequence[Node]) -> Rows:
        first = len(self._ids)
        rows = np.arange(first, first + len(nodes))
        self._ids += [node.id for node in nodes]
        self._row_of.update(zip((n.id for n in nodes), rows.tolist(), strict=True))
        self._alive.extend([True] * len(nodes))
        self._seq.extend([node.seq for node in nodes])
        self._runs.append([node.run for node in nodes])
        if self._dense is not None:
            self._dense.append(self._grid(nodes))
        if self._sparse is not None:
            self._sparse.append([node.keywords for node in nodes])
        for node, row in zip(nodes, rows.tolist(), strict=True):
            if node.place is not None:
                self._places[row] = node.place
                if self._timed:
                    self._chains.add(row, node.place, node.seq)
        return rows
