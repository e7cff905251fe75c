"""Records: which field types there are, and what values make an instance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, List, Literal, Optional, Union  # noqa: UP035 - programs write these

import pytest

from memgene.programs.guest.describe import ProgramError, Record, record_of

SPELLINGS = [
    (str, "str"),
    ("str", "str"),
    (int, "int"),
    (float, "float"),
    (bool, "bool"),
    (list[str], "list[str]"),
    (List[str], "list[str]"),  # noqa: UP006
    ("List[str]", "list[str]"),
    (list["str"], "list[str]"),
    (Optional[str], "optional[str]"),  # noqa: UP045
    (Optional["str"], "optional[str]"),
    ("Optional[str]", "optional[str]"),
    (str | None, "optional[str]"),
    ("None | str", "optional[str]"),
    (Union[str, None], "optional[str]"),  # noqa: UP007
    (Optional[bool], "optional[bool]"),  # noqa: UP045
    (int | None, "optional[int]"),
    ("Optional[float]", "optional[float]"),
    (Optional[List[str]], "optional[list[str]]"),  # noqa: UP006, UP045
    (None | list[str], "optional[list[str]]"),
    (list, "list[str]"),
    (List, "list[str]"),  # noqa: UP006
]
OTHERS = [
    dict, list[int], dict[str, str], Optional[bytes], tuple[str, str], bytes, Any,  # noqa: UP045
    int | str | None, int | str,
    Literal["a"], "Unknown", "list[", None, list[Optional[str]],  # noqa: UP045
]  # fmt: skip


def made(annotation: Any) -> Record:
    item = type("KnowledgeItem", (), {"__annotations__": {"it": annotation}})
    return record_of(dataclass(item), "KnowledgeItem", {})


@pytest.mark.parametrize(("annotation", "kind"), SPELLINGS)
def test_types_in_any_spelling(annotation: Any, kind: str) -> None:
    assert [f.type for f in made(annotation).fields] == [kind]


@pytest.mark.parametrize("annotation", OTHERS)
def test_any_other_type_is_refused_by_the_fields_name(annotation: Any) -> None:
    with pytest.raises(ProgramError, match=r"KnowledgeItem\.it is of type .*Optional of one"):
        made(annotation)


def test_what_is_no_dataclass_is_refused() -> None:
    with pytest.raises(ProgramError, match="Query must be a dataclass"):
        record_of(type("Query", (), {}), "Query", {})
    with pytest.raises(ProgramError, match="there is no class Query"):
        record_of(None, "Query", {})


@dataclass
class Visit:
    """Who came."""

    name: str = field(metadata={"description": "the visitor"})
    topics: list[str] = field(default_factory=lambda: ["weather"])
    hours: float = 1.5
    count: int = 1
    regular: bool = False
    note: str | None = None
    paid: bool | None = None
    price: float | None = 2.5
    guests: int | None = 0
    gifts: list[str] | None = None
    place: str = None  # type: ignore[assignment]
    hidden: str = field(init=False, default="x")


VISIT = record_of(Visit, "Visit", {})


def test_a_record_describes_itself() -> None:
    described = VISIT.described()
    assert described["name"] == "Visit"
    assert described["about"] == "Who came."
    assert described["fields"][:2] == [
        {
            "name": "name",
            "type": "str",
            "description": "the visitor",
            "required": True,
            "default": None,
        },
        {
            "name": "topics",
            "type": "list[str]",
            "description": "",
            "required": False,
            "default": ["weather"],
        },
    ]
    assert [f["name"] for f in described["fields"]] == [
        "name", "topics", "hours", "count", "regular", "note", "paid", "price", "guests", "gifts",
        "place",
    ]  # fmt: skip


def test_the_docstring_that_dataclass_writes_is_not_a_description() -> None:
    assert made(str).described()["about"] == ""


def test_fields_left_out_take_their_default() -> None:
    first, second = VISIT.filled({"name": "Ann"}), VISIT.filled({"name": "Bob", "count": 2})
    assert first == Visit("Ann")
    assert (second.name, second.count, second.topics) == ("Bob", 2, ["weather"])
    assert first.topics is not second.topics


def test_only_lossless_conversions_are_made() -> None:
    filled = VISIT.filled({"name": "Ann", "hours": 2, "count": 3.0})
    assert (filled.hours, filled.count) == (2.0, 3)
    assert type(filled.hours) is float
    assert type(filled.count) is int
    filled = VISIT.filled({"name": "Ann", "price": 2, "guests": 3.0})
    assert (filled.price, filled.guests) == (2.0, 3)
    assert (type(filled.price), type(filled.guests)) == (float, int)


def test_optional_fields_take_none_and_values_of_their_type() -> None:
    nothing = dict.fromkeys(("note", "paid", "price", "guests", "gifts"))
    assert VISIT.filled({"name": "Ann", **nothing}) == Visit(
        "Ann", price=None, guests=None, gifts=None
    )
    some = {"note": "late", "paid": False, "price": 0.5, "guests": 2, "gifts": ["wine"]}
    assert VISIT.filled({"name": "Ann", **some}) == Visit("Ann", **some)  # type: ignore[arg-type]


def test_optional_fields_describe_their_default() -> None:
    found = {f["name"]: (f["required"], f["default"]) for f in VISIT.described()["fields"]}
    assert found["price"] == (False, 2.5)
    assert found["paid"] == found["gifts"] == (False, None)
    assert made(Optional[int]).described()["fields"][0]["required"]  # noqa: UP045


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "Visit needs name"),
        ({"name": "Ann", "age": 3}, "Visit has no field 'age'"),
        ({"name": 5}, "Visit.name must be str, got int"),
        ({"name": None}, "Visit.name must be str, got NoneType"),
        ({"name": "Ann", "count": 2.5}, "Visit.count must be int, got float"),
        ({"name": "Ann", "count": True}, "Visit.count must be int, got bool"),
        ({"name": "Ann", "regular": 1}, "Visit.regular must be bool, got int"),
        ({"name": "Ann", "topics": "weather"}, "Visit.topics must be list\\[str\\], got str"),
        ({"name": "Ann", "topics": ["a", 1]}, "Visit.topics must be list\\[str\\]"),
        ({"name": "Ann", "note": 3}, "Visit.note must be optional\\[str\\], got int"),
        ({"name": "Ann", "paid": 1}, "Visit.paid must be optional\\[bool\\], got int"),
        ({"name": "Ann", "guests": True}, "Visit.guests must be optional\\[int\\], got bool"),
        ({"name": "Ann", "price": "2"}, "Visit.price must be optional\\[float\\], got str"),
        ({"name": "Ann", "gifts": [1]}, "Visit.gifts must be optional\\[list\\[str\\]\\]"),
    ],
)
def test_other_values_are_refused_by_the_fields_name(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ProgramError, match=said):
        VISIT.filled(values)


def test_descriptions_reach_the_contract_of_a_program(load: Callable[..., Any]) -> None:
    from memgene.testing.programs import program_text

    fields = load(program_text()).loaded["item"]["fields"]
    assert [(f["name"], f["description"], f["required"]) for f in fields] == [
        ("summary", "what happened", False)
    ]
