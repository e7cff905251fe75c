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


def killed_and_resumed(command: list[str], run: Path, *options: str, kills: int) -> None:
    """Kill the program at random moments, then let it finish."""
    generator = random.Random(2)
    for _ in range(kills):
        known = length(run)
        process = started([*command, str(run), *options, *resuming(run)])
        while length(run) <= known and process.poll() is None:
            time.sleep(0.002)
        time.sleep(generator.uniform(0, 0.3))
        process.kill()
        process.communicate()
    process = started([*command, str(run), *options, *resuming(run)])
    _, errors = process.communicate()
    assert process.returncode == 0, errors


def resuming(run: Path) -> list[str]:
    return ["--resume"] if run.exists() else []


def decided(path: Path, *apart: str) -> list[Any]:
    """The journal without what may differ between equal runs."""
    entries = read_journal(path / "journal.jsonl")
    plain = [e.event.to_dict() for e in entries if e.event.replayed]
    volatile = ("seconds", "usage", *apart)
    return [{k: v for k, v in e.items() if k not in volatile} for e in plain]


def test_killed_again_and_again_a_run_ends_in_the_same_best(
    noisy: Any, program: list[str], tmp_path: Path
) -> None:
    noisy.run_evolution(noisy.noisy_task(), noisy.settings(), tmp_path / "whole")
    run = tmp_path / "killed"
    killed_and_resumed(program, run, kills=3)
    assert files(run / "best") == files(tmp_path / "whole" / "best")
    assert decided(run) == decided(tmp_path / "whole")


def test_so_does_a_run_by_a_model_that_never_says_the_same_twice(
    noisy: Any, program: list[str], tmp_path: Path
) -> None:
    noisy.main(str(tmp_path / "whole"), "--llm")
    run = tmp_path / "killed"
    killed_and_resumed(program, run, "--llm", kills=2)
    assert files(run / "best") == files(tmp_path / "whole" / "best")
    words = ("reason", "next", "exchange")
    assert decided(run, *words) == decided(tmp_path / "whole", *words)
    assert decided(run) != decided(tmp_path / "whole")


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
