"""The command line in this process, with embedders that are loaded once."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from memgene.cli.main import build
from memgene.embed import load_embedder, word_vectors

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, no settings from outside."""
    monkeypatch.chdir(tmp_path)
    for name in ("CONFIG", "DB", "DATA", "EMBEDDER", "AGENT", "SANDBOX_LEVEL", "SANDBOX_CHROMA"):
        monkeypatch.delenv(f"MEMGENE_{name}", raising=False)
    return tmp_path


_load = functools.cache(load_embedder)
_words = functools.cache(word_vectors)


@pytest.fixture(autouse=True)
def loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memgene.api.opening.load_embedder", _load)
    monkeypatch.setattr("memgene.api.memory.word_vectors", _words)


@pytest.fixture(scope="session")
def app() -> Any:
    return build()


@pytest.fixture
def run(app: Any) -> Run:
    """Runs one command line."""

    def call(*arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(app, list(arguments), input=stdin)

    return call


@pytest.fixture
def ask(run: Run) -> Callable[..., Any]:
    """Runs one command line with --json; gives the object in the last line of stdout."""

    def call(*arguments: str, stdin: str | None = None, code: int = 0) -> Any:
        result = run(*arguments, "--json", stdin=stdin)
        assert result.exit_code == code, result.output
        return json.loads(result.stdout.splitlines()[-1])

    return call
