"""The steps of `memgene demo`, each a call of the public API on the bundled task."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgene.api.evaluating import evaluate, split_of
from memgene.api.evolving import EvolutionRun, evolve
from memgene.api.memory import Memory
from memgene.api.results import SearchResult
from memgene.core import Budget, InputError
from memgene.evaluation.progress import Progress
from memgene.evaluation.report import EvaluationReport
from memgene.evolution.progress import ProgressCallback
from memgene.harness.registry import STATIC
from memgene.tasks.demo import demo_task
from memgene.tasks.task import Task

SEED = 0
ROUNDS = 4
_FOUND = 3


@dataclass(frozen=True, slots=True)
class DemoSearch:
    """A question asked of a small memory, what was found, and the file it was found in."""

    query: str
    user_id: str
    db: Path
    genome: Path
    result: SearchResult


def task() -> Task:
    """The bundled task."""
    return demo_task()


def prepare(folder: Path) -> None:
    """Make the folder, before any work is done. Raises InputError where nothing can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"dir {folder} cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"dir {folder} cannot be written to")


def introduction(demo: Task) -> str:
    """What the task is, in a sentence."""
    return (
        f"{len(demo.questions)} questions about {len(demo.groups)} bundled conversations. "
        "No network, no key, no language model."
    )


def evaluate_static(demo: Task, progress: Progress | None = None) -> EvaluationReport:
    """The memories that do not evolve, on the held-out questions."""
    return evaluate(demo, STATIC, split="test", seed=SEED, embedder="static", progress=progress)


def evolve_config(
    demo: Task, folder: Path, progress: ProgressCallback | None = None
) -> EvolutionRun:
    """A short evolution in `folder`/run; one that was made there before is read, or finished."""
    place = folder / "run"
    return evolve(
        demo,
        budget=Budget(iterations=ROUNDS),
        run_dir=place,
        seed=SEED,
        embedder="static",
        resume=place.exists(),
        progress=progress,
    )


def search_with(demo: Task, run: EvolutionRun, folder: Path) -> DemoSearch:
    """Fill a small memory with one held-out conversation, and ask it with what evolved."""
    held_out = split_of(demo, "test", SEED)
    asked = held_out.questions[0]
    db = folder / "memory.db"
    with Memory(db, genome=run.best) as memory:
        for episode in held_out.episodes:
            if episode.group == asked.group:
                memory.add(episode, user_id=asked.group)
        found = memory.search(asked.question.text, user_id=asked.group, limit=_FOUND)
    return DemoSearch(asked.question.text, asked.group, db, run.best, found)


def honest_words(run: EvolutionRun) -> str:
    """What so few questions can tell, and what they cannot."""
    paired = run.result.test.paired.get("start")
    words = f"{run.questions} held-out questions are few: read the intervals, not the points."
    if paired is None:
        return words
    low, high = paired.paired.low, paired.paired.high
    if low > 0:
        return f"{words} The gain over the start is above zero over its whole interval."
    if high < 0:
        return f"{words} What evolved is worse than the start here."
    return f"{words} The gain over the start may be chance: its interval includes zero."


def next_command(found: DemoSearch, program: Sequence[str] = ("memgene",)) -> str:
    """A command that goes on from here; `program` is how memgene is called in this installation."""
    return shlex.join(
        [
            *program,
            "search",
            found.query,
            "--db",
            str(found.db),
            "--user-id",
            found.user_id,
            "--genome",
            str(found.genome),
            "--why",
        ]
    )


def summary(
    report: EvaluationReport,
    run: EvolutionRun,
    found: DemoSearch,
    program: Sequence[str] = ("memgene",),
) -> dict[str, Any]:
    """Everything as plain values."""
    return {
        "evaluate": report.to_json(),
        "evolve": run.model_dump(),
        "search": {"query": found.query, **found.result.model_dump()},
        "report": str(run.report),
        "next": next_command(found, program),
    }
