"""The static gate: what it lets pass, and what it says of the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.programs.examples import example, example_names
from memgene.programs.gates import check_static
from memgene.programs.gates.static import MAX_CHARACTERS
from memgene.programs.seeds import seed, seed_names

PROGRAM = '''\
from __future__ import annotations
import collections.abc
import json
import dataclasses
from dataclasses import dataclass as record, field
from typing import List, Optional, Union, ClassVar
import typing as t

INSTRUCTION_KNOWLEDGE_ITEM = "Note what " "matters."
INSTRUCTION_QUERY: str = f"Ask for {1 + 1} things."
INSTRUCTION_RESPONSE, OTHER = "Answer.", 3
ALWAYS_ON_KNOWLEDGE = ""
ALWAYS_ON_KNOWLEDGE += "Dates matter."


@record(frozen=True)
class KnowledgeItem:
    """An item."""

    KINDS: ClassVar[dict] = {}
    a: str = field(metadata={"description": "text"})
    b: int
    c: float
    d: bool
    e: list[str] = field(default_factory=list)
    f: List[str] = field(default_factory=list)
    g: Optional[str] = None
    h: str | None = None
    i: "Optional[str]" = None
    j: Union[None, str] = None
    k: t.Optional["str"] = None
    l: Optional[bool] = None

    def __post_init__(self):
        assert self.a.__len__() >= 0


@dataclasses.dataclass
class Query:
    text: "str"


class KnowledgeBase:
    LIMIT = 10

    def __init__(self, toolkit, *, size=3):
        self.toolkit = toolkit
        self.rows, self.size = [], size
        setattr(self, "count", 0)

    def write(self, item: KnowledgeItem, raw_text: str = "") -> None:
        kind = type(item).__name__
        if hasattr(item, "extra"):
            kind += item.extra
        self.rows.append((kind, item.a, getattr(item, "b", None), raw_text[: self.LIMIT]))
        self.count += 1

    def read(self, query: Query) -> str:
        vars = [json.dumps(row) for row in self.rows if self._fits(row, query.text)]
        input = [(lambda self: self.upper())(line) for line in vars]
        try:
            return "\\n".join(input[: self.size])
        except ValueError as error:
            return str(error)

    @staticmethod
    def _fits(row, text):
        match row:
            case [kind, *rest]:
                return text in kind or any(text in str(part) for part in rest)
        return False
'''


def test_every_spelling_of_what_is_allowed_passes() -> None:
    assert check_static(PROGRAM) == ()


@pytest.mark.parametrize("name", seed_names())
def test_seeds_pass(name: str) -> None:
    assert check_static(seed(name).source) == ()


@pytest.mark.parametrize("name", example_names())
def test_examples_pass(name: str) -> None:
    assert check_static(example(name).source) == ()


def broken(old: str, new: str) -> str:
    assert old in PROGRAM
    return PROGRAM.replace(old, new)


CASES = [
    # imports
    (
        "import json\n",
        "import os, json\n",
        "import-not-allowed",
        "`os` cannot be imported; a program has no files",
    ),
    (
        "import json\n",
        "import json\nimport urllib.request\n",
        "import-not-allowed",
        "has no network. Allowed: json, re",
    ),
    (
        "import json\n",
        "import json\nfrom . import helper\n",
        "import-not-allowed",
        "a program is one file",
    ),
    (
        "import json\n",
        "import json\nfrom dataclasses import sys\n",
        "module-escape",
        "`dataclasses.sys` is the module `sys`",
    ),
    (
        "json.dumps(row)",
        "json.codecs.open(row)",
        "module-escape",
        "`json.codecs` is the module `codecs`",
    ),
    ("json.dumps(row)", "t.sys.modules[row]", "module-escape", "`typing.sys` is the module `sys`"),
    (
        "import json\n",
        "import json\nimport numpy as np\nX = np.load('f')\n",
        "module-escape",
        "`numpy.load` works on files",
    ),
    # reflection
    ("type(item).__name__", "item.__class__.__name__", "dunder", "use type(x).__name__"),
    ("type(item).__name__", "str(item.__dict__)", "dunder", "use dataclasses.asdict(x)"),
    ("type(item).__name__", "().__class__.__base__.__subclasses__()", "dunder", "`__subclasses__`"),
    ("type(item).__name__", 'getattr(item, "__class__")', "dunder", "`__class__`"),
    ("type(item).__name__", '"{0.__class__}".format(item)', "dunder", "`__class__`"),
    ("type(item).__name__", "__builtins__", "dunder", "`__builtins__`"),
    ("type(item).__name__", "eval(raw_text)", "builtin-not-allowed", "read data with json.loads"),
    (
        "type(item).__name__",
        "open(raw_text).read()",
        "builtin-not-allowed",
        "a program has no files",
    ),
    ("type(item).__name__", "globals()['x']", "builtin-not-allowed", "name what you need"),
    ("return False", "run = exec\n        return run", "builtin-not-allowed", "`exec`"),
    # syntax that only shows when names are sorted out
    ("import json\n", "import json\nreturn 1\n", "syntax", "'return' outside function"),
    # names of the interface
    (
        "class Query:",
        "class Question:",
        "missing-class",
        "there is no class Query; define a @dataclass",
    ),
    (
        "@dataclasses.dataclass\n",
        "",
        "not-a-dataclass",
        "put @dataclass on the line before the class",
    ),
    ("ALWAYS_ON_KNOWLEDGE", "ALWAYS_ON", "missing-constant", 'ALWAYS_ON_KNOWLEDGE = "…"'),
    ('f"Ask for {1 + 1} things."', "3", "constant-type", "must be a string, not 3"),
    ('f"Ask for {1 + 1} things."', '["Ask."]', "constant-type", "must be a string, not a list"),
    ('f"Ask for {1 + 1} things."', '" "', "constant-empty", "INSTRUCTION_QUERY is empty"),
    (
        '    text: "str"',
        "    text: dict[str, str]",
        "field-type",
        "Query.text is of type dict[str, str]",
    ),
    (
        "    b: int",
        "    b: datetime",
        "field-type",
        "they may be str, int, float, bool, list[str], or",
    ),
    ("    e: list[str]", "    e: list[int]", "field-type", "KnowledgeItem.e"),
    ("    g: Optional[str]", "    g: Optional[dict]", "field-type", "KnowledgeItem.g"),
    ("    h: str | None", "    h: str | int", "field-type", "KnowledgeItem.h"),
    ('    i: "Optional[str]"', '    i: "a text"', "field-type", "KnowledgeItem.i"),
    (
        "    def read(self, query: Query) -> str:",
        "    def fetch(self, query):",
        "missing-method",
        "define def read(self, query: Query) -> str",
    ),
    (
        "    def read(self, query: Query) -> str:",
        "    def read(self, query, limit):",
        "signature",
        "def read(self, query: Query) -> str",
    ),
    (
        "    def read(self, query: Query) -> str:",
        "    async def read(self, query):",
        "async-method",
        "define it with plain def",
    ),
    (
        '    def write(self, item: KnowledgeItem, raw_text: str = "") -> None:',
        "    def write(self, item, raw_text, time):",
        "signature",
        "def write(self, item",
    ),
    (
        "    def __init__(self, toolkit, *, size=3):",
        "    def __init__(self, toolkit, *, size):",
        "signature",
        "__init__",
    ),
    (
        "    @staticmethod",
        "    def read(self, query):\n        return ''\n\n    @staticmethod",
        "defined-twice",
        "KnowledgeBase.read is defined 2 times (lines",
    ),
    # names that nothing defines
    ("return False", "return maths.inf", "undefined-name", "`maths` is used but nowhere defined"),
    (
        "self._fits(",
        "self._matches(",
        "undefined-attribute",
        "`self._matches` is used, but KnowledgeBase neither",
    ),
    (
        "item.a,",
        "item.title,",
        "unknown-field",
        "`item.title` is used, but KnowledgeItem has no such field (it has: KINDS, a, b",
    ),
    ("query.text)", "query.question)", "unknown-field", "Query has no such field (it has: text)"),
]


@pytest.mark.parametrize(("old", "new", "code", "words"), CASES)
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, code: str, words: str) -> None:
    source = broken(old, new)
    findings = [finding for finding in check_static(source) if finding.code == code]
    assert findings, check_static(source)
    message = " ".join(finding.message for finding in findings)
    assert words in message
    for finding in findings:
        if finding.line is not None:
            assert finding.detail == source.split("\n")[finding.line - 1].strip()
    located = code not in ("missing-class", "missing-constant")
    assert located == (findings[0].line is not None)


def test_all_findings_come_at_once_by_line() -> None:
    source = PROGRAM.replace("import json\n", "import os\nimport sys\nx = eval('1')\n")
    source = source.replace("class Query:", "class Q:")
    findings = check_static(source)
    assert [f.line or 0 for f in findings] == sorted(f.line or 0 for f in findings)
    assert [f.code for f in findings][:4] == [
        "missing-class",
        "import-not-allowed",
        "import-not-allowed",
        "builtin-not-allowed",
    ]


def test_a_class_that_inherits_is_left_to_the_trial() -> None:
    source = broken("class KnowledgeBase:", "class Base:\n    pass\n\n\nclass KnowledgeBase(Base):")
    assert check_static(source.replace("self._fits(", "self._matches(")) == ()


def test_syntax_errors_show_the_place() -> None:
    (finding,) = check_static(PROGRAM.replace("def read(self,", "def read(self;"))
    assert (finding.code, finding.line) == ("syntax", 58)
    line, mark = finding.detail.split("\n")
    assert line[mark.index("^")] == ";"


@pytest.mark.parametrize("source", ["", "\x00", "((" * 5000, "x = '\ud800'", "\ufeff1"])
def test_no_text_breaks_the_gate(source: str) -> None:
    assert check_static(source)


def test_size_is_bounded() -> None:
    (finding,) = check_static("#" * (MAX_CHARACTERS + 1))
    assert finding.code == "too-large"


@given(st.text(max_size=60))
def test_any_text_gets_an_answer(source: str) -> None:
    assert all(finding.gate == "static" for finding in check_static(source))
