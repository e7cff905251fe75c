"""Where settings come from: `memgene.toml`, then `MEMGENE_*`, then arguments; later wins."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from memgene.core.errors import ConfigError, StoredConfigError
from memgene.settings.model import LLM_ROLES, Settings

FILE_NAME = "memgene.toml"
PREFIX = "MEMGENE_"
FILE_VARIABLE = "MEMGENE_CONFIG"
_SIMPLE = ("embedder", "agent", "data", "db")
_ARGUMENTS = "arguments"


def load_settings(
    arguments: Mapping[str, Any] | None = None,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """The settings in force.

    `folder` (default: the current one) may hold a `memgene.toml`; the variable `MEMGENE_CONFIG`
    names another file instead. Arguments that are None do not count as given. Relative paths in a
    file are relative to that file.

    Raises:
        ConfigError: a key or variable is unknown or has an unusable value; names it and its place
            (StoredConfigError where that is the file or the environment).
    """
    variables = os.environ if environment is None else environment
    file = _file(folder or Path.cwd(), variables)
    merged: dict[str, Any] = {}
    if file is not None:
        merged = _read(file)
        _check(merged, f"{file}")
    from_variables = _from_environment(variables)
    merged = _merge(merged, from_variables)
    given = {name: value for name, value in (arguments or {}).items() if value is not None}
    _check(given, _ARGUMENTS)
    return _check(_merge(merged, given), "settings")


def environment_names() -> tuple[str, ...]:
    """Every variable that is read, in the order of the settings."""
    simple = tuple(PREFIX + name.upper() for name in _SIMPLE)
    roles = tuple(f"{PREFIX}LLM_{role.upper()}_MODEL" for role in LLM_ROLES)
    return (FILE_VARIABLE, *simple, *roles)


def _file(folder: Path, variables: Mapping[str, str]) -> Path | None:
    named = variables.get(FILE_VARIABLE)
    if named:
        path = Path(named)
        if not path.is_file():
            raise StoredConfigError(f"{FILE_VARIABLE} names {named}, which is not a file")
        return path
    path = folder / FILE_NAME
    return path if path.is_file() else None


def _read(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StoredConfigError(f"{path} is not TOML: {error}") from error
    except OSError as error:
        raise StoredConfigError(f"{path} cannot be read: {error.strerror}") from error
    if isinstance(values.get("data"), str):
        values["data"] = path.parent / values["data"]
    db = values.get("db")
    if isinstance(db, str) and db != ":memory:" and "://" not in db:
        values["db"] = str(path.parent / db)
    return values


def _from_environment(variables: Mapping[str, str]) -> dict[str, Any]:
    known = set(environment_names())
    values: dict[str, Any] = {}
    for name in sorted(n for n in variables if n.startswith(PREFIX)):
        if name not in known:
            raise StoredConfigError(
                f"environment variable {name} is not a setting; "
                f"there are {', '.join(environment_names())}"
            )
        if name == FILE_VARIABLE:
            continue
        key = name.removeprefix(PREFIX).lower()
        if key.startswith("llm_"):
            role = key.removeprefix("llm_").removesuffix("_model")
            one: dict[str, Any] = {"llm": {role: {"model": variables[name]}}}
        else:
            one = {key: variables[name]}
        _check(one, f"environment variable {name}")
        values = _merge(values, one)
    return values


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            merged[key] = _merge(below, value)
        else:
            merged[key] = value
    return merged


def _check(values: Mapping[str, Any], where: str) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        found = [_finding(e["loc"], e["type"], e["msg"], e["input"]) for e in error.errors()]
        kind = ConfigError if where == _ARGUMENTS else StoredConfigError
        raise kind(f"{where}: {'; '.join(found)}") from error


def _finding(place: tuple[int | str, ...], kind: str, message: str, given: object) -> str:
    key = ".".join(map(str, place))
    if kind == "extra_forbidden":
        known = Settings.model_fields if len(place) == 1 else LLM_ROLES
        within = "model" if len(place) > 2 else ", ".join(known)
        return f"unknown key {key!r} (known here: {within})"
    return f"key {key!r}: {message[:1].lower()}{message[1:]}, got {given!r}"
