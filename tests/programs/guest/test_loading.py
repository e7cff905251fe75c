"""From source text to a knowledge base: what must be there, and what is said when it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memgene.programs.guest.describe import ProgramError
from memgene.testing.programs import program_text

Load = Callable[..., Any]
NAMES = (
    "INSTRUCTION_KNOWLEDGE_ITEM",
    "INSTRUCTION_QUERY",
    "INSTRUCTION_RESPONSE",
    "ALWAYS_ON_KNOWLEDGE",
)


def test_the_contract_holds_records_and_instructions(load: Load) -> None:
    loaded = load(program_text(always_on="Dates matter.")).loaded
    assert loaded["item"]["name"] == "KnowledgeItem"
    assert loaded["item"]["about"] == "What an episode told."
    assert [f["name"] for f in loaded["query"]["fields"]] == ["query_text"]
    assert loaded["instructions"] == {
        "knowledge_item": "Say what happened.",
        "query": "Ask for what the question is about.",
        "response": "Answer in a few words.",
        "always_on": "Dates matter.",
    }


@pytest.mark.parametrize("name", NAMES)
def test_each_constant_must_be_there_and_a_string(load: Load, name: str) -> None:
    with pytest.raises(ProgramError, match=f"{name} must be a string .* it is missing"):
        load(program_text() + f"\ndel {name}")
    with pytest.raises(ProgramError, match=f"{name} must be a string .* it is a list"):
        load(program_text() + f"\n{name} = ['x']")


@pytest.mark.parametrize("name", NAMES[:3])
def test_instructions_are_not_empty(load: Load, name: str) -> None:
    with pytest.raises(ProgramError, match=f"{name} is empty"):
        load(program_text() + f"\n{name} = ' '")


@pytest.mark.parametrize("name", ["KnowledgeItem", "Query", "KnowledgeBase"])
def test_each_class_must_be_there(load: Load, name: str) -> None:
    with pytest.raises(ProgramError, match=f"there is no class {name}"):
        load(program_text() + f"\ndel {name}")


@pytest.mark.parametrize("name", ["write", "read"])
def test_each_method_must_be_there(load: Load, name: str) -> None:
    with pytest.raises(ProgramError, match=f"KnowledgeBase has no method {name}"):
        load(program_text() + f"\ndel KnowledgeBase.{name}")


@pytest.mark.parametrize(
    ("takes", "kept"),
    [
        ("self, item, raw_text", "the text"),
        ("self, item, raw_text=''", "the text"),
        ("self, item, text", "the text"),
        ("self, item, *rest", "('the text',)"),
        ("self, item, *, raw_text", "the text"),
        ("self, item, **named", "{'raw_text': 'the text'}"),
        ("self, item", "item"),
    ],
)
def test_write_may_take_the_raw_text_in_any_form(load: Load, takes: str, kept: str) -> None:
    last = takes.split(",")[-1].split("=")[0].strip(" *")
    body = f"self.kept = {last!r} if {last!r} == 'item' else str({last})"
    guest = load(program_text(write_takes=takes, write=body, read="return self.kept"))
    guest.write("the text", summary="s")
    assert guest.read() == kept


def test_a_write_that_wants_more_is_refused(load: Load) -> None:
    with pytest.raises(ProgramError, match=r"write\(item, raw_text, more\) cannot be called"):
        load(program_text(write_takes="self, item, raw_text, more"))


def test_item_and_query_arrive_as_instances(load: Load) -> None:
    read = "return f'{type(query).__name__} {query.query_text} {self.item}'"
    guest = load(program_text(write="self.item = item", read=read))
    guest.write("text", summary="met Ann")
    said = "Query who KnowledgeItem(summary='met Ann')"
    assert guest.read(query_text="who") == said


def test_errors_of_the_program_name_file_and_line(load: Load) -> None:
    with pytest.raises(SyntaxError) as broken:
        load("def f(:\n")
    assert (broken.value.filename, broken.value.lineno) == ("program.py", 1)
    with pytest.raises(ZeroDivisionError) as raised:
        load(program_text(init="self.half = 1 / 0"))
    last = raised.traceback[-1]
    assert str(last.path).endswith("program.py")


def test_programs_do_not_see_each_others_names(load: Load) -> None:
    load("marker = 1\n" + program_text())
    with pytest.raises(NameError, match="marker"):
        load(program_text(init="self.seen = marker"))
