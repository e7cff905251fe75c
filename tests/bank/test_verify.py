"""`verify` names every disagreement: each test spoils one derived row behind the bank's back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from memgene.bank import EmbedderInfo, MemoryUnit, Relation, RelationKind, SqliteBank, Value
from memgene.core import Scope


@pytest.fixture
def bank() -> Iterator[SqliteBank]:
    with SqliteBank(":memory:") as bank:
        bank.set_embedder(EmbedderInfo("tiny", 2))
        units = [
            MemoryUnit("first fact", id="a", scope=Scope("u")),
            MemoryUnit("東京 second", id="b", scope=Scope("v")),
            MemoryUnit("third", id="c", scope=Scope("u", "w")),
        ]
        bank.add(units, np.ones((3, 2), np.float32))
        bank.relate([Relation(RelationKind.TIME, "a", "b")])
        bank.set_values([Value("a", "", 0.75)])
        bank.touch(["c"], 1.0, "which?")
        bank.set_state("router", b"x")
        for _ in range(2):
            with bank.lesson("feedback"):
                bank.touch(["c"], 1.0, "which?")
        bank.undo(bank.lessons()[0])
        yield bank


def test_a_sound_bank_has_no_problems(bank: SqliteBank) -> None:
    assert bank.verify() == []
    bank.delete(["b", "c"])
    assert bank.verify() == []
    with bank.lesson("learn"):
        bank.touch(["a"], 1.0, "which?")
        assert bank.verify() == []


DELETE_WORDS = (
    "INSERT INTO words (words, rowid, content, summary, entities, topics, owner)"
    " SELECT 'delete', * FROM words_source WHERE seq = 1"
)
EXTRA_WORDS = (
    "INSERT INTO words (rowid, content, summary, entities, topics, owner)"
    " VALUES (1, 'smuggled', '', '', '', '')"
)


@pytest.mark.parametrize(
    ("statement", "where", "unit_id", "what"),
    [
        (DELETE_WORDS, "words", "a", "lacks words"),
        (EXTRA_WORDS, "words", "a", "holds words that are not"),
        ("INSERT INTO words (rowid, content) VALUES (99, 'ghost')", "words", "", "row 99"),
        ("UPDATE units SET summary = 'changed' WHERE id = 'a'", "words", "a", "lacks words"),
        ("UPDATE units SET status = 'archived' WHERE id = 'b'", "grams", "b", "holds words"),
        ("UPDATE units SET content = 'edited' WHERE id = 'a'", "history", "a", "content hash"),
        ("UPDATE units SET content = 'edited' WHERE id = 'a'", "units", "a", "identity"),
        ("UPDATE units SET event_key = 5 WHERE id = 'a'", "units", "a", "event time"),
        ("UPDATE units SET dated = '1 May 2023' WHERE id = 'a'", "units", "a", "indexed as 1 May"),
        ("UPDATE units SET unspaced = 1 WHERE id = 'a'", "units", "a", "without spaces"),
        ("UPDATE units SET superseded_by = 'z' WHERE id = 'a'", "units", "a", "names z"),
        ("UPDATE vectors SET vector = x'00' WHERE seq = 1", "vectors", "a", "1 bytes"),
        ("INSERT INTO vectors VALUES (99, x'0000000000000000')", "vectors", "", "without a unit"),
        ("INSERT INTO relations VALUES (1, 99, 'time', 1)", "relations", "a", "lacks one"),
        ("UPDATE learned SET q = 0.5", "learned", "a", "utility 0.75"),
        ("INSERT INTO learned VALUES (99, 'x', 0, 0)", "learned", "", "without a unit"),
        ("DELETE FROM history WHERE unit_id = 'a'", "history", "a", "does not say so"),
        ("DELETE FROM history WHERE event = 'delete'", "history", "gone", "was deleted"),
        (
            "UPDATE history SET payload = '{}' WHERE unit_id = 'gone'",
            "history",
            "gone",
            "2 payloads",
        ),
        (
            "UPDATE history SET image = '{}' WHERE unit_id = 'gone'",
            "history",
            "gone",
            "2 payloads",
        ),
        ("UPDATE history SET image = '{}' WHERE seq = 1", "history", "a", "belongs to no lesson"),
        ("UPDATE history SET event = 'undo' WHERE seq = 1", "history", "a", "takes a row back"),
        ("UPDATE history SET image = NULL", "history", "c", "does not keep what it replaced"),
        ("UPDATE lessons SET last = 99", "lessons", "", "ends at row 99"),
        ("UPDATE lessons SET first = 1", "lessons", "", "lesson 2 is rows 1 to"),
        ("UPDATE state SET name = 'other'", "state", "", "the state 'other'"),
        ("INSERT INTO scopes VALUES (99, 'x', '', '', 99)", "scopes", "", "no units"),
        ("UPDATE scopes SET owner = 1", "scopes", "", "mix up users"),
    ],
)
def test_each_spoiled_row_is_named(
    bank: SqliteBank, statement: str, where: str, unit_id: str, what: str
) -> None:
    bank.add([MemoryUnit("to be deleted", id="gone")])
    bank.delete(["gone"])
    with bank._connections.reading() as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(statement)
    problems = bank.verify()
    assert [p for p in problems if (p.where, p.unit_id) == (where, unit_id) and what in p.what]
