"""JSON schemas as models take them, outlines in words, pydantic models of core schemas."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field, RootModel, ValidationError

from memgene.core import InputError, Schema, SchemaField
from memgene.llm.schemas import (
    MAX_ITEMS,
    MAX_TEXT,
    cut_off,
    json_schema,
    model_of,
    opening_of,
    outline,
    sketch,
)

ITEM = Schema(
    "Item",
    (
        SchemaField("topic", "str", "what it is about"),
        SchemaField("count", "int"),
        SchemaField("share", "float"),
        SchemaField("sure", "bool"),
        SchemaField("tags", "list[str]", "a few words"),
        SchemaField("note", "optional[str]"),
    ),
)
WHOLE = {"topic": "t", "count": 2, "share": 0.5, "sure": True, "tags": ["a"], "note": None}


class Mood(StrEnum):
    GOOD = "good"
    BAD = "bad"


class Fact(BaseModel):
    """A fact."""

    text: str = Field(max_length=300, description="one sentence")
    who: list[str] = Field(max_length=5)
    mood: Mood
    weight: float = Field(default=1.0, ge=0, le=1)


class Notes(BaseModel):
    title: str = "none"
    best: Optional[Fact] = None  # noqa: UP045
    facts: list[Fact] = Field(description="what was said", max_length=20)
    kind: Literal["a", "b"]


def test_a_schema_becomes_a_model_with_its_fields() -> None:
    made = model_of(ITEM)
    assert made.model_validate(WHOLE).model_dump() == WHOLE
    without_note = {k: v for k, v in WHOLE.items() if k != "note"}
    assert made.model_validate(without_note).model_dump() == WHOLE


@pytest.mark.parametrize(
    "change",
    [
        {"topic": None},
        {"topic": "x" * (MAX_TEXT + 1)},
        {"count": "many"},
        {"sure": "perhaps"},
        {"tags": "a"},
        {"tags": ["a"] * (MAX_ITEMS + 1)},
        {"other": 1},
    ],
)
def test_a_model_of_a_schema_refuses_what_does_not_fit(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        model_of(ITEM).model_validate({**WHOLE, **change})


def test_all_fields_but_optional_ones_are_required() -> None:
    with pytest.raises(ValidationError) as caught:
        model_of(ITEM).model_validate({})
    missing = [e["loc"][0] for e in caught.value.errors()]
    assert missing == ["topic", "count", "share", "sure", "tags"]


@pytest.mark.parametrize(
    ("kind", "value", "wrong"),
    [
        ("optional[int]", 3, "many"),
        ("optional[float]", 0.5, "much"),
        ("optional[bool]", False, "perhaps"),
        ("optional[list[str]]", ["a"], ["a"] * (MAX_ITEMS + 1)),
        ("optional[str]", "a", "x" * (MAX_TEXT + 1)),
    ],
)
def test_optional_fields_may_be_null_or_left_out(kind: Any, value: Any, wrong: Any) -> None:
    made = model_of(Schema("Item", (SchemaField("it", kind),)))
    for given in (value, None):
        assert made.model_validate({"it": given}).model_dump() == {"it": given}
    assert made.model_validate({}).model_dump() == {"it": None}
    with pytest.raises(ValidationError):
        made.model_validate({"it": wrong})


def test_field_names_that_pydantic_uses_itself_stay_what_they_are() -> None:
    names = ("json", "copy", "model_dump", "_private", "model_x", "class")
    made = model_of(Schema("Odd", tuple(SchemaField(n, "str") for n in names)))
    values = {name: name.upper() for name in names}
    assert made.model_validate(values).model_dump() == values
    assert tuple(json_schema(made)["properties"]) == names


def test_the_schema_of_a_model_is_flat_strict_and_in_order() -> None:
    fact = {
        "description": "A fact.",
        "properties": {
            "text": {"description": "one sentence", "maxLength": 300, "type": "string"},
            "who": {"items": {"type": "string"}, "maxItems": 5, "type": "array"},
            "mood": {"enum": ["good", "bad"], "type": "string"},
            "weight": {"maximum": 1, "minimum": 0, "type": "number"},
        },
        "required": ["text", "who", "mood", "weight"],
        "type": "object",
        "additionalProperties": False,
    }
    made = json_schema(Notes)
    assert made == {
        "properties": {
            "title": {"type": "string"},
            "best": {"anyOf": [fact, {"type": "null"}]},
            "facts": {
                "description": "what was said",
                "items": fact,
                "maxItems": 20,
                "type": "array",
            },
            "kind": {"enum": ["a", "b"], "type": "string"},
        },
        "required": ["title", "best", "facts", "kind"],
        "type": "object",
        "additionalProperties": False,
    }
    assert list(made["properties"]) == ["title", "best", "facts", "kind"]


def test_properties_named_like_keywords_are_kept() -> None:
    class Paper(BaseModel):
        title: str
        default: int
        enum: list[str]

    assert list(json_schema(Paper)["properties"]) == ["title", "default", "enum"]


def test_the_outline_says_the_fields_in_words() -> None:
    assert outline(json_schema(Notes)) == "\n".join(
        [
            '- "title": text',
            '- "best": object or null',
            '  - "text": text - one sentence',
            '  - "who": list (text each, at most 5)',
            '  - "mood": one of "good", "bad"',
            '  - "weight": number from 0 to 1',
            '- "facts": list (object each, at most 20) - what was said',
            '  - "text": text - one sentence',
            '  - "who": list (text each, at most 5)',
            '  - "mood": one of "good", "bad"',
            '  - "weight": number from 0 to 1',
            '- "kind": one of "a", "b"',
        ]
    )


def test_the_outline_of_an_array_describes_its_items() -> None:
    class Flag(BaseModel):
        on: bool
        level: int

    class Flags(RootModel[list[Flag]]):
        pass

    schema = json_schema(Flags)
    assert opening_of(schema) == "["
    assert outline(schema) == "\n".join(
        ["- each item: object", '  - "on": true or false', '  - "level": whole number']
    )


def test_a_model_must_be_an_object_or_an_array() -> None:
    class Word(RootModel[str]):
        pass

    class Either(RootModel[Fact | list[Fact]]):
        pass

    with pytest.raises(InputError, match="Word is neither"):
        json_schema(Word)
    assert opening_of(json_schema(Either)) == "{["


class Tree(BaseModel):
    below: list[Tree] = []


def test_a_model_that_contains_itself_is_refused() -> None:
    with pytest.raises(InputError, match="Tree contains itself"):
        json_schema(Tree)


def test_the_sketch_shows_what_is_nested_in_what() -> None:
    fact = '{"text": "...", "who": ["..."], "mood": "...", "weight": ...}'
    assert sketch(json_schema(Notes)) == (
        f'{{"title": "...", "best": {fact}, "facts": [{fact}], "kind": "..."}}'
    )


def test_texts_and_lists_a_model_was_stopped_in_are_found_wherever_they_stand() -> None:
    fact = {"text": "x" * 300, "who": [], "mood": "good", "weight": 1}
    looped = {**fact, "text": "x" * 299, "who": ["a", "b", "c", "c", "c"]}
    value = {"title": "t" * 5000, "best": fact, "facts": [looped, fact], "kind": "a"}
    assert list(cut_off(value, json_schema(Notes))) == [
        "best.text was cut off at 300 characters; be shorter",
        "facts[0].who repeats the same item up to the limit of 5",
        "facts[1].text was cut off at 300 characters; be shorter",
    ]
    note = {**WHOLE, "note": "n" * MAX_TEXT}
    assert list(cut_off(note, json_schema(model_of(ITEM)))) == [
        f"note was cut off at {MAX_TEXT} characters; be shorter"
    ]
