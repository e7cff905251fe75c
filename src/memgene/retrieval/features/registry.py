"""The named registry of features. A ranker stores its weights under these names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from memgene.core import ConfigError
from memgene.retrieval.features.candidates import Candidates

Floats = NDArray[np.float32]
Compute = Callable[[Candidates], Floats]


@dataclass(frozen=True, slots=True)
class Feature:
    """One number per candidate. `about` names what it measures; `needs` the signal it reads."""

    name: str
    compute: Compute
    about: str
    needs: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def features() -> Mapping[str, Feature]:
    """All features by name, in a fixed order."""
    from memgene.retrieval.features import dates, dialogue, feedback, match, neighbours, shape

    found: dict[str, Feature] = {}
    for module in (match, neighbours, dialogue, dates, shape, feedback):
        for feature in module.features():
            if feature.name in found:
                raise ConfigError(f"two features are called {feature.name}")
            found[feature.name] = feature
    return MappingProxyType(found)


def available(candidates: Candidates) -> tuple[str, ...]:
    """Names of the features whose signals this index has."""
    names = set(candidates.signals.names)
    return tuple(n for n, f in features().items() if names.issuperset(f.needs))


def matrix(candidates: Candidates, names: tuple[str, ...]) -> Floats:
    """Features of all candidates, shape (candidates, len(names)); an absent one is 0."""
    here = set(candidates.signals.names)
    table = np.zeros((len(candidates), len(names)), np.float32)
    known = features()
    for column, name in enumerate(names):
        if name not in known:
            raise ConfigError(
                f"there is no feature {name!r}; the ranker was made by another version"
            )
        if here.issuperset(known[name].needs):
            table[:, column] = known[name].compute(candidates)
    return table
