"""One sandbox for the tests of a module: starting it takes most of a second."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memgene.embed.hashing import HashingEmbedder
from memgene.programs.program import ProgramLimits
from memgene.programs.runtime import ProgramRuntime
from memgene.testing import ScriptedLLM


@pytest.fixture(scope="module")
def llm() -> ScriptedLLM:
    """Says the last message back in capitals."""
    return ScriptedLLM(lambda request: request.messages[-1].content.upper())


@pytest.fixture(scope="module")
def runtime(llm: ScriptedLLM) -> Iterator[ProgramRuntime]:
    """With that model and short limits."""
    limits = ProgramLimits(read_characters=100, call_seconds=1.0)
    with ProgramRuntime(llm=llm, embedder=HashingEmbedder(), limits=limits) as made:
        yield made
