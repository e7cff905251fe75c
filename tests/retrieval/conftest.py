"""What the retrieval tests share: small talks as indices, and their signals for a question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from memgene.bank.unit import MemoryUnit
from memgene.embed.protocol import Embedder, WordVectors
from memgene.embed.static import StaticEmbedder
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.dense import DenseSpace
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.query import analyse
from memgene.retrieval.signals import Signals
from memgene.retrieval.soft import SoftMatcher


def units_of(*lines: str | MemoryUnit, source: str | None = "talk") -> list[MemoryUnit]:
    """Units u1, u2, … of one source; `Anna: I saw a boat.` has a speaker, a plain line none."""
    units = []
    for seq, line in enumerate(lines, 1):
        unit = line
        if isinstance(unit, str):
            speaker, colon, said = unit.partition(": ")
            unit = MemoryUnit(said, speaker=speaker) if colon else MemoryUnit(speaker)
        if source and unit.source is None:
            unit = replace(unit, source=source, turn_start=seq)
        units.append(replace(unit, id=unit.id or f"u{seq}", seq=unit.seq or seq))
    return units


def index_of(*lines: str | MemoryUnit, source: str | None = "talk") -> UnitIndex:
    index = UnitIndex()
    index.append(units_of(*lines, source=source))
    return index


def signals_of(
    index: UnitIndex,
    question: str,
    config: RetrievalConfig | None = None,
    *,
    embedder: Embedder | None = None,
    words: WordVectors | None = None,
) -> Signals:
    """Signals of a question; vectors are those of the units' `rendered` texts."""
    dense = None
    if embedder is not None:
        dense = DenseSpace(embedder)
        dense.append(embedder.embed([unit.rendered for unit in index.units]))
        for row in np.flatnonzero(~index.alive).tolist():
            dense.remove(row)
    soft = None if words is None else SoftMatcher(words)
    return Signals(analyse(question, index), index, dense, soft, config or RetrievalConfig())


@pytest.fixture(scope="session", name="units_of")
def _units_of() -> Callable[..., list[MemoryUnit]]:
    return units_of


@pytest.fixture(scope="session", name="index_of")
def _index_of() -> Callable[..., UnitIndex]:
    return index_of


@pytest.fixture(scope="session", name="signals_of")
def _signals_of() -> Callable[..., Signals]:
    return signals_of


@pytest.fixture(scope="session")
def static() -> StaticEmbedder:
    return StaticEmbedder()
