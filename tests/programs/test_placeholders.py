"""What is left of a program when its names, texts and numbers are taken out."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.programs.examples import example, example_names
from memgene.programs.placeholders import placeholders
from memgene.programs.seeds import seed, seed_names
from memgene.programs.syntax import UnparsableError

PROGRAM = '''\
"""A program."""
import json as js
from collections import Counter as Tally
from dataclasses import dataclass, field, replace

INSTRUCTION_QUERY = "Ask."
LONGEST = 3


@dataclass
class Row:
    """A row."""

    body: str
    weight: float = 1.0


@dataclass
class KnowledgeItem:
    """An item."""

    people: list[str] = field(metadata={"description": "who"})


class KnowledgeBase:
    """Keeps rows."""

    SHARE = LONGEST * 2

    def __init__(self, kit):
        self.tools = kit
        self.table = kit.db
        self.stored = []

    def write(self, entry, text):
        # keep it
        for place, line in enumerate(text.split("\\n")):
            row = Row(body=line, weight=len(entry.people) + place)
            self.stored.append(replace(row, weight=0.5))
        self.table.execute("INSERT", (js.dumps(line),))

    def _best(self, wanted, limit=SHARE):
        """The best."""
        def score(row):
            nonlocal wanted
            return row.weight + Tally(row.body)[wanted]

        try:
            return sorted(self.stored, key=lambda each: score(each))[:limit]
        except TypeError as problem:
            self.tools.logger.debug(f"{problem}: {wanted!r:>10}")
            return []

    def read(self, asked):
        match self._best(asked.people, limit=2):
            case [first, *others]:
                return first.body
            case {"a": 1, **rest}:
                return str(rest)
        return ""
'''
OWN = (
    *(
        "js",
        "Tally",
        "LONGEST",
        "Row",
        "body",
        "weight",
        "people",
        "SHARE",
        "kit",
        "tools",
        "table",
    ),
    *("stored", "entry", "text", "place", "line", "row", "_best", "wanted", "limit", "score"),
    *("each", "problem", "asked", "first", "others", "rest"),
)
_PARTS = ("id", "arg", "attr", "name", "asname", "rest")


def renamed(source: str, new: Mapping[str, str]) -> str:
    """The program with identifiers renamed wherever they stand; of imports, what they are called
    here."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for part in _PARTS:
            if isinstance(getattr(node, part, None), str) and not (
                isinstance(node, ast.alias) and part == "name"
            ):
                setattr(node, part, new.get(getattr(node, part), getattr(node, part)))
        if isinstance(node, ast.Nonlocal):
            node.names = [new.get(name, name) for name in node.names]
    return ast.unparse(tree)


def test_what_stands_for_what() -> None:
    assert placeholders(PROGRAM) == (
        """\
import json
from collections import Counter
from dataclasses import dataclass, field, replace
INSTRUCTION_QUERY = 'S'
M0 = N

@dataclass
class C0:
    A0: str
    A1: float = N

@dataclass
class KnowledgeItem:
    A2: list[str] = field(metadata={'S': 'S'})

class KnowledgeBase:
    A3 = M0 * N

    def __init__(self, toolkit):
        self.toolkit = toolkit
        self.A4 = toolkit.db
        self.A5 = []

    def write(self, item, raw_text):
        for V0, V1 in enumerate(raw_text.split('S')):
            V2 = C0(A0=V1, A1=len(item.A2) + V0)
            self.A5.append(replace(V2, A1=N))
        self.A4.execute('S', (json.dumps(V1),))

    def F0(self, V0, V1=A3):

        def V2(V3):
            nonlocal V0
            return V3.A1 + Counter(V3.A0)[V0]
        try:
            return sorted(self.A5, key=lambda V4: V2(V4))[:V1]
        except TypeError as V5:
            self.toolkit.logger.debug(f'{V5}S{V0!r:S}')
            return []

    def read(self, query):
        match self.F0(query.A2, K=N):
            case [V0, *V1]:
                return V0.A0
            case {'S': N, **V2}:
                return str(V2)
        return 'S'"""
    )


