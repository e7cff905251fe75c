"""Several processes at one file: each text once, no lock errors, everyone sees everyone."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path
from random import Random

from memgene.bank import Fate, MemoryUnit, SqliteBank

SHARED = [f"shared fact number {n}" for n in range(200)]
PROCESSES, SECONDS = 3, 2.0


def work(path: str, number: int, start: float, reports: multiprocessing.Queue) -> None:
    """Add shared texts in random slices, and one own text after each; report what happened."""
    random, added, own = Random(number), 0, 0
    try:
        with SqliteBank(path) as bank:
            while time.time() < start:
                time.sleep(0.01)
            while time.time() < start + SECONDS:
                receipts = bank.add([MemoryUnit(text) for text in random.sample(SHARED, 10)])
                added += sum(r.fate is Fate.ADDED for r in receipts)
                bank.add([MemoryUnit(f"own{number}x{own}")])
                own += 1
        reports.put((number, added, own, ""))
    except BaseException as error:
        reports.put((number, added, own, repr(error)))
        raise


def test_processes_share_one_file(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    context = multiprocessing.get_context("spawn")
    reports: multiprocessing.Queue = context.Queue()
    start = time.time() + 1.0
    workers = [
        context.Process(target=work, args=(path, n, start, reports)) for n in range(PROCESSES)
    ]
    for worker in workers:
        worker.start()
    with SqliteBank(path) as bank:
        seen: set[str] = set()
        version = 0
        while any(worker.is_alive() for worker in workers) and reports.qsize() < PROCESSES:
            if bank.version() > version:
                changed = bank.changed_since(version)
                version = bank.version()
                assert bank.existing(sorted(changed)) == changed
                seen |= changed
            time.sleep(0.02)
        outcomes = sorted(reports.get(timeout=20) for _ in workers)
        for worker in workers:
            worker.join(20)
        assert [error for *_, error in outcomes] == [""] * PROCESSES
        contents = [unit.content for unit in bank.scan()]
        assert len(contents) == len(set(contents))
        assert sum(added for _, added, _, _ in outcomes) == sum(c in SHARED for c in contents)
        for number, _, own, _ in outcomes:
            last = f"own{number}x{own - 1}"
            assert len(bank.search_text([last], None, 5)) == 1
        assert seen | bank.changed_since(version) == {unit.id for unit in bank.scan()}
        assert bank.verify() == []


def test_a_unit_of_another_process_is_found_by_the_next_search(tmp_path: Path) -> None:
    with SqliteBank(tmp_path / "a.db") as bank, SqliteBank(tmp_path / "a.db") as other:
        assert other.search_text(["needle"], None, 5) == []
        before = other.version()
        (receipt,) = bank.add([MemoryUnit("needle")])
        assert other.version() > before
        assert [m.id for m in other.search_text(["needle"], None, 5)] == [receipt.id]
