"""What an agent is asked to fill in: flat records of JSON-compatible fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

FieldType = Literal[
    "str",
    "int",
    "float",
    "bool",
    "list[str]",
    "optional[str]",
    "optional[int]",
    "optional[float]",
    "optional[bool]",
    "optional[list[str]]",
]


@dataclass(frozen=True, slots=True)
class SchemaField:
    """One field: its name, its type, and what an agent should put there."""

    name: str
    type: FieldType
    description: str = ""


@dataclass(frozen=True, slots=True)
class Schema:
    """A named flat record, for items (written) and queries (asked)."""

    name: str
    fields: tuple[SchemaField, ...] = ()


@dataclass(frozen=True, slots=True)
class Filled:
    """A schema with values, one per field, and what was said to get them: (role, text) turns of a
    conversation with a model, empty where none was needed."""

    schema: Schema
    values: Mapping[str, Any] = field(default_factory=dict)
    said: tuple[tuple[Literal["system", "user", "assistant"], str], ...] = ()
