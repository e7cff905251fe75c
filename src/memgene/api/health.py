"""`doctor()`: what is here, what is missing, and what that means."""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from memgene.api.model_health import ModelHealth, model_health
from memgene.api.opening import DEFAULT_EMBEDDER
from memgene.api.tasks import list_tasks
from memgene.core import MemgeneError, MissingDependencyError
from memgene.embed import load_embedder
from memgene.embed.minilm_files import find_minilm
from memgene.sandbox import probe
from memgene.settings import load_settings

_PACKAGES = (
    "memgene",
    "numpy",
    "pydantic",
    "PyStemmer",
    "rich",
    "safetensors",
    "tokenizers",
    "typer",
    "wordllama",
)
_EXTRAS: Mapping[str, tuple[str, ...]] = {
    "hnsw": ("usearch",),
    "onnx": ("onnxruntime", "onnx"),
    "sentence-transformers": ("sentence_transformers",),
    "openai": ("openai",),
    "local": ("xllamacpp",),
    "chroma": ("chromadb",),
}


@dataclass(frozen=True, slots=True)
class Health:
    """What `doctor` found. `ok`: the default memory and every model in the settings work here;
    `problems` says why not.

    `minilm`: whether the weights that the embedder `minilm` needs beside its extra are installed.
    `models`: the language models of the settings, by the roles that share them.
    `sandbox`: the best isolation that memory programs can have here, `none` where they cannot run;
    `sandbox_parts`: each part of it, "yes…" or "no: why". Less than `full` is no problem of the
    memory: programs then run only where that is asked for.
    """

    ok: bool
    problems: tuple[str, ...]
    python: str
    platform: str
    cores: int
    packages: Mapping[str, str]
    extras: Mapping[str, bool]
    sqlite: str
    full_text: bool
    trigrams: bool
    embedder: str
    minilm: bool
    data: Mapping[str, bool]
    models: tuple[ModelHealth, ...]
    sandbox: str
    sandbox_parts: Mapping[str, str]

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        models = [model.model_dump() for model in self.models]
        return {**asdict(self), "problems": list(self.problems), "models": models}


def doctor(data: str | Path | None = None, *, calls: bool = True) -> Health:
    """Look at Python, packages, SQLite, the embedder, extras, benchmark data, cores, the isolation
    of memory programs, and make a call of one token to each language model in the settings (not
    with `calls` False).

    Raises:
        ConfigError: the settings cannot be read.
    """
    settings = load_settings()
    full_text, trigrams = _fts("porter unicode61"), _fts("trigram")
    embedder, trouble = _embedder(settings.embedder or DEFAULT_EMBEDDER)
    models = model_health(settings.llm, calls=calls)
    isolation = probe()
    problems = [trouble] if trouble else []
    if not full_text:
        problems.append("this Python's SQLite has no FTS5: no bank can be opened")
    elif not trigrams:
        problems.append("this Python's SQLite is older than 3.34 and has no trigram tokenizer")
    problems += [f"model {m.name} ({', '.join(m.roles)}): {m.problem}" for m in models if m.problem]
    return Health(
        ok=not problems,
        problems=tuple(problems),
        python=platform.python_version(),
        platform=platform.platform(),
        cores=_cores(),
        packages={name: version for name in _PACKAGES if (version := _version(name))},
        extras={extra: all(map(find_spec, names)) for extra, names in _EXTRAS.items()},
        sqlite=sqlite3.sqlite_version,
        full_text=full_text,
        trigrams=trigrams,
        embedder=embedder,
        minilm=_minilm(),
        data={task.name: task.available for task in list_tasks(data)},
        models=models,
        sandbox=isolation.level.label,
        sandbox_parts=dict(isolation.parts),
    )


def _fts(tokenizer: str) -> bool:
    """Whether SQLite can make a full-text table with this tokenizer."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(f"CREATE VIRTUAL TABLE t USING fts5(x, tokenize='{tokenizer}')")
        except sqlite3.OperationalError:
            return False
    return True


def _embedder(wanted: str) -> tuple[str, str | None]:
    """Name of the embedder in use, and why it cannot be loaded, if it cannot."""
    try:
        return load_embedder(wanted).name, None
    except MemgeneError as error:
        return wanted, f"embedder {wanted} does not load: {error}"


def _minilm() -> bool:
    try:
        find_minilm()
    except MissingDependencyError:
        return False
    return True


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
