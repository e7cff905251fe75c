"""A memory per test, over one embedder that is loaded once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memgene import Memory
from memgene.embed import Embedder, load_embedder


@pytest.fixture(scope="session")
def static() -> Embedder:
    return load_embedder("static")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent.db"


@pytest.fixture
def memory(path: Path, static: Embedder) -> Iterator[Memory]:
    with Memory(path, embedder=static) as opened:
        yield opened
