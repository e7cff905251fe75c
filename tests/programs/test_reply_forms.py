"""Which schemas of replies a program may hand to a language model."""

from __future__ import annotations

from typing import Any

import pytest

from memgene.core import Schema, SchemaField
from memgene.llm.schemas import json_schema, model_of
from memgene.programs.reply_forms import unusable

TEXT = {"type": "string", "description": "a name", "maxLength": 40}


def nested(levels: int) -> dict[str, Any]:
    return {"type": "array", "items": nested(levels - 1)} if levels else TEXT


def test_what_programs_usually_ask_for_is_usable() -> None:
    schema = {
        "title": "Facts",
        "type": "object",
        "properties": {
            "names": {"type": "array", "items": TEXT, "maxItems": 9},
            "kind": {"enum": ["a", "b"]},
            "when": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "sure": {"type": ["boolean", "null"], "default": False},
            "count": {"type": "integer", "minimum": 0},
        },
        "required": ["names"],
        "additionalProperties": False,
    }
    assert unusable(schema) == ""
    record = Schema("Note", (SchemaField("a", "list[str]"), SchemaField("b", "optional[str]")))
    assert unusable(json_schema(model_of(record))) == ""


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"$ref": "https://example.org/x"}, "schema: '$ref' cannot be used"),
        ({"type": "string", "pattern": "(a*)*b"}, "'pattern'"),
        ({"type": "nonsense"}, "'type'"),
        ({"type": []}, "'type'"),
        ({"type": "array", "minItems": 10**9}, "'minItems'"),
        ({"type": "string", "maxLength": True}, "'maxLength'"),
        ({"enum": "ab"}, "'enum'"),
        ({"anyOf": []}, "'anyOf'"),
        ({"properties": {"a": {"properties": {"b": 3}}}}, "schema.a.b is no schema"),
        ({"items": {"$defs": {}}}, "schema[]: '$defs'"),
        ({"properties": {f"f{i}": TEXT for i in range(200)}}, "characters, at most 10,000"),
        (nested(9), "deeper than 8 levels"),
    ],
)
def test_the_rest_is_refused_with_its_place(schema: dict[str, Any], said: str) -> None:
    assert said in unusable(schema)


def test_eight_levels_are_not_too_deep() -> None:
    assert unusable(nested(8)) == ""
