"""Relative paths in a settings file are relative to the file, not to whoever reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memgene.settings.model import LLM_ROLES

_PATH_MODELS = ("files:", "replay:")


def resolve_paths(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The values of a settings file with their relative paths under `folder`.

    Values of the wrong type are left for validation to name. The words of `command:…` are left
    too: which of them are paths, only the command knows.
    """
    resolved = dict(values)
    _apply(resolved, "data", lambda data: str(folder / data))
    _apply(resolved, "db", lambda db: db if db == ":memory:" or "://" in db else str(folder / db))
    if isinstance(resolved.get("llm"), Mapping):
        resolved["llm"] = _roles(resolved["llm"], folder)
    return resolved


def _roles(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    resolved = dict(values)
    _apply(resolved, "cache", lambda cache: cache if cache == "off" else _under(folder, cache))
    for role in LLM_ROLES:
        if isinstance(resolved.get(role), Mapping):
            section = dict(resolved[role])
            _apply(section, "model", lambda model: _model(model, folder))
            _apply(section, "record", lambda record: _under(folder, record))
            resolved[role] = section
    return resolved


def _model(model: str, folder: Path) -> str:
    for prefix in _PATH_MODELS:
        path = model.removeprefix(prefix)
        if path != model and path.strip():
            return prefix + _under(folder, path)
    path = model.removeprefix("local/")
    if path != model and (path.endswith(".gguf") or "/" in path):
        return f"local/{_under(folder, path)}"
    return model


def _under(folder: Path, path: str) -> str:
    return str(folder / Path(path).expanduser())


def _apply(values: dict[str, Any], key: str, change: Callable[[str], str]) -> None:
    if isinstance(values.get(key), str):
        values[key] = change(values[key])
