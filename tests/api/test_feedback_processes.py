"""Feedback from several processes at once: nothing of it is lost."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from memgene import Memory
from memgene.embed import load_embedder

PROCESSES, EACH = 3, 12


def _reward(path: Path, id: str, apply: bool) -> None:
    with Memory(path, embedder="hashing") as memory:
        for number in range(EACH):
            memory.feedback(id, 1.0, f"query {number}", apply=apply)


@pytest.mark.parametrize("apply", [True, False])
def test_every_reward_counts(path: Path, apply: bool) -> None:
    with Memory(path, embedder=load_embedder("hashing")) as memory:
        (added,) = memory.add("fact")
    context = multiprocessing.get_context("fork")
    running = [
        context.Process(target=_reward, args=(path, added.id, apply)) for _ in range(PROCESSES)
    ]
    for process in running:
        process.start()
    for process in running:
        process.join()
    assert [process.exitcode for process in running] == [0] * PROCESSES
    with Memory(path, embedder="hashing") as memory:
        if not apply:
            memory.learn()
        total = PROCESSES * EACH
        assert memory.get(added.id).utility == pytest.approx(1 - 0.5 * 0.7**total)
        events = [entry.event for entry in memory.history(added.id)]
        assert events.count("feedback") == total
        (overall,) = [v for v in memory._bank.values([added.id]) if v.cluster == ""]
        assert overall.exposures == total
        lessons = memory.lessons(limit=1000)
        assert len(lessons) == total + (0 if apply else 1)
        memory.undo(all=True)
        assert memory.get(added.id).utility == 0.5
        assert memory.verify().ok
