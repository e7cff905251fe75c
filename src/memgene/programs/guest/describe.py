"""The records of a program: what their fields are, and how values become a record."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_PLAIN: Mapping[object, str] = {str: "str", int: "int", float: "float", bool: "bool"}
_OPTIONAL = "optional["


class ProgramError(Exception):
    """The program is not what M* §2 asks for; the message says where."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field: name, type (as `memgene.core.FieldType`), description, whether an agent must fill
    it in, and else its default, None where that is not of the field's type."""

    name: str
    type: str
    description: str
    required: bool
    default: Any = None


@dataclass(frozen=True, slots=True)
class Record:
    """A dataclass of a program, and its fields."""

    made: type
    fields: tuple[Field, ...]

    @property
    def name(self) -> str:
        """Name of the class."""
        return self.made.__name__

    def described(self) -> dict[str, Any]:
        """Name, docstring and fields, as plain JSON."""
        about = self.made.__doc__ or ""
        if about.startswith(f"{self.name}("):  # what @dataclass writes itself
            about = ""
        return {
            "name": self.name,
            "about": about.strip(),
            "fields": [dataclasses.asdict(field) for field in self.fields],
        }

    def filled(self, values: Mapping[str, Any]) -> Any:
        """An instance with these values; fields left out take their default.

        Raises ProgramError when a field is unknown, missing, or its value of another type. Only an
        integer given for a number, or a number without fraction for an integer, is converted.
        """
        known = {field.name for field in self.fields}
        unknown = [name for name in values if name not in known]
        if unknown:
            raise ProgramError(f"{self.name} has no field {unknown[0]!r}")
        missing = [f.name for f in self.fields if f.required and f.name not in values]
        if missing:
            raise ProgramError(f"{self.name} needs {', '.join(missing)}")
        given = {f.name: self._value(f, values[f.name]) for f in self.fields if f.name in values}
        return self.made(**given)

    def _value(self, field: Field, value: Any) -> Any:
        kind = _plain(field.type)
        if kind == "float" and type(value) is int:
            return float(value)
        if kind == "int" and type(value) is float and value.is_integer():
            return int(value)
        if not _fits(field.type, value):
            raise ProgramError(
                f"{self.name}.{field.name} must be {field.type}, got {type(value).__name__}"
            )
        return value


def record_of(made: object, name: str, namespace: Mapping[str, Any]) -> Record:
    """The record a program defines under this name. `namespace` resolves annotations in quotes.

    Raises ProgramError when it is no dataclass or has a field of a type that JSON cannot hold.
    """
    if not isinstance(made, type):
        raise ProgramError(f"there is no class {name}; a memory program defines it")
    if not dataclasses.is_dataclass(made):
        raise ProgramError(f"{name} must be a dataclass: put @dataclass before the class")
    return Record(
        made, tuple(_field(name, f, namespace) for f in dataclasses.fields(made) if f.init)
    )


def _field(record: str, field: dataclasses.Field[Any], namespace: Mapping[str, Any]) -> Field:
    kind = _type(field.type, namespace)
    if kind is None:
        shown = field.type if isinstance(field.type, str) else typing._type_repr(field.type)
        raise ProgramError(
            f"{record}.{field.name} is of type {shown}; fields may be str, int, float, bool, "
            "list[str], or Optional of one of them"
        )
    required = field.default is dataclasses.MISSING
    default = None if required else field.default
    if field.default_factory is not dataclasses.MISSING:
        required, default = False, field.default_factory()
    description = str(field.metadata.get("description") or "")
    return Field(field.name, kind, description, required, default if _fits(kind, default) else None)


def _type(annotation: Any, namespace: Mapping[str, Any]) -> str | None:
    """Our name of a type; None when no field may have it."""
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    lenient = {**vars(typing), **namespace}
    try:
        hint = typing.get_type_hints(holder, globalns=lenient)["it"]
    except (NameError, TypeError, AttributeError, SyntaxError):
        return None
    if typing.get_origin(hint) not in (typing.Union, types.UnionType):
        return _name(hint)
    rest = [kind for kind in typing.get_args(hint) if kind is not type(None)]
    name = _name(rest[0]) if len(rest) == 1 else None
    return name and f"{_OPTIONAL}{name}]"


def _name(hint: Any) -> str | None:
    """Our name of a type that is not optional; a list of nothing said is one of strings."""
    if hint is list or typing.get_origin(hint) is list:
        return "list[str]" if typing.get_args(hint) in ((), (str,)) else None
    return _PLAIN.get(hint)


def _plain(kind: str) -> str:
    """What an optional type holds beside None; another type itself."""
    return kind[len(_OPTIONAL) : -1] if kind.startswith(_OPTIONAL) else kind


def _fits(kind: str, value: Any) -> bool:
    plain = _plain(kind)
    if value is None:
        return plain != kind
    if plain == "list[str]":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if plain == "str":
        return isinstance(value, str)
    return type(value).__name__ == plain