names = st.from_regex(r"[a-z]{3,8}_[a-z]{1,3}", fullmatch=True).filter(
    lambda name: not keyword.iskeyword(name)
)


@settings(max_examples=50, deadline=None)
@given(st.lists(names, min_size=len(OWN), max_size=len(OWN), unique=True))
def test_own_names_make_no_difference(chosen: list[str]) -> None:
    new = dict(zip(OWN, chosen, strict=True))
    other = renamed(PROGRAM, new)
    assert placeholders(other) == placeholders(PROGRAM)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_names_of_methods_fields_and_variables_of_shipped_programs_make_no_difference(
    data: st.DataObject,
) -> None:
    sources = [
        *(seed(n).source for n in seed_names()),
        *(example(n).source for n in example_names()),
    ]
    source = data.draw(st.sampled_from(sources))
    own = sorted(_declared(ast.parse(source)))
    chosen = data.draw(st.lists(names, min_size=len(own), max_size=len(own), unique=True))
    assert placeholders(renamed(source, dict(zip(own, chosen, strict=True)))) == placeholders(
        source
    )


def _declared(tree: ast.Module) -> set[str]:
    """Fields, helpers, and variables of a program that are called like nothing of a library."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("_"):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    foreign: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            if ast.unparse(node.value) not in ("self", "item", "query"):
                foreign.add(node.attr)
        elif isinstance(node, ast.Call) and not ast.unparse(node.func).startswith("self._"):
            foreign.update(each.arg for each in node.keywords if each.arg)
    constants = {name for name in found if name.startswith(("INSTRUCTION_", "ALWAYS_"))}
    dunder = {name for name in found if name.startswith("__")}
    return found - foreign - constants - dunder - {"self", "toolkit"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LONGEST = 3", "LONGEST = 4"),
        ('"Ask."', '"Ask for the names."'),
        ("        # keep it\n", ""),
        ('    """Keeps rows."""\n', ""),
        (
            "sorted(self.stored, key=lambda each: score(each))",
            "sorted(self.stored,key=lambda x:score(x))",
        ),
        ('f"{problem}: {wanted!r:>10}"', 'f"{problem} - {wanted!r:<4}"'),
    ],
)
def test_numbers_texts_and_comments_make_no_difference(old: str, new: str) -> None:
    assert old in PROGRAM
    assert placeholders(PROGRAM.replace(old, new)) == placeholders(PROGRAM)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sorted(", "reversed("),
        ("kit.db", "kit.chroma"),
        ("self.table.execute(", "self.table.executemany("),
        ("row.weight + ", "row.weight * "),
        ("    weight: float = 1.0\n", "    weight: float = 1.0\n    other: str = ''\n"),
        ("import json as js", "import json as js, re"),
        ("self._best(asked.people, limit=2)", "self._best(asked.people)"),
    ],
)
def test_other_code_makes_another_text(old: str, new: str) -> None:
    assert old in PROGRAM
    assert placeholders(PROGRAM.replace(old, new)) != placeholders(PROGRAM)


def test_a_local_may_be_called_like_an_import_or_a_builtin() -> None:
    source = (
        "import json\ndef f(json, list):\n    return json.x + list\ndef g():\n    return json.x"
    )
    assert placeholders(source) == (
        "import json\n\ndef F0(V0, V1):\n    return V0.x + V1\n\ndef F1():\n    return json.x"
    )


def test_a_global_is_one_name_in_every_function() -> None:
    source = (
        "count = 0\ndef f():\n    global count\n    count += 1\ndef g(x):\n    return count + x\n"
    )
    assert placeholders(source) == (
        "M0 = N\n\ndef F0():\n    global M0\n    M0 += N\n\ndef F1(V0):\n    return M0 + V0"
    )


@pytest.mark.parametrize("text", ["def broken(:", "(" * 3000 + ")" * 3000])
def test_what_is_no_python_is_told(text: str) -> None:
    with pytest.raises(UnparsableError):
        placeholders(text)
