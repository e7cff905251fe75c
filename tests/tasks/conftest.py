from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from memgene.core import Episode, Gold, LabelledQuestion, Message, Question
from memgene.tasks.task import Regime, Task

MakeTask = Callable[..., Task]


@pytest.fixture
def make_task() -> MakeTask:
    """A task from question counts by group: one episode of two messages per group."""

    def make(counts: Mapping[str, int], **changes: Any) -> Task:
        episodes = tuple(
            Episode(
                id=f"{group}/e",
                messages=(Message("one", id=f"{group}/e:0"), Message("two", id=f"{group}/e:1")),
                group=group,
                source=f"{group}/e",
            )
            for group in counts
        )
        questions = tuple(
            LabelledQuestion(
                Question(id=f"{group}/q{n}", text=f"what is {n}?", group=group),
                Gold(answers=("one",), evidence=(f"{group}/e:0",)),
            )
            for group, count in counts.items()
            for n in range(count)
        )
        fields: dict[str, Any] = {
            "name": "made",
            "episodes": episodes,
            "questions": questions,
            "regime": Regime.OWN_GROUP,
            "metric": "token_f1",
            "fingerprint": "f",
        }
        return Task(**{**fields, **changes})

    return make


@pytest.fixture
def write_lines() -> Callable[[Path, list[Any]], None]:
    """Write records as JSON lines."""

    def write(path: Path, records: list[Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")

    return write


@pytest.fixture
def real_data() -> Path:
    """Where the real benchmark files are; tests that need them skip when nobody says."""
    place = os.environ.get("MEMGENE_DATA")
    if not place:
        pytest.skip("set MEMGENE_DATA to a folder with the benchmark files to run this")
    return Path(place)
