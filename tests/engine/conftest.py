"""What the engine tests share: banks that are closed, and an embedder that notes its texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from memgene.bank import Bank, MemoryUnit, SqliteBank
from memgene.embed.hashing import HashingEmbedder
from memgene.embed.static import StaticEmbedder


class SpyEmbedder(HashingEmbedder):
    """Hashing embedder that keeps every text it was given, call by call."""

    def __init__(self, dimension: int = 64) -> None:
        super().__init__(dimension)
        self.calls: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.calls.append(list(texts))
        return super().embed(texts)


@pytest.fixture
def spy() -> SpyEmbedder:
    return SpyEmbedder()


@pytest.fixture
def bank() -> Iterator[Bank]:
    opened = SqliteBank(":memory:")
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def static() -> StaticEmbedder:
    return StaticEmbedder()


def _talk(*lines: str, source: str = "talk") -> list[MemoryUnit]:
    units = []
    for turn, line in enumerate(lines):
        speaker, said = line.split(": ", 1)
        ref = f"{source}:{turn}"
        units.append(MemoryUnit(said, speaker=speaker, source=source, turn_start=turn, refs=(ref,)))
    return units


@pytest.fixture(scope="session")
def talk() -> Callable[..., list[MemoryUnit]]:
    """Units of one source, one `Speaker: words` a turn, referred to as `talk:0`, `talk:1`, …"""
    return _talk
