"""What a landscape of programs shows, as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from memgene.reports.landscape_projection import Method
from memgene.reports.landscape_storage import Storage


@dataclass(frozen=True, slots=True)
class MetProgram:
    """A program that a run met. `name` is what it is called in the picture, `parent` the name of
    the one it was made from; `group` gives its colour. `score` is None where it has none."""

    name: str
    title: str
    source: str
    group: str
    parent: str | None = None
    score: float | None = None
    best: bool = False


@dataclass(frozen=True, slots=True)
class Spot:
    """A program on the plane: `x` and `y` in [0, 1]."""

    name: str
    title: str
    group: str
    storage: Storage
    x: float
    y: float
    parent: str | None = None
    score: float | None = None
    best: bool = False


@dataclass(frozen=True, slots=True)
class Landscape:
    """Programs by how alike they work. `groups` are the colours in their order, `grouped_by` what
    they stand for; `apart`: scores of different groups do not compare. `unread` counts texts that
    are no Python, which have no place."""

    spots: tuple[Spot, ...]
    groups: tuple[str, ...]
    grouped_by: str
    method: Method
    apart: bool = False
    unread: int = 0

    @property
    def storages(self) -> Mapping[Storage, int]:
        """Programs of each storage architecture that there is."""
        counts = Counter(spot.storage for spot in self.spots)
        return {kind: counts[kind] for kind in Storage if counts[kind]}
