"""JSON schemas that a program may ask a reply to fit.

They are written by untrusted programs and become grammars, some of them inside this process; and a
server that refuses one may be asked without any schema from then on, by everybody. So they are
held to the plain part of JSON schema that all providers take.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

MAX_CHARACTERS = 10_000
MAX_DEPTH = 8
MAX_BOUND = 10_000

_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_WORDS = frozenset({"title", "description"})
_BOUNDS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"})
_CHOICES = frozenset({"enum", "const", "default"})


def unusable(schema: Mapping[str, Any]) -> str:
    """Why a schema is not usable, in words for its author; empty where it is."""
    length = len(json.dumps(schema))
    if length > MAX_CHARACTERS:
        return f"the schema has {length:,} characters, at most {MAX_CHARACTERS:,} are allowed"
    found = _schemas(schema, "schema", 0)
    return next((fault for place, node in found if (fault := _fault(place, node))), "")


def _schemas(node: Any, place: str, depth: int) -> Iterator[tuple[str, Any]]:
    """Every schema in a schema, with its place. What lies too deep is yielded as None."""
    if depth > MAX_DEPTH:
        yield place, None
        return
    yield place, node
    if not isinstance(node, Mapping):
        return
    properties = node.get("properties")
    if isinstance(properties, Mapping):
        for name, inner in properties.items():
            yield from _schemas(inner, f"{place}.{name}", depth + 1)
    if "items" in node:
        yield from _schemas(node["items"], f"{place}[]", depth + 1)
    options = node.get("anyOf")
    for inner in options if isinstance(options, list) else ():
        yield from _schemas(inner, f"{place}|", depth + 1)


def _fault(place: str, node: Any) -> str:
    if node is None:
        return f"{place[:80]} is nested deeper than {MAX_DEPTH} levels"
    if not isinstance(node, Mapping):
        return f"{place[:80]} is no schema"
    for key, value in node.items():
        if not _fits(key, value):
            return f"{place[:80]}: {key!r} cannot be used like this in the schema of a reply"
    return ""


def _fits(key: str, value: Any) -> bool:
    if key == "type":
        named = value if isinstance(value, list) else [value]
        return bool(named) and all(isinstance(name, str) and name in _TYPES for name in named)
    if key in _BOUNDS:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and abs(value) <= MAX_BOUND
    if key in _WORDS:
        return isinstance(value, str)
    if key in _CHOICES:
        return isinstance(value, list) == (key == "enum")
    if key == "required":
        return isinstance(value, list) and all(isinstance(name, str) for name in value)
    if key == "properties":
        return isinstance(value, Mapping)
    if key == "anyOf":
        return isinstance(value, list) and bool(value)
    return key == "items" or (key == "additionalProperties" and isinstance(value, bool))
