"""Plans as they are written on a command line: `name=value,name=value`."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from memgene.core import ConfigError, InputError


def parts_of(text: str) -> Iterator[tuple[str, str]]:
    """Names and values in order; empty parts are passed over."""
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, _, value = part.partition("=")
        yield name.strip(), value.strip()


def read_value(name: str, text: str, like: Any, *, absent: bool = False) -> Any:
    """A setting's value, in the kind of the value `like` that it has now. A tuple is written with
    `+` between its items; a number that may be absent (`absent`, or like None) may be `none`.

    Raises InputError when the text is none.
    """
    if isinstance(like, bool):
        if text not in ("true", "false"):
            raise InputError(f"{name} is true or false, got {text!r}")
        return text == "true"
    if isinstance(like, tuple):
        return tuple(filter(None, text.split("+")))
    if isinstance(like, str):
        return text
    if text == "none" and (absent or like is None):
        return None
    try:
        return int(text) if isinstance(like, int) else _number(text)
    except ValueError:
        raise InputError(f"{name} needs a number, got {text!r}") from None


def choice(plan: object, name: str, known: type[StrEnum]) -> None:
    """Make a frozen plan's setting a member of `known`. Raises ConfigError when it is none."""
    given = getattr(plan, name)
    try:
        object.__setattr__(plan, name, known(given))
    except ValueError:
        names = ", ".join(known)
        raise ConfigError(f"there is no {name} {given!r}; there is {names}") from None


def plain_value(value: Any) -> Any:
    """An enumeration as its text, everything else as it is."""
    return str(value) if isinstance(value, StrEnum) else value


def _number(text: str) -> int | float:
    """Whole where it is written so: a setting that may be absent does not tell its kind."""
    return int(text) if text.lstrip("-").isdigit() else float(text)
