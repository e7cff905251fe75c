"""Where one side of a program is frozen, a change of that side is told."""

from __future__ import annotations

import pytest

from memgene.evolution.reflection.material import Scope
from memgene.evolution.reflection.scope import strayed


def test_a_string_may_change_where_only_strings_may(source: str) -> None:
    changed = source.replace('"Answer in a few words."', '"Answer in one word."')
    assert strayed(source, changed, Scope.INSTRUCTIONS) == ""
    assert strayed(source, changed, Scope.CODE) == "INSTRUCTION_RESPONSE may not change"
    assert strayed(source, changed, Scope.BOTH) == ""


@pytest.mark.parametrize(
    "change",
    [
        ("self.texts[-1]", "self.texts[0]"),
        ("    query_text: str", "    query_text: str\n    day: str"),
        ("import dataclass, field", "import dataclass, field, replace"),
        ('"what happened"', '"who did what"'),
    ],
)
def test_code_may_change_where_only_code_may(source: str, change: tuple[str, str]) -> None:
    changed = source.replace(*change)
    assert changed != source
    assert strayed(source, changed, Scope.CODE) == ""
    assert "only the four strings" in strayed(source, changed, Scope.INSTRUCTIONS)


def test_all_strings_that_changed_are_named(source: str) -> None:
    changed = source.replace('= "Sum it up."', '= "List it."').replace(
        'ALWAYS_ON_KNOWLEDGE = ""', 'ALWAYS_ON_KNOWLEDGE: str = "Look twice."'
    )
    assert strayed(source, changed, Scope.CODE) == (
        "INSTRUCTION_KNOWLEDGE_ITEM, ALWAYS_ON_KNOWLEDGE may not change"
    )


def test_a_string_that_is_gone_has_changed(source: str) -> None:
    changed = source.replace('INSTRUCTION_QUERY = "Ask for what is needed."\n', "")
    assert strayed(source, changed, Scope.CODE) == "INSTRUCTION_QUERY may not change"


def test_comments_and_layout_are_nobodys_side(source: str) -> None:
    changed = source.replace("class Query", "# what is asked\nclass Query").replace(
        '"Sum it up."', '(\n    "Sum it up."\n)'
    )
    assert strayed(source, changed, Scope.CODE) == ""
    assert strayed(source, changed, Scope.INSTRUCTIONS) == ""


def test_what_does_not_parse_is_left_to_the_gates(source: str) -> None:
    assert strayed(source, "def (", Scope.CODE) == ""
    assert strayed("def (", source, Scope.INSTRUCTIONS) == ""
