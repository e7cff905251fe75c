"""Which edits of a program make it another one, and which do not."""

from __future__ import annotations

import ast
import builtins
import keyword

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.programs.normal import normal_hash
from memgene.programs.seeds import seed, seed_names

PROGRAM = '''\
"""A program."""
import json as js
from dataclasses import dataclass, field

INSTRUCTION_QUERY = "Ask."
LIMIT = 3


@dataclass
class Query:
    """What to ask."""

    text: str = field(metadata={"description": "a question"})


class KnowledgeBase:
    """Keeps rows."""

    def __init__(self, toolkit):
        self.rows = []

    def write(self, item, raw_text):
        # keep it
        for number, line in enumerate(raw_text.split("\\n")):
            self.rows.append(self._row(line, size=number))

    def _row(self, line, size):
        """A row."""
        return js.dumps([line, size])

    def read(self, query):
        def fits(row):
            return query.text in row

        found = [row for row in self.rows if fits(row)]
        try:
            best = sorted(found, key=lambda row: len(row))[:LIMIT]
        except TypeError as error:
            return str(error)
        return "\\n".join(best)
'''


def same(old: str, new: str) -> bool:
    assert old in PROGRAM
    return normal_hash(PROGRAM) == normal_hash(PROGRAM.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        # keep it\n", ""),
        ('"""A program."""\n', ""),
        ('    """Keeps rows."""\n', "    # Rows.\n"),
        ('        """A row."""\n', ""),
        ('"Ask."', "(\n    'A' 'sk.'\n)"),
        ("[line, size]", "[\n            line,\n            size,\n        ]"),
        ("number", "place"),
        ("fits", "matches"),
        ("error", "problem"),
        ("best", "chosen"),
        ("def _row(self, line, size):", "def _row(me, line, size):"),
        ("def __init__(self, toolkit)", "def __init__(self, tools)"),
    ],
)
def test_what_does_not_count(old: str, new: str) -> None:
    assert same(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"Ask."', '"Ask more."'),
        ("LIMIT = 3", "LIMIT = 4"),
        ("LIMIT", "MOST"),
        ('"a question"', '"a question or two"'),
        ('    """What to ask."""', '    """What to look for."""'),
        ("text: str", "words: str"),
        ("self.rows", "self.lines"),
        ("_row", "_line"),
        ("size", "length"),
        ("import json as js", "import json as json_"),
        ("TypeError", "ValueError"),
        ("enumerate(", "zip("),
        ("row in self.rows if", "row in self.rows[::-1] if"),
        ("[line, size]", "[size, line]"),
    ],
)
def test_what_counts(old: str, new: str) -> None:
    assert not same(old, new)


def test_the_order_of_definitions_counts() -> None:
    a, b = "def a():\n    pass\n", "def b():\n    pass\n"
    assert normal_hash(a + b) != normal_hash(b + a)


def test_names_swapped_between_variables_count() -> None:
    one = "def f(a, b):\n    return a - b\n"
    assert normal_hash(one) == normal_hash("def f(b, a):\n    return b - a\n")
    assert normal_hash(one) != normal_hash("def f(a, b):\n    return b - a\n")


def test_a_name_from_outside_is_not_mistaken_for_a_local_one() -> None:
    outside = "x = 1\ny = 2\ndef f(z):\n    return {}\n"
    assert len({normal_hash(outside.format(name)) for name in "xyz"}) == 3
    shadowed = "x = 1\ndef f():\n    return [x for x in 'ab'] + [{}]\n"
    assert normal_hash(shadowed.format("x")) != normal_hash(shadowed.format("y"))


def test_arguments_passed_by_name_keep_theirs() -> None:
    called = "def f({0}):\n    return {0}\nf({1}=1)\n"
    assert normal_hash(called.format("a", "a")) != normal_hash(called.format("b", "b"))
    spread = "def f({0}):\n    return {0}\nf(**{{'a': 1}})\n"
    assert normal_hash(spread.format("a")) != normal_hash(spread.format("b"))


def test_names_that_are_looked_up_as_text_count() -> None:
    assert normal_hash("def f():\n    a = 1\n    return locals()\n") != normal_hash(
        "def f():\n    b = 1\n    return locals()\n"
    )


def test_text_that_is_no_python_is_hashed_as_it_is() -> None:
    assert normal_hash("def f(:") == normal_hash("def f(:")
    assert normal_hash("def f(:") != normal_hash("def f(: ")
    assert normal_hash("'\ud800'") != normal_hash("'\ud801'")


def test_seeds_are_all_different_and_formatting_does_not_matter() -> None:
    sources = [seed(name).source for name in seed_names()]
    hashes = [normal_hash(source) for source in sources]
    assert len(set(hashes)) == len(hashes)
    assert [normal_hash(ast.unparse(ast.parse(source))) for source in sources] == hashes


NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,6}\Z", fullmatch=True).filter(
    lambda name: (
        not keyword.iskeyword(name) and name not in dir(builtins) and name not in ("rows", "f")
    )
)


@given(st.lists(NAMES, min_size=3, max_size=3, unique=True))
@settings(max_examples=60, deadline=None)
def test_consistent_names_of_locals_never_count(names: list[str]) -> None:
    text = (
        "def f({0}):\n    def {1}({2}):\n        return {2} + {0}\n    return {1}({0})\nrows = f\n"
    )
    assert normal_hash(text.format(*names)) == normal_hash(text.format("a", "b", "c"))
