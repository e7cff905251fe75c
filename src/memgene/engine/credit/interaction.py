"""One use of a memory, and what was learned from it."""

from __future__ import annotations

from dataclasses import dataclass

from memgene.bank.unit import MemoryUnit


@dataclass(frozen=True, slots=True)
class Exposure:
    """A memory that was shown, and its part in the answer: attribution u in [0, 1]."""

    unit_id: str
    attribution: float = 1.0


@dataclass(frozen=True, slots=True)
class Interaction:
    """A question, what was shown, and the reward in [0, 1] of what came of it.

    `distilled` is a memory made of it, to be stored with its edges and its first value.
    """

    query: str | None
    exposed: tuple[Exposure, ...]
    reward: float
    distilled: MemoryUnit | None = None


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A value that moved: over all queries (`cluster` "") or for one kind of query; `hops` is how
    far from an exposed memory (0: exposed)."""

    unit_id: str
    cluster: str
    before: float
    after: float
    hops: int = 0


@dataclass(frozen=True, slots=True)
class Credited:
    """What one interaction taught: the changes, the id of the stored memory, the query's
    cluster ("" without one)."""

    changes: tuple[ValueChange, ...]
    added: str | None = None
    cluster: str = ""
