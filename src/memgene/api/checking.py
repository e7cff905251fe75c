"""Arguments as they come in: what cannot be used is refused by the argument's name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from operator import index
from reprlib import repr as short
from typing import Any, TypeVar

from memgene.core import InputError

_LARGEST = 1 << 62
_T = TypeVar("_T")


def text(value: object, name: str) -> str:
    """Text that is not blank."""
    if not isinstance(value, str):
        raise InputError(f"{name} must be text, got {short(value)}")
    if not value.strip():
        raise InputError(f"{name} is blank; give it some words")
    return value


def optional_text(value: object, name: str) -> str | None:
    """Text, or None."""
    if value is None or isinstance(value, str):
        return value
    raise InputError(f"{name} must be text or None, got {short(value)}")


def whole(value: object, name: str, least: int) -> int:
    """A whole number from `least` on."""
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise InputError(f"{name} must be a whole number, got {short(value)}")
    if not least <= number < _LARGEST:
        bound = f"at least {least}" if number < least else f"below {_LARGEST}"
        raise InputError(f"{name} must be {bound}, got {number}")
    return number


def share(value: object, name: str) -> float:
    """A number from 0 to 1."""
    number = float(value) if isinstance(value, Real) else None
    if number is None or not 0 <= number <= 1:
        raise InputError(f"{name} must lie between 0 and 1, got {short(value)}")
    return number


def mapping(value: object, name: str) -> dict[str, Any]:
    """A mapping with text for keys; None counts as an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{name} must be a mapping, got {short(value)}")
    for key in value:
        if not isinstance(key, str):
            raise InputError(f"{name} has the key {short(key)}; keys must be text")
    return dict(value)


def ids(value: object, name: str) -> list[str]:
    """One id or several, each once, in their order."""
    if isinstance(value, str):
        return [text(value, name)]
    if not isinstance(value, Iterable):
        raise InputError(f"{name} must be an id or several, got {short(value)}")
    given = [text(one, name) for one in value]
    if not given:
        raise InputError(f"{name} holds no id")
    return list(dict.fromkeys(given))


def instance(value: object, kinds: type[_T] | tuple[type[_T], ...], name: str, what: str) -> _T:
    """A value of one of these types; `what` says which in words."""
    if not isinstance(value, kinds):
        raise InputError(f"{name} must be {what}, got {short(value)}")
    return value
