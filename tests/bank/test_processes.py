"""Several processes at one file: each text once, no lock errors, everyone sees everyone."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from random import Random

from memgene.bank import Fate, MemoryUnit, SqliteBank, Value
from memgene.core import InputError
from memgene.testing.banks import everything, put

SHARED = [f"shared fact number {n}" for n in range(200)]
PROCESSES, SECONDS, LESSONS = 3, 2.0, 40


def work(path: str, number: int) -> None:
    """Add shared texts in random slices, and one own text after each; print what was done."""
    random, added, own = Random(number), 0, 0
    end = time.monotonic() + SECONDS
    with SqliteBank(path) as bank:
        while time.monotonic() < end:
            receipts = bank.add([MemoryUnit(text) for text in random.sample(SHARED, 10)])
            added += sum(r.fate is Fate.ADDED for r in receipts)
            bank.add([MemoryUnit(f"own{number}x{own}")])
            own += 1
    sys.stdout.write(json.dumps([added, own]))


def teach(path: str, number: int) -> None:
    """Give lessons about all units; take back the newest, whose ever it is, after every third."""
    undone = late = 0
    with SqliteBank(path) as bank:
        ids = [unit.id for unit in bank.scan()]
        for n in range(LESSONS):
            with bank.lesson(f"teacher {number}"):
                bank.touch(ids, 1.0, None)
                bank.set_values([Value(unit_id, "", n / LESSONS, n) for unit_id in ids])
            if n % 3 == 0:
                try:
                    undone += bank.undo(bank.lessons(1)[0]) > 0
                except InputError:  # another process was faster
                    late += 1
    sys.stdout.write(json.dumps([undone, late]))


def test_processes_share_one_file(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    workers = [
        subprocess.Popen([sys.executable, __file__, path, str(n)], stdout=subprocess.PIPE)
        for n in range(PROCESSES)
    ]
    seen: set[str] = set()
    version = 0
    with SqliteBank(path) as bank:
        while any(worker.poll() is None for worker in workers):
            latest = bank.version()
            changed = bank.changed_since(version)
            assert bank.existing(sorted(changed)) == changed
            version, seen = latest, seen | changed
            time.sleep(0.02)
        outcomes = [json.loads(worker.communicate()[0]) for worker in workers]
        assert [worker.returncode for worker in workers] == [0] * PROCESSES
        contents = [unit.content for unit in bank.scan()]
        assert len(contents) == len(set(contents))
        assert sum(added for added, _ in outcomes) == sum(c in SHARED for c in contents) > 0
        for number, (_, own) in enumerate(outcomes):
            assert len(bank.search_text([f"own{number}x{own - 1}"], None, 5)) == 1
        assert seen | bank.changed_since(version) == {unit.id for unit in bank.scan()}
        assert bank.verify() == []


def test_a_unit_of_another_process_is_found_by_the_next_search(tmp_path: Path) -> None:
    with SqliteBank(tmp_path / "a.db") as bank, SqliteBank(tmp_path / "a.db") as other:
        assert other.search_text(["needle"], None, 5) == []
        before = other.version()
        (receipt,) = bank.add([MemoryUnit("needle")])
        assert other.version() > before
        assert [m.id for m in other.search_text(["needle"], None, 5)] == [receipt.id]


def test_processes_give_lessons_and_take_them_back(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    with SqliteBank(path) as bank:
        put(bank, "one", "two")
        before = everything(bank)
        workers = [
            subprocess.Popen(
                [sys.executable, __file__, path, str(n), "teach"], stdout=subprocess.PIPE
            )
            for n in range(PROCESSES)
        ]
        outcomes = [json.loads(worker.communicate()[0]) for worker in workers]
        assert [worker.returncode for worker in workers] == [0] * PROCESSES
        undone = sum(outcome[0] for outcome in outcomes)
        standing = bank.lessons(PROCESSES * LESSONS)
        assert len(standing) == PROCESSES * LESSONS - undone
        assert undone > 0
        assert bank.verify() == []
        for lesson in standing:
            assert bank.undo(lesson) == lesson.last - lesson.first + 1
        assert everything(bank) == before
        assert bank.verify() == []


if __name__ == "__main__":
    (teach if sys.argv[3:] else work)(sys.argv[1], int(sys.argv[2]))
