"""SQLite in a program: all of it, except ways out to files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from memgene.programs.guest.database import Database, guarded_sqlite3, open_database

Run = Callable[..., Any]


@pytest.fixture
def db() -> Iterator[Database]:
    with closing(open_database()) as made:
        yield made


def test_it_is_a_connection_like_any_other(db: Database) -> None:
    assert isinstance(db, sqlite3.Connection)
    with db:
        db.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
        db.executemany("INSERT INTO notes (text) VALUES (?)", [("a",), ("b",)])
    cursor = db.cursor()
    cursor.execute("INSERT INTO notes (text) VALUES ('c')")
    assert cursor.lastrowid == 3
    db.commit()
    db.row_factory = sqlite3.Row
    row = db.execute("SELECT * FROM notes WHERE id = 2").fetchone()
    assert dict(row) == {"id": 2, "text": "b"}
    columns = [r["name"] for r in db.execute("PRAGMA table_info(notes)")]
    assert columns == ["id", "text"]


def test_a_failed_transaction_is_rolled_back(db: Database) -> None:
    db.execute("CREATE TABLE notes (text TEXT)")

    def fail() -> None:
        with db:
            db.execute("INSERT INTO notes VALUES ('a')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert db.execute("SELECT count(*) FROM notes").fetchone() == (0,)


def test_full_text_search_works(db: Database) -> None:
    db.executescript(
        "CREATE VIRTUAL TABLE docs USING fts5(body, tokenize='porter');"
        "INSERT INTO docs VALUES ('she painted the boat'), ('he sold a car');"
    )
    found = db.execute(
        "SELECT body FROM docs WHERE docs MATCH 'painting' ORDER BY bm25(docs)"
    ).fetchall()
    assert found == [("she painted the boat",)]


def test_large_tables_are_sorted_without_a_file(db: Database) -> None:
    assert db.execute("PRAGMA temp_store").fetchone() == (2,)  # 2: memory, 0 and 1: files


def test_functions_of_the_program_can_be_used(db: Database) -> None:
    db.create_function("half", 1, lambda n: n / 2)
    assert db.execute("SELECT half(5)").fetchone() == (2.5,)


def test_another_thread_may_use_it(db: Database) -> None:
    found: list[Any] = []
    thread = Thread(target=lambda: found.append(db.execute("SELECT 7").fetchone()))
    thread.start()
    thread.join()
    assert found == [(7,)]


@pytest.mark.parametrize(
    "statement",
    [
        "ATTACH DATABASE '{file}' AS other",
        "DETACH DATABASE main",
        "VACUUM INTO '{file}'",
        "SELECT load_extension('{file}')",
        "PRAGMA temp_store_directory = '{folder}'",
    ],
)
def test_no_way_leads_to_a_file(db: Database, tmp_path: Path, statement: str) -> None:
    sql = statement.format(file=tmp_path / "out.db", folder=tmp_path)
    with pytest.raises(sqlite3.DatabaseError, match=r"auth|prohibited"):
        db.execute(sql)
    assert list(tmp_path.iterdir()) == []


def test_harmless_pragmas_work(db: Database) -> None:
    db.execute("PRAGMA temp_store = MEMORY")
    assert db.execute("PRAGMA journal_mode = WAL").fetchone() == ("memory",)


def test_the_guard_cannot_be_taken_off(db: Database) -> None:
    with pytest.raises(sqlite3.NotSupportedError):
        db.set_authorizer(None)
    with pytest.raises(sqlite3.NotSupportedError):
        db.enable_load_extension(True)


def test_the_module_opens_memory_only(tmp_path: Path) -> None:
    module = guarded_sqlite3()
    with closing(module.connect(":memory:")) as own:
        assert isinstance(own, Database)
    with pytest.raises(sqlite3.OperationalError, match=r"use toolkit\.db"):
        module.connect(str(tmp_path / "x.db"))
    assert module.Row is sqlite3.Row


def test_a_program_uses_it_as_published_ones_do(run: Run) -> None:
    init = """
        self.db = toolkit.db
        self.db.row_factory = sqlite3.Row
        self.db.executescript("CREATE TABLE memories (id INTEGER PRIMARY KEY, body TEXT)")
        self.db.commit()
    """
    read = """
        self.db.execute("INSERT INTO memories (body) VALUES (?)", ("a boat",))
        columns = {row[1] for row in self.db.execute("PRAGMA table_info(memories)").fetchall()}
        row = self.db.execute("SELECT * FROM memories").fetchone()
        self.db.close()
        return f"{sorted(columns)} {row['body']}"
    """
    head = "import sqlite3\nfrom dataclasses import dataclass, field"
    assert run(read, init=init, head=head) == "['body', 'id'] a boat"
