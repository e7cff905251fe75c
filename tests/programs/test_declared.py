"""What a worker says of its program becomes a contract, or a failure."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from memgene.core import Instructions, Schema, SchemaField
from memgene.programs.declared import contract_of
from memgene.sandbox import FailureKind, GuestError

NAME = {"name": "name", "type": "str", "description": "the visitor", "required": True}
DECLARED: dict[str, Any] = {
    "item": {
        "name": "KnowledgeItem",
        "about": "Who came.",
        "fields": [
            {**NAME, "default": None},
            {
                "name": "note",
                "type": "optional[str]",
                "description": "",
                "required": False,
                "default": None,
            },
            {
                "name": "topics",
                "type": "list[str]",
                "description": "",
                "required": False,
                "default": [],
            },
        ],
    },
    "query": {"name": "Query", "about": "", "fields": []},
    "instructions": {"knowledge_item": "a", "query": "b", "response": "c", "always_on": ""},
}


def test_schemas_and_instructions() -> None:
    contract = contract_of(DECLARED)
    assert contract.item_schema == Schema(
        "KnowledgeItem",
        (
            SchemaField("name", "str", "the visitor"),
            SchemaField("note", "optional[str]"),
            SchemaField("topics", "list[str]"),
        ),
    )
    assert contract.query_schema == Schema("Query")
    assert contract.instructions == Instructions("a", "b", "c", "")


@pytest.mark.parametrize(
    ("kind", "json"),
    [
        ("int", {"type": "integer"}),
        ("float", {"type": "number"}),
        ("bool", {"type": "boolean"}),
        ("list[str]", {"type": "array", "items": {"type": "string"}}),
    ],
)
def test_optional_fields_may_be_null(kind: str, json: dict[str, Any]) -> None:
    declared = copy.deepcopy(DECLARED)
    declared["item"]["fields"][1]["type"] = f"optional[{kind}]"
    contract = contract_of(declared)
    assert contract.item_schema.fields[1].type == f"optional[{kind}]"
    expected = {"anyOf": [json, {"type": "null"}], "default": None}
    assert contract.item_json["properties"]["note"] == expected


def test_json_schemas_keep_descriptions_and_defaults() -> None:
    contract = contract_of(DECLARED)
    assert contract.item_json == {
        "title": "KnowledgeItem",
        "type": "object",
        "description": "Who came.",
        "properties": {
            "name": {"type": "string", "description": "the visitor"},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "topics": {"type": "array", "items": {"type": "string"}, "default": []},
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    assert contract.query_json == {
        "title": "Query",
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }


def changed(*path: Any, to: Any) -> Any:
    declared = copy.deepcopy(DECLARED)
    place = declared
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return declared


@pytest.mark.parametrize(
    "loaded",
    [
        None,
        [],
        {},
        changed("item", "fields", 0, "type", to="dict"),
        changed("item", "fields", 0, "name", to="not a name"),
        changed("item", "fields", 0, "name", to=5),
        changed("item", "fields", to=[NAME] * 201),
        changed("instructions", "query", to="x" * 100_001),
        changed("instructions", "query", to=None),
        changed("extra", to=1),
    ],
)
def test_anything_else_is_a_failure_to_load(loaded: Any) -> None:
    with pytest.raises(GuestError, match="unusable contract") as caught:
        contract_of(loaded)
    assert (caught.value.kind, caught.value.where) == (FailureKind.OUTPUT, "load")
