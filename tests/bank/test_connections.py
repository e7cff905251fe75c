"""Threads, forks, locks: who waits, who is told what, and what is released."""

from __future__ import annotations

import gc
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

import pytest

from memgene.bank import MemoryUnit, SqliteBank
from memgene.core import BankError


def in_thread(action: object) -> list[object]:
    results: list[object] = []
    thread = Thread(target=lambda: results.append(action()))  # type: ignore[operator]
    thread.start()
    thread.join()
    return results


def test_readers_do_not_wait_for_a_writer(tmp_path: Path) -> None:
    with SqliteBank(tmp_path / "a.db") as bank:
        bank.add([MemoryUnit("before")])
        with bank.atomic():
            bank.add([MemoryUnit("unfinished")])
            assert in_thread(lambda: [u.content for u in bank.scan()]) == [["before"]]
        assert in_thread(lambda: len(list(bank.scan()))) == [2]


def test_a_held_lock_is_called_locked_not_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with SqliteBank(path, busy_timeout=0.05) as bank:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(BankError, match="locked by another process"):
                bank.add([MemoryUnit("hello")])
            other.execute("ROLLBACK")
        assert bank.add([MemoryUnit("hello")])[0].fate == "added"


@pytest.mark.parametrize("place", ["a.db", ":memory:"])
def test_a_thread_that_waits_too_long_is_told(tmp_path: Path, place: str) -> None:
    location = place if place == ":memory:" else tmp_path / place
    with SqliteBank(location, busy_timeout=0.05) as bank:
        inside, done = Event(), Event()

        def hold() -> None:
            with bank.atomic():
                inside.set()
                done.wait(10)

        thread = Thread(target=hold)
        thread.start()
        inside.wait(10)
        with pytest.raises(BankError, match="locked"):
            bank.add([MemoryUnit("hello")])
        done.set()
        thread.join()
        assert bank.add([MemoryUnit("hello")])[0].fate == "added"


def test_a_duplicate_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with SqliteBank(path, busy_timeout=0.05) as bank:
        bank.add([MemoryUnit("hello")])
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert bank.add([MemoryUnit("hello")])[0].fate == "merged"
            other.execute("ROLLBACK")


def test_connections_of_ended_threads_are_closed(tmp_path: Path) -> None:
    with SqliteBank(tmp_path / "a.db") as bank:
        for _ in range(10):
            in_thread(bank.version)
        assert len(bank._connections._state.sessions) <= 2


def test_closing_releases_everything(tmp_path: Path) -> None:
    bank = SqliteBank(tmp_path / "a.db")
    in_thread(bank.version)
    sessions = [s.connection for s in bank._connections._state.sessions]
    bank.close()
    for connection in sessions:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")
    del bank
    gc.collect()  # an open connection would warn here, and warnings are errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("place", ["a.db", ":memory:"])
def test_a_forked_child_may_use_the_bank(tmp_path: Path, place: str) -> None:
    with SqliteBank(place if place == ":memory:" else tmp_path / place) as bank:
        bank.add([MemoryUnit("parent")])
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            report = b"failed"
            try:
                bank.add([MemoryUnit("child")])
                report = b",".join(u.content.encode() for u in bank.scan())
            finally:
                os.write(write, report)
                os._exit(0)
        os.close(write)
        os.waitpid(child, 0)
        with open(read, "rb") as pipe:
            assert pipe.read() == b"parent,child"
        bank.add([MemoryUnit("after")])
        seen = [u.content for u in bank.scan()]
        shared = ["parent", "after"] if place == ":memory:" else ["parent", "child", "after"]
        assert seen == shared
        assert bank.verify() == []


def test_a_scan_may_write_while_it_reads(tmp_path: Path) -> None:
    with SqliteBank(tmp_path / "a.db") as bank, SqliteBank(tmp_path / "a.db") as other:
        bank.add([MemoryUnit(f"fact {n}") for n in range(3)])
        seen = []
        for unit in bank.scan():
            seen.append(unit.content)
            other.add([MemoryUnit(f"{unit.content} again")])
            bank.delete([unit.id])
        assert seen == ["fact 0", "fact 1", "fact 2"]
        assert len(list(bank.scan())) == 3
