"""From what a worker says of its program to a contract. The worker is not trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memgene.core import Instructions, Schema, SchemaField
from memgene.core.schema import FieldType
from memgene.programs.program import Contract
from memgene.sandbox import FailureKind, GuestError

_PLAIN: Mapping[str, Mapping[str, Any]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "list[str]": {"type": "array", "items": {"type": "string"}},
}
_JSON: Mapping[str, Mapping[str, Any]] = {
    **_PLAIN,
    **{f"optional[{name}]": {"anyOf": [kind, {"type": "null"}]} for name, kind in _PLAIN.items()},
}
_Text = Annotated[str, Field(max_length=20_000)]
_MOST = 60_000  # characters of all that agents are told in every prompt


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Field(_Strict):
    name: Annotated[str, Field(pattern=r"^[^\W\d]\w{0,99}$")]
    type: FieldType
    description: _Text
    required: bool
    default: Any = None


class _Record(_Strict):
    name: Annotated[str, Field(pattern=r"^[^\W\d]\w{0,99}$")]
    about: _Text
    fields: Annotated[list[_Field], Field(max_length=200)]


class _Instructions(_Strict):
    knowledge_item: _Text
    query: _Text
    response: _Text
    always_on: _Text


class _Declared(_Strict):
    item: _Record
    query: _Record
    instructions: _Instructions


def contract_of(loaded: object) -> Contract:
    """The contract that a worker declared when its program was loaded.

    Raises GuestError (`output`, where `load`) when it is none, or a part of it is out of bounds.
    """
    try:
        declared = _Declared.model_validate(loaded)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        message = f"the program declares an unusable contract: {place}: {first['msg']}"
        raise GuestError(FailureKind.OUTPUT, "load", message) from error
    told = len(declared.model_dump_json())
    if told > _MOST:
        message = (
            f"the program's fields and instructions take {told:,} characters, at most {_MOST:,} "
            "can stand in every prompt"
        )
        raise GuestError(FailureKind.OUTPUT, "load", message)
    return Contract(
        item_schema=_schema(declared.item),
        query_schema=_schema(declared.query),
        instructions=Instructions(**declared.instructions.model_dump()),
        item_json=_json_schema(declared.item),
        query_json=_json_schema(declared.query),
    )


def _schema(record: _Record) -> Schema:
    fields = tuple(SchemaField(f.name, f.type, f.description) for f in record.fields)
    return Schema(record.name, fields)


def _json_schema(record: _Record) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for field in record.fields:
        entry = dict(_JSON[field.type])
        if field.description:
            entry["description"] = field.description
        if not field.required:
            entry["default"] = field.default
        properties[field.name] = entry
    about = {"description": record.about} if record.about else {}
    return {
        "title": record.name,
        "type": "object",
        **about,
        "properties": properties,
        "required": [field.name for field in record.fields if field.required],
        "additionalProperties": False,
    }
