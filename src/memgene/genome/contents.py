"""What a genome does, from the bytes of its files; nothing of them is run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from memgene.core import ConfigError, DataError, NotFoundError, StoredConfigError
from memgene.engine.learned import LearnedMemory
from memgene.genome.parts import (
    MEMORY,
    PROGRAM,
    RETRIEVAL,
    ROUTER,
    STAGES,
    named_stages,
    stage_file,
)
from memgene.genome.stored import StoredFiles
from memgene.retrieval.config import RetrievalConfig, parsed
from memgene.retrieval.router.router import Router
from memgene.retrieval.stages.stage import Stage

_UNFIT = (KeyError, TypeError, AttributeError, ValueError, RecursionError, MemoryError)
"""What values of another shape, or nested too deeply, raise where they are read."""


@dataclass(frozen=True)
class Contents:
    """The parts that decide what a genome does, beside its embedder."""

    config: RetrievalConfig
    program: str | None = None
    memory: LearnedMemory | None = None


def read_contents(stored: StoredFiles) -> Contents:
    """The parts in the files that are there.

    Raises StoredConfigError that names the file when one is damaged or of another format, and when
    the configuration names another router or stage; NotFoundError when there is no configuration.
    """
    config = _config(stored)
    program = decoded(stored, PROGRAM) if PROGRAM in stored.files else None
    if MEMORY not in stored.files:
        return Contents(config, program)
    lines = decoded(stored, MEMORY)
    with reading(stored, MEMORY):
        return Contents(config, program, LearnedMemory.from_jsonl(lines))


def decoded(stored: StoredFiles, name: str) -> str:
    """The text of a file. Raises StoredConfigError where it is not UTF-8."""
    content = stored.content(name)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise StoredConfigError(f"{stored.path}/{name} is damaged: {error}") from error


@contextmanager
def reading(stored: StoredFiles, name: str) -> Iterator[None]:
    """While a file is read: failures name it, and blame no argument of the call."""
    try:
        yield
    except (StoredConfigError, NotFoundError):
        raise
    except (ConfigError, DataError) as error:
        raise StoredConfigError(f"{stored.path}/{name}: {error}") from error
    except _UNFIT as error:
        raise StoredConfigError(f"{stored.path}/{name} is damaged: {error!r}") from error


def _config(stored: StoredFiles) -> RetrievalConfig:
    text = decoded(stored, RETRIEVAL)
    with reading(stored, RETRIEVAL):
        values = parsed(text)
        names = named_stages(values)
        _refuse_unnamed(stored, names)
    router = None
    if ROUTER in stored.files:
        router = Router.from_bytes(stored.files[ROUTER], f"{stored.path}/{ROUTER}")
    stages = [_stage(stored, name) for name in names]
    with reading(stored, RETRIEVAL):
        return RetrievalConfig.from_dict(values, router, stages)


def _refuse_unnamed(stored: StoredFiles, names: tuple[str, ...]) -> None:
    """Every stage that lies there is one that the configuration names."""
    named = {stage_file(name) for name in names}
    for name in stored.files:
        if name.startswith(f"{STAGES}/") and name not in named:
            raise ConfigError(f"there is {name}, and the configuration names no such stage")


def _stage(stored: StoredFiles, name: str) -> Stage:
    source = decoded(stored, stage_file(name))
    with reading(stored, stage_file(name)):
        return Stage(name, source)
