"""`lineage` and `diff` of a co-evolution from the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from typer.testing import Result

import memgene.api.lineages as api
from memgene.bank.protocol import Value
from memgene.engine.learned import LearnedMemory
from memgene.evaluation.case import Case
from memgene.evaluation.records import write_cases
from memgene.evolution.coevolve.events import CoevolutionStarted, PhaseFinished
from memgene.evolution.coevolve.state import State
from memgene.evolution.events import Accepted, Evaluated, RoundFinished, RunStarted
from memgene.evolution.journal import Journal
from memgene.retrieval.config import RetrievalConfig

Run = Callable[..., Result]
Ask = Callable[..., Any]
METRIC = "recall@10"
SHARES = {"000": 0.5, "001": 0.25}


def case(share: float) -> Case:
    return Case(
        question_id="q0", group="g", category="fact", question="?", gold=("a",), evidence=(),
        query={}, context="", shown=0, hits=None, answer="", abstained=False, rule=None,
        scores={METRIC: 1 - share}, question_type="when",
        notes={"weights": {"dense": share, "sparse": 1 - share}},
    )  # fmt: skip


@pytest.fixture
def states(here: Path) -> Path:
    """A start and the state of one memory phase; the run goes on."""
    folder = here / "states"
    folder.mkdir()
    run = {"format": 1, "settings": {"strategy": "coevolve", "metric": METRIC, "seed": 0}}
    (folder / "run.toml").write_text(tomli_w.dumps(run), encoding="utf-8")
    learned = LearnedMemory((Value("u1", "", 0.75, 2), Value("u2", "", 0.4, 1)))
    made = {"000": LearnedMemory.empty(), "001": learned}
    phase = PhaseFinished(
        1, "memory", 1, "001", "000", 4, 4, 0.5, (0.5,), {}, 2, 0, {"count": 2.0}, "",
        learned.digest, 0, "",
    )  # fmt: skip
    journal = Journal(folder / "journal.jsonl")
    for event in (
        RunStarted("places", "coevolve", METRIC, 0, 2, 4, 1, 0, "seed 0"),
        CoevolutionStarted("alternating", 2, 4, ("dense", "sparse"), "d"),
        Evaluated("000", "val", 1, 1, 0.5, 0, "d", {}),
        phase,
        Evaluated("001", "val", 1, 1, 0.75, 0, "d", {}),
        Accepted(1, "001", 0.75, 0.25, 0.95, "P(gain) 0.95"),
        RoundFinished(1, "001", 0.75, "001", "001", 0.75, 0),
    ):
        journal.emit(event)
    journal.close()
    for name, memory in made.items():
        place = folder / "candidates" / name
        place.mkdir(parents=True)
        for file, content in State(RetrievalConfig(), memory).files().items():
            (place / file).write_bytes(content if isinstance(content, bytes) else content.encode())
        write_cases(place / "cases.jsonl", [case(SHARES[name])])
    return folder


def test_the_lineage_shows_states_with_phase_and_score(run: Run, states: Path) -> None:
    shown = run("lineage", str(states)).stdout.splitlines()
    assert "└── 000 50.0 seed · start" in shown
    assert "    └── 001 75.0 (+25.0) ★ best so far · memory phase, cycle 1" in shown


def test_a_difference_of_states_shows_weights_and_values(run: Run, states: Path) -> None:
    lines = [
        " ".join(line.split())
        for line in run("diff", str(states), "000", "best").stdout.splitlines()
    ]
    assert "when 1 0.50 → 0.25 0.50 → 0.75" in lines
    assert "all 1 0.50 → 0.25 0.50 → 0.75" in lines
    assert "memories with a value 0 2" in lines
    assert "2 mean values differ, by 0.175 on average" in lines
    assert "u1 – 0.750 +0.250" in lines
    assert "u2 – 0.400 -0.100" in lines
    assert "the two are equal" not in lines


def test_equal_states_are_called_equal(run: Run, states: Path) -> None:
    assert "the two are equal" in run("diff", str(states), "001", "001").stdout


def test_json_is_what_the_api_gives(ask: Ask, states: Path) -> None:
    assert ask("lineage", str(states)) == api.lineage(states).model_dump()
    found = ask("diff", str(states), "000", "001")
    assert found == api.diff(states, "000", "001").model_dump()
    assert found["learning"]["values"]["largest"][0]["unit_id"] == "u1"
