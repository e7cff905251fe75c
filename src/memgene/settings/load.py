"""Where settings come from: `memgene.toml`, then `MEMGENE_*`, then arguments; later wins."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from memgene.core.errors import ConfigError, StoredConfigError
from memgene.settings.file_paths import resolve_paths
from memgene.settings.model import (
    LLM_ROLES,
    LLMRoles,
    LLMSettings,
    SandboxSettings,
    Settings,
)

FILE_NAME = "memgene.toml"
PREFIX = "MEMGENE_"
FILE_VARIABLE = "MEMGENE_CONFIG"
_SIMPLE = ("embedder", "agent", "data", "db")
_LLM = "LLM_"
_LLM_CACHE = f"{PREFIX}{_LLM}CACHE"
_SANDBOX = {f"{PREFIX}SANDBOX_{name.upper()}": name for name in SandboxSettings.model_fields}
_ARGUMENTS = "arguments"
_SECRET_KEYS = ("api_key", "base_url")  # a refused address may be refused for its password


def load_settings(
    arguments: Mapping[str, Any] | None = None,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """The settings in force.

    `folder` (default: the current one) may hold a `memgene.toml`; the variable `MEMGENE_CONFIG`
    names another file instead. Arguments that are None, also inside a section, do not count as
    given. Relative paths in a file are relative to that file.

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
    given = _given(arguments or {})
    _check(given, _ARGUMENTS)
    return _check(_merge(merged, given), "settings")


def environment_names() -> tuple[str, ...]:
    """Every variable that is read, in the order of the settings."""
    simple = tuple(PREFIX + name.upper() for name in _SIMPLE)
    return (FILE_VARIABLE, *simple, *_SANDBOX, _LLM_CACHE, *_role_variables())


def _role_variables() -> dict[str, tuple[str, str]]:
    """Variable → (role, field)."""
    return {
        f"{PREFIX}{_LLM}{role.upper()}_{field.upper()}": (role, field)
        for role in LLM_ROLES
        for field in LLMSettings.model_fields
    }


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
    return resolve_paths(values, path.parent)


def _from_environment(variables: Mapping[str, str]) -> dict[str, Any]:
    roles = _role_variables()
    values: dict[str, Any] = {}
    for name in sorted(n for n in variables if n.startswith(PREFIX) and n != FILE_VARIABLE):
        key = name.removeprefix(PREFIX).lower()
        if name in roles:
            role, field = roles[name]
            one: dict[str, Any] = {"llm": {role: {field: variables[name]}}}
        elif name == _LLM_CACHE:
            one = {"llm": {"cache": variables[name]}}
        elif name in _SANDBOX:
            one = {"sandbox": {_SANDBOX[name]: variables[name]}}
        elif key in _SIMPLE:
            one = {key: variables[name]}
        else:
            raise StoredConfigError(f"environment variable {name} is not a setting; {_known()}")
        _check(one, f"environment variable {name}")
        values = _merge(values, one)
    return values


def _known() -> str:
    """The variables in a few words: roles × fields would be more than a screen."""
    own = (PREFIX + name.upper() for name in _SIMPLE)
    simple = ", ".join((FILE_VARIABLE, *own, *_SANDBOX, _LLM_CACHE))
    roles = ", ".join(role.upper() for role in LLM_ROLES)
    fields = ", ".join(field.upper() for field in LLMSettings.model_fields)
    return f"there are {simple} and {PREFIX}{_LLM}ROLE_FIELD with ROLE {roles}; FIELD {fields}"


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _given(value) if isinstance(value, Mapping) else value
        for name, value in arguments.items()
        if value is not None
    }


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
        return f"unknown key {key!r} (known here: {', '.join(_section(place).model_fields)})"
    message = message.removeprefix("Value error, ")
    said = f"key {key!r}: {message[:1].lower()}{message[1:]}"
    if isinstance(given, Mapping) or place[-1] in _SECRET_KEYS:
        return said
    return f"{said}, got {given!r}"


def _section(place: tuple[int | str, ...]) -> type[BaseModel]:
    """The section that a key is in."""
    if len(place) == 1:
        return Settings
    if place[0] == "sandbox":
        return SandboxSettings
    return LLMRoles if len(place) == 2 else LLMSettings
