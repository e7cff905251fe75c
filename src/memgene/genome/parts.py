"""Files of a genome beside its head: the configuration with its router and stages, the program,
the prompts, the learning.

A configuration's TOML names its router and its stages by digest; they lie beside it in files of
their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memgene.core import ConfigError, NotFoundError, StoredConfigError
from memgene.retrieval.config import RetrievalConfig, parsed
from memgene.retrieval.router.router import Router
from memgene.retrieval.stages.stage import Stage

RETRIEVAL = "retrieval.toml"
PROMPTS = "prompts.toml"
PROGRAM = "program.py"
ROUTER = "router.npz"
MEMORY = "memory.jsonl"
STAGES = "stages"
"""The folder of the stages, `NAME.py` each."""


def stage_file(name: str) -> str:
    """Where a stage of this name lies beside its configuration."""
    return f"{STAGES}/{name}.py"


def config_files(config: RetrievalConfig, file: str = RETRIEVAL) -> dict[str, bytes]:
    """Names and contents of the files that hold a configuration, in order: `file`, then
    `router.npz` and `stages/NAME.py` where it has them."""
    files = {file: config.to_toml().encode()}
    if config.router is not None:
        files[ROUTER] = config.router.to_bytes()
    for placed in config.stages:
        files[stage_file(placed.name)] = placed.stage.source.encode()
    return files


def read_config(path: Path) -> RetrievalConfig:
    """The configuration in a file, with the `router.npz` and `stages/NAME.py` beside it that it
    names. Nothing of a stage is run.

    Raises:
        NotFoundError: the file is not there, or a router or stage it names is not.
        ConfigError: the file, the router or a stage is damaged or of another format, or is not the
            one that is named.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotFoundError(f"there is no configuration at {path}") from None
    except UnicodeDecodeError as error:
        raise StoredConfigError(f"{path} is damaged: {error}") from error
    values = parsed(text)
    return RetrievalConfig.from_dict(
        values, _router_beside(path, values), _stages_beside(path, values)
    )


def named_stages(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the stages in a configuration's values. Raises ConfigError where they are no table,
    or a name is not one that a stage can have."""
    named = values.get("stages", {})
    if not isinstance(named, Mapping):
        raise ConfigError(f"stages of a configuration must be a table, got {named!r}")
    for name in named:
        if not name.isidentifier():  # it becomes a path: nothing may lead out of the folder
            raise ConfigError(f"a configuration names a stage {name!r}, which is no name of one")
    return tuple(named)


def _router_beside(path: Path, values: Mapping[str, Any]) -> Router | None:
    if "router" not in values:
        return None
    beside = path.parent / ROUTER
    return Router.from_bytes(_content(path, "a router", beside), str(beside))


def _stages_beside(path: Path, values: Mapping[str, Any]) -> list[Stage]:
    found = []
    for name in named_stages(values):
        beside = path.parent / stage_file(name)
        content = _content(path, f"stage {name}", beside)
        try:
            found.append(Stage(name, content.decode()))
        except UnicodeDecodeError as error:
            raise StoredConfigError(f"{beside} is damaged: {error}") from error
    return found


def _content(path: Path, what: str, beside: Path) -> bytes:
    try:
        return beside.read_bytes()
    except FileNotFoundError:
        raise NotFoundError(f"{path} names {what}, and there is no {beside}") from None
