"""kill -9 at random moments, resume, and the same best/ byte by byte; Ctrl-C in a real process."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from memgene.evolution.journal import read_journal

KILLS = 3


@pytest.fixture(scope="module")
def program(noisy: Any) -> list[str]:
    return [sys.executable, noisy.__file__]


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def length(run: Path) -> int:
    """Bytes of the journal, 0 when there is none."""
    path = run / "journal.jsonl"
    return path.stat().st_size if path.exists() else 0


def started(command: list[str]) -> subprocess.Popen[str]:
    """The program, once its imports are done."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_killed_again_and_again_a_run_ends_in_the_same_best(
    noisy: Any, program: list[str], tmp_path: Path
) -> None:
    noisy.run_evolution(noisy.noisy_task(), noisy.settings(), tmp_path / "whole")
    generator = random.Random(2)
    run = tmp_path / "killed"
    for _ in range(KILLS):
        known = length(run)
        process = started([*program, str(run), *(["--resume"] if run.exists() else [])])
        while length(run) <= known and process.poll() is None:
            time.sleep(0.002)
        time.sleep(generator.uniform(0, 0.3))
        process.kill()
        process.communicate()
    process = started([*program, str(run), *(["--resume"] if run.exists() else [])])
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert files(run / "best") == files(tmp_path / "whole" / "best")

    def decided(path: Path) -> list[Any]:
        entries = read_journal(path / "journal.jsonl")
        plain = [e.event.to_dict() for e in entries if e.event.replayed]
        return [{k: v for k, v in e.items() if k not in ("seconds", "usage")} for e in plain]

    assert decided(run) == decided(tmp_path / "whole")


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_ctrl_c_ends_the_process_after_the_round(
    noisy: Any, program: list[str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    process = started([*program, str(run)])
    while not (run / "journal.jsonl").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    if process.returncode == 0:
        pytest.skip("the run was over before the signal came")
    assert "RunInterruptedError" in errors
    kinds = [entry.event.kind for entry in read_journal(run / "journal.jsonl")]
    assert kinds[-1] == "interrupted"
    assert "round_finished" in kinds[-3:] or "evaluated" in kinds[-3:]
    assert not (run / "best").exists()
