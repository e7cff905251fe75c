"""Several processes at one file: each text once, no lock errors, everyone sees everyone."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from random import Random

from memgene.bank import Fate, MemoryUnit, SqliteBank

SHARED = [f"shared fact number {n}" for n in range(200)]
PROCESSES, SECONDS = 3, 2.0


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


if __name__ == "__main__":
    work(sys.argv[1], int(sys.argv[2]))
