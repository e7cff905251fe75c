"""What a link did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memgene.bank.protocol import RelationKind


@dataclass(frozen=True, slots=True)
class LinkReport:
    """Edges written (new, or with a new weight) and removed, by kind.

    `units` is how many had their neighbours worked out, `threshold` the least cosine of a dense
    edge (None without vectors), `recalibrated` whether thresholds and word statistics were taken
    anew, so that everything was linked again. `checks` counts pairs that a model was asked about;
    `degraded` says what went on without it, and why.
    """

    added: Mapping[RelationKind, int] = field(default_factory=dict)
    removed: Mapping[RelationKind, int] = field(default_factory=dict)
    units: int = 0
    checks: int = 0
    threshold: float | None = None
    recalibrated: bool = False
    degraded: tuple[str, ...] = ()

    @property
    def changed(self) -> int:
        """Edges written or removed."""
        return sum(self.added.values()) + sum(self.removed.values())
