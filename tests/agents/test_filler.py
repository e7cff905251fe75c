"""The filler's table, field by field."""

from __future__ import annotations

from datetime import datetime
from typing import get_args

import pytest

from memgene.agents.filler import fill_item, fill_query
from memgene.core import Episode, Message, Question, Schema, SchemaField
from memgene.core.schema import FieldType

EPISODE = Episode(
    id="e1",
    group="g",
    time=datetime(2023, 5, 8),
    messages=(
        Message("We flew to New York with Carla on 3 May 2023.", speaker="Ana"),
        Message("Did you see the Hudson River?", speaker="Bo"),
    ),
)
QUESTION = Question(id="q1", text="Where did Ana fly with Carla?", group="g")


def item(name: str, kind: FieldType) -> object:
    schema = Schema("KnowledgeItem", (SchemaField(name, kind),))
    return fill_item(schema, EPISODE).values[name]


@pytest.mark.parametrize("name", ["summary", "text", "raw_text", "content", "anything_else"])
def test_text_fields_hold_the_raw_text(name: str) -> None:
    assert item(name, "str") == EPISODE.text


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("date", "8 May 2023"),
        ("eventTime", "8 May 2023"),
        ("speaker", "Ana"),
        ("topic", "New York"),
    ],
)
def test_named_text_fields(name: str, expected: str) -> None:
    assert item(name, "str") == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("participants", ["Ana", "Bo"]),
        ("people", ["Ana", "Bo"]),
        ("dates", ["8 May 2023", "3 May 2023"]),
        ("organizations", ["New York", "Carla", "Hudson River"]),
        ("unknown", ["New York", "Carla", "Hudson River"]),
        ("key_facts", ["Ana: We flew to New York with Carla on 3 May 2023."]),
    ],
)
def test_list_fields(name: str, expected: list[str]) -> None:
    assert item(name, "list[str]") == expected


def test_keywords_are_entities_and_then_other_words() -> None:
    found = item("keywords", "list[str]")
    assert isinstance(found, list)
    assert found[:3] == ["New York", "Carla", "Hudson River"]
    assert "flew" in found
    assert "the" not in found


def test_plain_types_are_empty() -> None:
    assert item("count", "int") == 0
    assert item("score", "float") == 0.0
    assert item("useful", "bool") is False
    assert item("date", "optional[str]") is None
    for kind in ("optional[int]", "optional[float]", "optional[bool]"):
        assert item("count", kind) is None  # type: ignore[arg-type]


def test_an_optional_list_is_filled_like_a_list() -> None:
    for name in ("persons", "keywords", "facts", "things"):
        assert item(name, "optional[list[str]]") == item(name, "list[str]") != []


@pytest.mark.parametrize("name", ["query_text", "query", "question", "search_for"])
def test_a_query_is_the_question(name: str) -> None:
    filled = fill_query(Schema("Query", (SchemaField(name, "str"),)), QUESTION)
    assert filled.values == {name: QUESTION.text}


def test_a_query_lists_the_people_it_names() -> None:
    schema = Schema("Query", (SchemaField("persons", "list[str]"), SchemaField("n", "int")))
    assert fill_query(schema, QUESTION).values == {"persons": ["Ana", "Carla"], "n": 0}


def test_every_field_is_filled_and_no_other() -> None:
    kinds: tuple[FieldType, ...] = get_args(FieldType)
    schema = Schema("KnowledgeItem", tuple(SchemaField(f"f{i}", k) for i, k in enumerate(kinds)))
    assert list(fill_item(schema, EPISODE).values) == [f.name for f in schema.fields]
    assert fill_item(Schema("Empty"), EPISODE).values == {}
