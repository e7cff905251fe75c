"""What makes an edge of the memory graph; every number of CoEvo-Mem §2 by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from memgene.bank.protocol import RelationKind
from memgene.core import InputError

PUBLISHED_COSINE = 0.6
_UNCHECKED = ("dense_cosine", "kinds")


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """Edges exist between units of one user and agent whose runs one reader may see together.

    *dense*: each is among the `dense_neighbours` nearest of the other, and their cosine is at least
    `dense_cosine`; None calibrates it for the embedder, as the quantile `dense_quantile` of all
    pairs of the bank's first `calibration_units` vectors (a power of two; 0.6 until there are 64).
    *sparse*: at least `sparse_shared` keywords in common, a Jaccard coefficient weighted by IDF of
    at least `sparse_jaccard`, and each is among the `sparse_degree` best of the other. A word that
    more than `sparse_most` units of an owner hold is no keyword.
    *time*: each unit to the next of its source.
    `kinds` says which of the three there are.
    """

    dense_neighbours: int = 5
    dense_cosine: float | None = None
    dense_quantile: float = 0.995
    sparse_shared: int = 2
    sparse_jaccard: float = 0.2
    sparse_degree: int = 5
    sparse_most: int = 1000
    calibration_units: int = 1024
    kinds: tuple[RelationKind, ...] = tuple(RelationKind)

    def __post_init__(self) -> None:
        try:
            given = [RelationKind(kind) for kind in self.kinds]
        except ValueError as error:
            raise InputError(f"links know the kinds {', '.join(RelationKind)}: {error}") from error
        ordered = tuple(kind for kind in RelationKind if kind in given)
        object.__setattr__(self, "kinds", ordered)
        for name in (n for n in self.__slots__ if n not in _UNCHECKED):
            least = 0 if isinstance(getattr(self, name), float) else 1
            if getattr(self, name) < least:
                raise InputError(f"links {name} must be at least {least}, got {self!r}")
        for name in ("dense_cosine", "dense_quantile", "sparse_jaccard"):
            value = getattr(self, name)
            if value is not None and not 0 < value <= 1:
                raise InputError(f"links {name} must lie above 0 and at most at 1, got {value}")
        if self.calibration_units & (self.calibration_units - 1):
            raise InputError(
                f"links calibration_units must be a power of two, got {self.calibration_units}"
            )

    @classmethod
    def paper(cls) -> LinkSettings:
        """A fixed cosine in place of the calibrated one."""
        return cls(dense_cosine=PUBLISHED_COSINE)

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {**asdict(self), "kinds": [kind.value for kind in self.kinds]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LinkSettings:
        """The reverse of `to_dict`. Raises InputError for unknown names and unusable values."""
        try:
            return cls(**{**values, "kinds": tuple(values["kinds"])})
        except (TypeError, KeyError) as error:
            raise InputError(f"these are no settings of links: {error}") from error
