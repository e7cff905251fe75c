"""The trial in the sandbox: a program that works has no findings, every other failure is named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pytest

from memgene.core import Schema, SchemaField
from memgene.core.schema import FieldType
from memgene.embed.hashing import HashingEmbedder
from memgene.llm import Request
from memgene.programs.gates import Finding, check, check_smoke, dummies, render_findings
from memgene.programs.gates.stub import STUB_REPLY
from memgene.programs.program import Program, ProgramLimits
from memgene.programs.runtime import ProgramRuntime
from memgene.programs.seeds import seed, seed_names
from memgene.sandbox import Level
from memgene.testing import ScriptedLLM

HEAD = """\
import re
from dataclasses import dataclass
from typing import Optional

INSTRUCTION_KNOWLEDGE_ITEM = "Note what matters."
INSTRUCTION_QUERY = "Ask for it."
INSTRUCTION_RESPONSE = "Answer."
ALWAYS_ON_KNOWLEDGE = ""


@dataclass
class KnowledgeItem:
    note: str
    words: list[str]
    place: Optional[str]


@dataclass
class Query:
    text: str
    words: list[str]
    place: Optional[str]


"""


def program(
    write: str = "pass", read: str = "return ''", init: str = "self.db = toolkit.db"
) -> Program:
    parts = (("__init__(self, toolkit)", init), ("write(self, item, raw_text)", write))
    methods = "".join(
        f"    def {head}:\n" + "".join(f"        {line}\n" for line in body.split("\n"))
        for head, body in (*parts, ("read(self, query)", read))
    )
    return Program(f"{HEAD}class KnowledgeBase:\n{methods}")


@pytest.fixture(scope="module")
def runtime() -> Iterator[ProgramRuntime]:
    def refuse(request: Request) -> str:
        raise AssertionError("a trial must not ask the real model")

    with ProgramRuntime(
        llm=ScriptedLLM(refuse),
        embedder=HashingEmbedder(),
        limits=ProgramLimits(call_seconds=1.0),
        require=Level.RLIMITS,
    ) as made:
        yield made


def only(findings: tuple[Finding, ...]) -> Finding:
    assert len(findings) == 1, render_findings(findings)
    return findings[0]


@pytest.mark.parametrize("name", seed_names())
def test_seeds_pass(name: str, runtime: ProgramRuntime) -> None:
    assert check(seed(name), runtime) == ()


def test_a_program_that_does_nothing_passes(runtime: ProgramRuntime) -> None:
    assert check(program(), runtime) == ()


def test_the_language_model_of_a_trial_is_a_stub(runtime: ProgramRuntime) -> None:
    asks = "said = self.toolkit.llm_completion([{'role': 'user', 'content': 'hi'}])\n"
    good = program(
        read=f"{asks}assert said == {STUB_REPLY!r}\nreturn said", init="self.toolkit = toolkit"
    )
    assert check(good, runtime) == ()
    twice = program(read=asks * 2 + "return said", init="self.toolkit = toolkit")
    finding = only(check(twice, runtime))
    assert (finding.gate, finding.code) == ("limits", "read-budget")


def test_without_a_language_model_a_trial_has_none_either() -> None:
    asks = program(read="return self.toolkit.llm_completion('hi')", init="self.toolkit = toolkit")
    with ProgramRuntime(embedder=HashingEmbedder(), require=Level.RLIMITS) as offline:
        finding = only(check(asks, offline))
    assert "there is no language model for programs here" in finding.message


@pytest.mark.parametrize(
    ("broken", "code", "words"),
    [
        (program(init="1 / 0"), "load-raised", "loading the program failed: ZeroDivisionError"),
        (
            program(read="return self.rows"),
            "read-raised",
            "of an empty memory failed: AttributeError",
        ),
        (program(write="self.db.execute('nonsense')"), "write-raised", "the first write failed: "),
        (program(write="assert item.note"), "write-raised", "a write of an empty item failed"),
        (
            program(write="assert len(raw_text) < 9999"),
            "write-raised",
            " characters failed: AssertionError",
        ),
        (
            program(read="assert query.words\nreturn ''"),
            "read-raised",
            "read(text='', words=[], place=None)",
        ),
        (program(read="return query.place.lower()"), "read-raised", "'NoneType' object has no"),
        (
            program(read="return re.findall(query.text, '')[:0] or ''"),
            "read-raised",
            "read(text='*', words=['*'], place='*')",
        ),
    ],
)
def test_what_raises_is_named_with_what_was_tried(
    broken: Program, code: str, words: str, runtime: ProgramRuntime
) -> None:
    finding = next(f for f in check_smoke(broken, runtime) if words in f.message)
    assert (finding.gate, finding.code) == ("smoke", code)
    assert finding.line is not None
    line = broken.source.split("\n")[finding.line - 1].strip()
    assert line in finding.detail
    assert finding.detail.lstrip().startswith('File "program.py", line')


@pytest.mark.parametrize(
    ("broken", "code", "words"),
    [
        (program(read="return 3"), "read-output", "must return a str, it returned int"),
        (program(read="return None"), "read-output", "must return a str, it returned NoneType"),
        (
            program(
                write="self.rows.append(raw_text)",
                read="return ' '.join(self.rows)",
                init="self.rows = []",
            ),
            "read-output",
            "after many writes failed: read() returned",
        ),
        (program(write="while True: pass"), "write-time", "the first write failed"),
    ],
)
def test_limits_are_a_gate_of_their_own(
    broken: Program, code: str, words: str, runtime: ProgramRuntime
) -> None:
    finding = only(check_smoke(broken, runtime))
    assert (finding.gate, finding.code) == ("limits", code)
    assert words in finding.message


FTS = program(
    init="self.db = toolkit.db\nself.db.execute('CREATE VIRTUAL TABLE t USING fts5(x)')",
    write="self.db.execute('INSERT INTO t VALUES (?)', (raw_text,))",
    read="rows = self.db.execute('SELECT x FROM t WHERE t MATCH ? LIMIT 1', (query.text,))\n"
    "return ' '.join(row[0][:99] for row in rows)",
)


def test_text_of_a_query_handed_to_fts5_is_found_out_with_advice(runtime: ProgramRuntime) -> None:
    found = check(FTS, runtime)
    assert {finding.code for finding in found} == {"read-raised"}
    assert any("fts5: syntax error" in finding.message for finding in found)
    assert all("put each in double quotes" in finding.message for finding in found)
    mended = FTS.source.replace(
        "        rows =",
        "        words = re.findall(r'\\w+', query.text)\n"
        "        if not words:\n            return ''\n"
        "        asked = ' OR '.join(f'\"{word}\"' for word in words)\n        rows =",
    ).replace("(query.text,)", "(asked,)")
    assert check(Program(mended), runtime) == ()


def test_equal_ids_are_found_out_with_advice(runtime: ProgramRuntime) -> None:
    unique = program(
        init="self.db = toolkit.db\nself.db.execute('CREATE TABLE t (x UNIQUE)')",
        write="self.db.execute('INSERT INTO t VALUES (?)', (raw_text,))",
    )
    assert "INSERT OR IGNORE" in only(check(unique, runtime)).message


def test_one_line_that_fails_in_many_ways_is_one_finding(runtime: ProgramRuntime) -> None:
    only(check(program(read="raise ValueError(query.text)"), runtime))


def test_the_trial_is_not_begun_where_the_text_has_findings(runtime: ProgramRuntime) -> None:
    found = check(Program("import os\n" + program(init="1 / 0").source), runtime)
    assert [finding.gate for finding in found] == ["static"]


def test_dummies_fit_every_type() -> None:
    kinds = get_args(FieldType)
    plain = ("str", "int", "float", "bool", "list[str]")
    assert kinds == (*plain, *(f"optional[{kind}]" for kind in plain))
    schema = Schema("Query", tuple(SchemaField(kind, kind) for kind in kinds))
    types = (str, int, float, bool, list) * 2
    for values in (dummies.plain(schema), dummies.plain(schema, 7), dummies.odd(schema, "x")):
        assert tuple(type(values[kind]) for kind in kinds) == types
    nothing = ("", 0, 0.0, False, [], *[None] * 5)
    assert dummies.empty(schema) == dict(zip(kinds, nothing, strict=True))


def test_every_optional_field_is_tried_with_a_value_and_without(runtime: ProgramRuntime) -> None:
    source = program(
        read="if query.sure is None:\n    raise ValueError('nothing')\nreturn str(query.sure)",
        write="self.kept = [item.sure, item.count, item.share, item.tags]",
    ).source
    fields = "sure: Optional[bool]\n    count: int | None\n    share: Optional[float] = None\n"
    source = source.replace(
        "place: Optional[str]\n", f"{fields}    tags: Optional[list[str]] = None\n"
    )
    assert "nothing" in only(check(Program(source), runtime)).message
    assert check(Program(source.replace("is None", "is print")), runtime) == ()


def test_findings_are_shown_as_a_list_that_ends() -> None:
    one = Finding("static", "syntax", "this is not Python", 3, "def f(:\n      ^")
    text = render_findings([one, Finding("smoke", "read-raised", "it failed")])
    assert text == (
        "1. [syntax] line 3: this is not Python\n   def f(:\n         ^\n2. [read-raised] it failed"
    )
    many = render_findings([Finding("smoke", "x", "long " * 500)] * 9)
    assert len(many) < 8000
    assert many.endswith("(7 more findings)")
