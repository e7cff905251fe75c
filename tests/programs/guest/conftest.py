"""Programs loaded in this process: no worker, a host that answers from here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from memgene.embed.hashing import HashingEmbedder
from memgene.programs.guest import serve
from memgene.programs.guest.models import described
from memgene.programs.guest.toolkit import encoded


class Host:
    """Answers `llm` with "reply" and vectors by hashing; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self._embedder = HashingEmbedder()

    def call(self, name: str, params: Mapping[str, Any]) -> Any:
        self.asked.append((name, params))
        return "reply" if name == "llm" else encoded(self._embedder.embed(params["texts"]))


class Guest:
    """A loaded program."""

    def __init__(self, source: str, seed: int) -> None:
        self.host = Host()
        first = {
            "source": source,
            "seed": seed,
            "now": "2024-05-08T13:56:00",
            "config": None,
            **described(HashingEmbedder(), None),
        }
        self.loaded, self.methods = serve.begin(first, self.host)

    def write(self, raw_text: str, **item: Any) -> list[str]:
        return list(self.methods["write"]({"item": item, "raw_text": raw_text})["logs"])

    def read(self, **query: Any) -> Any:
        return self.methods["read"]({"query": query or {"query_text": ""}})["text"]


@pytest.fixture
def load() -> Callable[..., Guest]:
    """Loads a source text."""

    def made(source: str, seed: int = 0) -> Guest:
        return Guest(source, seed)

    return made


@pytest.fixture
def run(load: Callable[..., Guest]) -> Callable[..., Any]:
    """Runs lines as the body of `read` and gives what they return as text."""
    from memgene.testing.programs import program_text

    def result(lines: str, **parts: Any) -> Any:
        seed = parts.pop("seed", 0)
        return load(program_text(read=lines, **parts), seed).read()

    return result
