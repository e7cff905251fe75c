"""From option texts to values; what cannot be read is a usage error."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memgene.core.errors import NotFoundError

if TYPE_CHECKING:
    from memgene.api import Memory

STDIN = "-"


def json_object(text: str | None, option: str) -> dict[str, Any] | None:
    """The JSON object in an option's text."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"{option} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise typer.BadParameter(f'{option} needs a JSON object, such as {{"key": "value"}}')
    return value


def moment(text: str | None, option: str) -> datetime | None:
    """The time in an option's text."""
    from memgene.api.messages import read_time

    return read_time(text, option)


def words(text: str) -> str:
    """The text itself, or what stands on stdin when it is `-`."""
    return sys.stdin.read() if text == STDIN else text


def messages(text: str) -> Any:
    """Messages as a JSON list, or one JSON object per line."""
    try:
        if text.lstrip().startswith("["):
            return json.loads(text)
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise typer.BadParameter(f"these are not messages in JSON: {error}") from error


def task_options(given: Sequence[str] | None) -> dict[str, Any]:
    """`name=value` pairs; true, false and numbers are read as such."""
    return _values(given or (), "--option")


def values(text: str | None, option: str) -> dict[str, Any]:
    """`name=value,name=value`; true, false and numbers are read as such."""
    return _values(names(text or ""), option)


def _values(pairs: Sequence[str], option: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise typer.BadParameter(f"{option} needs NAME=VALUE, got {pair!r}")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def names(text: str) -> list[str]:
    """The parts of a comma-separated list."""
    return [part.strip() for part in text.split(",") if part.strip()]


def open_memory(
    db: str | None,
    *,
    genome: Path | None = None,
    embedder: str | None = None,
    make: bool = False,
) -> Memory:
    """The memory a verb works on. Only `make` creates a file that is not there."""
    from memgene.api import Memory

    return Memory(bank_path(db, make=make), genome=genome, embedder=embedder)


def bank_path(db: str | None, *, make: bool = False) -> str:
    """The bank's file from the option or the settings."""
    from memgene.settings import load_settings

    path = load_settings({"db": db}).db
    if path is None:
        raise typer.BadParameter(
            "which memory? give --db FILE, set MEMGENE_DB, or put db = … into memgene.toml"
        )
    if not make and not Path(path).is_file():
        raise NotFoundError(f"there is no memory at {path}; `memgene add` makes one")
    return path
