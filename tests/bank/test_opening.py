"""Opening files and URLs: what is created, what is refused, and that nothing else is touched."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memgene.bank import MemoryUnit, SqliteBank, open_bank
from memgene.bank.sqlite import migrations
from memgene.bank.sqlite.migrations import MIGRATIONS, Migration
from memgene.core import BankError, InputError, MissingDependencyError
from memgene.testing.banks import everything, put


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_bank_outlives_its_closing(tmp_path: Path) -> None:
    with SqliteBank(tmp_path / "a.db") as bank:
        bank.add([MemoryUnit("hello")])
    with SqliteBank(tmp_path / "a.db") as bank:
        assert [u.content for u in bank.scan()] == ["hello"]
        assert bank.location == str(tmp_path / "a.db")
    assert [p.name for p in tmp_path.iterdir()] == ["a.db"]


def test_an_empty_file_becomes_a_bank(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.touch()
    with SqliteBank(path) as bank:
        assert bank.version() == 0


@pytest.mark.parametrize("content", [b"just some notes\n" * 100, b"x"])
def test_another_file_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(BankError, match="not a memgene bank"):
        SqliteBank(path)
    assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_another_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    execute(path, "CREATE TABLE units (x)")
    before = path.read_bytes()
    with pytest.raises(BankError, match="another program"):
        SqliteBank(path)
    assert path.read_bytes() == before


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    SqliteBank(path).close()
    execute(path, f"INSERT INTO migrations VALUES ({MIGRATIONS[-1].number + 1}, 'from the future')")
    with pytest.raises(BankError, match=r"format 3.*reads up to 2; upgrade memgene"):
        SqliteBank(path)


def test_a_damaged_bank_is_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with SqliteBank(path) as bank:
        bank.add([MemoryUnit(f"fact {n}") for n in range(500)])
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xff" * (len(data) - 8192)
    path.write_bytes(data)
    with pytest.raises(BankError, match="damaged"):
        SqliteBank(path)


def test_a_folder_and_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(BankError, match="is a folder"):
        SqliteBank(tmp_path)
    with pytest.raises(BankError, match="does not exist"):
        SqliteBank(tmp_path / "missing" / "a.db")


def test_migrations_are_numbered_without_gaps(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    SqliteBank(path).close()
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT number, name FROM migrations").fetchall()
    assert rows == [(m.number, m.name) for m in MIGRATIONS]
    assert [m.number for m in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_an_older_bank_is_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.db"
    with SqliteBank(path) as bank:
        bank.add([MemoryUnit("hello")])
    number = MIGRATIONS[-1].number + 1
    step = Migration(
        number, "one more step", ("CREATE TABLE added (x)", "INSERT INTO added VALUES (1)")
    )
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, step))
    for _ in range(2):
        with SqliteBank(path) as bank, bank._connections.reading() as connection:
            assert connection.execute("SELECT count(*) FROM added").fetchone() == (1,)
            assert [u.content for u in bank.scan()] == ["hello"]


def test_a_bank_of_format_1_learns_and_unlearns(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with SqliteBank(path) as bank:
        (unit_id,) = put(bank, "hello")
        bank.touch([unit_id], 0.5, "before")
    execute(
        path,
        "DROP TABLE state",
        "DROP TABLE lessons",
        "ALTER TABLE history DROP COLUMN image",
        "DELETE FROM migrations WHERE number = 2",
    )
    with SqliteBank(path) as bank:
        assert bank.verify() == []
        before = everything(bank, "hello")
        with bank.lesson("feedback"):
            bank.touch([unit_id], 1.0, None)
            bank.set_state("router", b"x")
        assert bank.undo(bank.lessons()[0]) == 2
        assert everything(bank, "hello") == before
        assert [row.event for row in bank.history(unit_id)] == [
            "add", "feedback", "feedback", "undo",
        ]  # fmt: skip
        assert bank.verify() == []


def test_a_migration_that_fails_leaves_the_bank_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.db"
    SqliteBank(path).close()
    number = MIGRATIONS[-1].number
    broken = Migration(
        number + 1, "broken", ("CREATE TABLE added (x)", "INSERT INTO missing VALUES (1)")
    )
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, broken))
        with pytest.raises(BankError, match="no such table: missing"):
            SqliteBank(path)
    with SqliteBank(path) as bank, bank._connections.reading() as connection:
        assert connection.execute("SELECT max(number) FROM migrations").fetchone() == (number,)
        tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'added'")
        assert tables.fetchone() == (0,)


@pytest.mark.parametrize(
    ("where", "location"),
    [(":memory:", ":memory:"), ("sqlite::memory:", ":memory:"), ("sqlite:a.db", "a.db"),
     ("sqlite:///a.db", "a.db"), ("a.db", "a.db"), (Path("a.db"), "a.db")],
)  # fmt: skip
def test_urls_and_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str | Path, location: str
) -> None:
    monkeypatch.chdir(tmp_path)
    bank = open_bank(where)
    assert bank.location == location
    bank.close()


def test_an_absolute_url(tmp_path: Path) -> None:
    bank = open_bank(f"sqlite:///{tmp_path}/a.db")
    assert bank.location == f"{tmp_path}/a.db"
    bank.close()


@pytest.mark.parametrize("url", ["postgresql://host/db", "postgres://u:pw@h/db"])
def test_postgresql_is_not_there_yet(url: str) -> None:
    with pytest.raises(MissingDependencyError, match="not part of this version") as caught:
        open_bank(url)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize("url", ["mysql://host/db", "sqlite:", "sqlite://host/a.db"])
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(InputError):
        open_bank(url)
