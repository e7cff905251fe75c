"""JSON schemas of pydantic models as language models need them, and pydantic models of schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from memgene.core import InputError, Schema, SchemaField

MAX_TEXT = 2000
"""Characters of a text field of a `core.Schema`."""
MAX_ITEMS = 32
"""Items of a list field of a `core.Schema`."""

_DROPPED = frozenset({"title", "default", "$defs", "discriminator"})
_OPENING = {"object": "{", "array": "["}
_KIND = {"{": "object", "[": "array"}
_WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "null": "null",
}

_LOOP = 3  # as many equal items at the end of a full list are a loop

_Text = Annotated[str, Field(max_length=MAX_TEXT)]
_PLAIN: Mapping[str, Any] = {
    "str": _Text,
    "int": int,
    "float": float,
    "bool": bool,
    "list[str]": Annotated[list[_Text], Field(max_length=MAX_ITEMS)],
}
_TYPES: Mapping[str, Any] = {
    **_PLAIN,
    **{f"optional[{name}]": kind | None for name, kind in _PLAIN.items()},
}


def model_of(schema: Schema) -> type[BaseModel]:
    """A pydantic model with the schema's fields; all are required but optional ones.

    Texts hold at most MAX_TEXT characters, lists at most MAX_ITEMS items, so that a small model
    that repeats itself is stopped. Unknown fields are refused.
    """
    fields: dict[str, Any] = {}
    for position, field in enumerate(schema.fields):
        # Names that pydantic cannot give to an attribute stand in JSON and dumps all the same.
        awkward = field.name.startswith("_") or hasattr(BaseModel, field.name)
        name = f"field_{position}" if awkward else field.name
        fields[name] = (_TYPES[field.type], _field(field))
    made: type[BaseModel] = create_model(
        schema.name or "Record",
        __config__=ConfigDict(extra="forbid", protected_namespaces=(), serialize_by_alias=True),
        **fields,
    )
    return made


def _field(field: SchemaField) -> Any:
    default = None if field.type.startswith("optional") else ...
    return Field(default, alias=field.name, description=field.description or None)


def json_schema(into: type[BaseModel]) -> dict[str, Any]:
    """The model's JSON schema in the form strict servers and small models take: no references,
    every property required, none beside them, no defaults or titles. Property order is kept.

    Raises:
        InputError: the model contains itself, or is neither an object nor an array.
    """
    raw = into.model_json_schema()
    schema: dict[str, Any] = _plain(raw, raw.get("$defs", {}), ())
    if not opening_of(schema):
        raise InputError(f"{into.__name__} is neither a JSON object nor an array")
    return schema


def _plain(node: Any, definitions: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_plain(item, definitions, path) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = str(node["$ref"]).rpartition("/")[2]
        if name in path:
            raise InputError(f"{name} contains itself; a reply of bounded size cannot")
        beside = {k: v for k, v in node.items() if k != "$ref"}
        return _plain({**definitions[name], **beside}, definitions, (*path, name))
    plain: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            plain[key] = {n: _plain(v, definitions, path) for n, v in value.items()}
        elif key in ("enum", "const", "required"):
            plain[key] = value
        elif key not in _DROPPED:
            plain[key] = _plain(value, definitions, path)
    if len(plain.get("allOf", ())) == 1:
        plain = {**plain.pop("allOf")[0], **plain}
    if "properties" in plain:
        plain["required"] = list(plain["properties"])
        plain["additionalProperties"] = False
    return plain


def opening_of(schema: Mapping[str, Any]) -> str:
    """Brackets a document of this schema may begin with: `{`, `[`, both, or none."""
    options = schema.get("anyOf") or schema.get("oneOf") or (schema,)
    return "".join(b for kind, b in _OPENING.items() if any(o.get("type") == kind for o in options))


def kind_of(opening: str) -> str:
    """`object`, `array` or `object or array`."""
    return " or ".join(_KIND[bracket] for bracket in opening)


def outline(schema: Mapping[str, Any]) -> str:
    """The fields in words, one a line, nested ones indented: shorter than the schema, and what
    models too small to read a schema understand."""
    return "\n".join(_lines(schema, 0))


def sketch(schema: Mapping[str, Any]) -> str:
    """The form in one line, `...` for what is to be filled in: it shows what is nested in what."""
    options = [o for o in schema.get("anyOf", ()) if o.get("type") != "null"]
    if options:
        return sketch(options[0])
    kind = schema.get("type")
    if kind == "object":
        fields = schema.get("properties", {}).items()
        return "{" + ", ".join(f'"{name}": {sketch(field)}' for name, field in fields) + "}"
    if kind == "array":
        return f"[{sketch(schema.get('items', {}))}]"
    return '"..."' if kind == "string" else "..."


def _lines(schema: Mapping[str, Any], depth: int) -> Iterator[str]:
    for name, field in schema.get("properties", {}).items():
        about = field.get("description", "")
        yield f'{"  " * depth}- "{name}": {_words(field)}{f" - {about}" if about else ""}'
        yield from _lines(_inner(field), depth + 1)
    if "properties" not in schema and schema.get("type") == "array":
        yield f"{'  ' * depth}- each item: {_words(schema.get('items', {}))}"
        yield from _lines(_inner(schema), depth + 1)


def _inner(field: Mapping[str, Any]) -> Mapping[str, Any]:
    """The nested object of a field, through lists and alternatives with null; else nothing."""
    while field.get("type") == "array":
        field = field.get("items", {})
    options = [o for o in field.get("anyOf", ()) if o.get("type") != "null"]
    return _inner(options[0]) if len(options) == 1 else field


def _words(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return "one of " + ", ".join(_literal(v) for v in field["enum"])
    if "const" in field:
        return f"always {_literal(field['const'])}"
    options = field.get("anyOf") or field.get("oneOf")
    if options:
        return " or ".join(_words(option) for option in options)
    kind = field.get("type", "value")
    if kind == "object":
        return "object"
    if kind == "array":
        items = _words(field.get("items", {}))
        most = f", at most {field['maxItems']}" if "maxItems" in field else ""
        return f"list ({items} each{most})"
    limits = [
        f"{word} {field[key]:g}"
        for key, word in (("minimum", "from"), ("maximum", "to"), ("exclusiveMinimum", "above"))
        if key in field
    ]
    return " ".join([_WORDS.get(kind, str(kind)), *limits])


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def cut_off(value: Any, schema: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """What a model that was held to the schema was stopped in, in words, by place.

    A text that fills its `maxLength` to the last character most likely ends in the middle; a list
    that fills its `maxItems` with the same item over and over was a loop.
    """
    for option in schema.get("anyOf", ()):
        yield from cut_off(value, option, path)
    if isinstance(value, str):
        limit = schema.get("maxLength")
        if limit is not None and len(value) >= limit:
            yield f"{path or 'the text'} was cut off at {limit} characters; be shorter"
    elif isinstance(value, Mapping):
        for name, field in schema.get("properties", {}).items():
            if name in value:
                yield from cut_off(value[name], field, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list):
        limit = schema.get("maxItems")
        if limit is not None and len(value) >= limit >= _LOOP and _repeats(value[-_LOOP:]):
            yield f"{path or 'the list'} repeats the same item up to the limit of {limit}"
        for position, item in enumerate(value):
            yield from cut_off(item, schema.get("items", {}), f"{path}[{position}]")


def _repeats(items: list[Any]) -> bool:
    return all(item == items[0] for item in items)
