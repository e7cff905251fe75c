"""Export and import as JSON lines: lossless, all or nothing, errors with a line number."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.bank import (
    EmbedderInfo,
    Fate,
    Filter,
    MemoryUnit,
    Relation,
    RelationKind,
    SqliteBank,
    UnitStatus,
    Value,
)
from memgene.bank.portable import export_jsonl, import_jsonl
from memgene.core import DataError, EmbedderMismatchError, Scope

EVERY = Filter(statuses=tuple(UnitStatus))
TINY = EmbedderInfo("tiny", 2)
HEADER = '{"memgene_bank":1,"embedder":null}\n'


@pytest.fixture
def bank() -> Iterator[SqliteBank]:
    with SqliteBank(":memory:") as bank:
        yield bank


@pytest.fixture
def source() -> Iterator[SqliteBank]:
    with SqliteBank(":memory:") as bank:
        bank.set_embedder(TINY)
        units = [
            MemoryUnit("eins — 東京", scope=Scope("ann", "agent", "run"), metadata={"k": [1.5]}),
            MemoryUnit("zwei", scope=Scope("ann"), tags=("t",), utility=0.25),
        ]
        a, b = (r.id for r in bank.add(units, np.array([[1, 2], [3e-39, -4]], np.float32)))
        (c,) = (r.id for r in bank.add([MemoryUnit("drei", id="mine", speaker="Bo")]))
        bank.set_status([a], UnitStatus.SUPERSEDED, b)
        bank.relate([Relation(RelationKind.TIME, a, b, 0.5), Relation(RelationKind.DENSE, c, a)])
        bank.set_values([Value(a, "", 0.75, 3), Value(b, "when", -1.0, 1)])
        bank.set_state("router", b"\x00\xff")
        bank.set_state("clusters", b"")
        yield bank


def content(bank: SqliteBank) -> object:
    units = list(bank.scan(where=EVERY))
    ids = [u.id for u in units]
    names, matrix = bank.all_vectors()
    states = {name: bank.state(name) for name in bank.states()}
    hanging = (bank.relations(ids), bank.values(ids), states)
    return (units, names, matrix.tobytes(), hanging, bank.embedder())


def exported(bank: SqliteBank, scope: Scope | None = None) -> str:
    stream = StringIO()
    export_jsonl(bank, stream, scope)
    return stream.getvalue()


def test_an_import_equals_what_was_exported(source: SqliteBank, bank: SqliteBank) -> None:
    text = exported(source)
    result = import_jsonl(bank, StringIO(text))
    assert [r.fate for r in result.receipts] == [Fate.ADDED] * 3
    assert (result.relations, result.values, result.states) == (2, 2, 2)
    assert content(bank) == content(source)
    assert exported(bank) == text
    assert bank.verify() == []


def test_the_first_line_names_format_and_embedder(source: SqliteBank) -> None:
    header = json.loads(exported(source).splitlines()[0])
    assert header == {"memgene_bank": 2, "embedder": {"name": "tiny", "dimension": 2}}


def test_a_scope_exports_its_own_only(source: SqliteBank, bank: SqliteBank) -> None:
    text = exported(source, Scope("ann"))
    assert "drei" not in text
    assert "mine" not in text
    assert "router" not in text
    assert len(import_jsonl(bank, StringIO(text)).receipts) == 2
    assert bank.verify() == []


def test_history_can_be_read_along_and_is_passed_over(source: SqliteBank, bank: SqliteBank) -> None:
    stream = StringIO()
    assert export_jsonl(source, stream, history=True) == 3
    rows = [json.loads(line) for line in stream.getvalue().splitlines()]
    events = [row["history"]["event"] for row in rows if "history" in row]
    assert events == [
        *("add", "supersede", "relate", "value", "add", "value", "add", "relate"),
        *("state", "state"),
    ]
    import_jsonl(bank, StringIO(stream.getvalue()))
    assert content(bank) == content(source)


def test_a_second_import_merges_and_keeps_what_was_learned(
    source: SqliteBank, bank: SqliteBank
) -> None:
    text = exported(source)
    first = import_jsonl(bank, StringIO(text)).receipts[0].id
    bank.set_values([Value(first, "", 0.125, 9)])
    result = import_jsonl(bank, StringIO(text))
    assert [r.fate for r in result.receipts] == [Fate.MERGED] * 3
    assert (result.relations, result.values) == (0, 0)
    assert Value(first, "", 0.125, 9) in bank.values([first])


def test_a_state_that_is_here_stays(source: SqliteBank, bank: SqliteBank) -> None:
    bank.set_state("router", b"own")
    assert import_jsonl(bank, StringIO(exported(source))).states == 1
    assert (bank.state("router"), bank.state("clusters")) == (b"own", b"")


def test_an_export_of_format_1_is_read(source: SqliteBank, bank: SqliteBank) -> None:
    lines = [line for line in exported(source).splitlines() if '"state":' not in line]
    lines[0] = lines[0].replace('"memgene_bank":2', '"memgene_bank":1')
    result = import_jsonl(bank, StringIO("\n".join(lines)))
    assert (len(result.receipts), result.relations, result.values, result.states) == (3, 2, 2, 0)
    for name in source.states():
        source.set_state(name, None)
    assert content(bank) == content(source)


def test_a_refused_unit_takes_its_relations_along(source: SqliteBank, bank: SqliteBank) -> None:
    bank.add([MemoryUnit("someone else", id="mine")])
    result = import_jsonl(bank, StringIO(exported(source)))
    assert [r.fate for r in result.receipts] == [Fate.ADDED, Fate.ADDED, Fate.REFUSED]
    assert (result.relations, result.values) == (1, 2)


def test_another_embedder_is_an_error_and_imports_nothing(
    source: SqliteBank, bank: SqliteBank
) -> None:
    bank.set_embedder(EmbedderInfo("other", 1))
    bank.add([MemoryUnit("here")], np.ones((1, 1), np.float32))
    with pytest.raises(EmbedderMismatchError):
        import_jsonl(bank, StringIO(exported(source)))
    assert [u.content for u in bank.scan()] == ["here"]


def test_a_vector_that_is_not_finite_is_named_by_its_line(bank: SqliteBank) -> None:
    header = '{"memgene_bank":1,"embedder":{"name":"one","dimension":1}}\n'
    nan = "AADAfw=="  # base64 of the bytes 00 00 c0 7f
    with pytest.raises(DataError, match=r"line 2 .*NaN"):
        import_jsonl(bank, StringIO(header + f'{{"unit":{{"content":"x","vector":"{nan}"}}}}'))


def test_vectors_of_another_than_the_named_embedder_are_set_aside(
    source: SqliteBank, bank: SqliteBank
) -> None:
    result = import_jsonl(bank, StringIO(exported(source)), embedder=EmbedderInfo("tiny", 3))
    assert (result.set_aside, result.made_by) == (2, TINY)
    assert bank.all_vectors()[0] == []
    assert bank.embedder() is None
    assert [u.content for u in bank.scan(where=EVERY)] == ["eins — 東京", "zwei", "drei"]


GOOD = '{"unit":{"content":"fine","id":"x"}}\n'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 3 .*not JSON"),
        ("[]", "line 3 .*not a JSON object"),
        ('{"thing":{}}', "line 3 .*holds thing"),
        ('{"unit":{},"value":{}}', "line 3 .*holds unit, value"),
        ('{"unit":[]}', "line 3 .*unit must be an object"),
        ('{"unit":{}}', "line 3 .*content"),
        ('{"unit":{"content":5}}', "line 3 .*content: text expected"),
        ('{"unit":{"content":"x","colour":"red"}}', "line 3 .*no field 'colour'"),
        ('{"unit":{"content":"x","tags":"red"}}', "line 3 .*tags: a list of texts"),
        ('{"unit":{"content":"x","event_time":"soon"}}', "line 3 .*event_time"),
        ('{"unit":{"content":"x","status":"odd"}}', "line 3 .*status"),
        ('{"unit":{"content":"x","user_id":""}}', "line 3 .*user_id"),
        ('{"unit":{"content":"x","turn_start":true}}', "line 3 .*turn_start: a whole number"),
        ('{"unit":{"content":"x","metadata":[]}}', "line 3 .*metadata: an object"),
        ('{"unit":{"content":"x","vector":"AAAA"}}', "line 3 .*vector"),
        ('{"unit":{"content":"x","vector":"!"}}', "line 3"),
        ('{"value":{"unit_id":"y","cluster":"","q":1,"exposures":0}}', "line 3 .*'y'"),
        ('{"value":{"unit_id":"x","cluster":"","exposures":0}}', "line 3 .*'q' is missing"),
        ('{"state":{"content":"AAA="}}', "line 3 .*'name' is missing$"),
        ('{"state":{"name":"x","content":"!"}}', "line 3 .*state is malformed"),
        ('{"state":{"name":"","content":""}}', "line 3 .*needs a name"),
        ('{"relation":{"kind":"odd","source_id":"x","target_id":"x","weight":1}}', "line 3 .*odd"),
    ],
)
def test_a_malformed_line_is_named_and_nothing_is_stored(
    bank: SqliteBank, line: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        import_jsonl(bank, StringIO(HEADER + GOOD + line + "\n"))
    assert bank.version() == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1 .* not a header"),
        (GOOD, "line 1 .* not a header"),
        ('{"memgene_bank":3}\n', "format 3.*upgrade"),
        ('{"memgene_bank":1,"embedder":{"name":"x"}}\n', "embedder is malformed"),
    ],
)
def test_a_wrong_header_is_refused(bank: SqliteBank, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        import_jsonl(bank, StringIO(text))


@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5),
    scope=st.sampled_from([Scope(), Scope("a"), Scope("a", None, "r")]),
)
def test_any_text_survives_the_trip(texts: list[str], scope: Scope) -> None:
    with (
        closing(SqliteBank(":memory:")) as source,
        closing(SqliteBank(":memory:")) as target,
    ):
        source.add([MemoryUnit(t, scope=scope, metadata={"t": t}) for t in texts])
        import_jsonl(target, StringIO(exported(source)).readlines())
        assert content(target)[0] == [  # type: ignore[index]
            replace(unit, seq=n) for n, unit in enumerate(source.scan(), 1)
        ]
