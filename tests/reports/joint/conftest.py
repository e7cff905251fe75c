"""A small joint run, written by hand: structure, parameters, structure again, values under way."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
import tomli_w

from memgene.core import FixedClock
from memgene.evaluation.case import Case
from memgene.evaluation.records import write_cases
from memgene.evolution import events as ev
from memgene.evolution.event import Event
from memgene.evolution.joint.events import ArmSkipped, JointStarted, PassBegan, PassFinished
from memgene.evolution.journal import Journal
from memgene.evolution.programs import events as pe
from memgene.evolution.programs.patch import patch_of
from memgene.programs.seeds import seed
from memgene.retrieval.config import RetrievalConfig

METRIC = "token_f1"
CLOCK = FixedClock(datetime(2026, 1, 2, tzinfo=UTC))


SOURCES = {
    "01-structure/000": seed("vector-search").source,
    "01-structure/001": seed("empty").source,
    "01-structure/002": seed("vector-search").source.replace("NEAREST = 5", "NEAREST = 9"),
    "03-structure/000": seed("vector-search").source.replace("NEAREST = 5", "NEAREST = 9"),
    "03-structure/001": seed("hybrid").source,
}
SCORES = {
    "01-structure/000": (0.0, 1.0, 0.5, 0.5),
    "01-structure/001": (0.0, 0.0, 0.0, 0.0),
    "01-structure/002": (0.5, 1.0, 0.5, 0.5),
    "02-parameters/000": (0.5, 1.0, 0.5, 0.5),
    "02-parameters/001": (1.0, 1.0, 0.5, 0.5),
    "03-structure/001": (0.0, 1.0, 0.5, 0.5),
}
CONFIGS = {
    "02-parameters/000": RetrievalConfig(),
    "02-parameters/001": RetrievalConfig().changed(window=2),
}


def mean(name: str) -> float:
    return sum(SCORES[name]) / len(SCORES[name])


def case(number: int, score: float, group: str = "v") -> Case:
    return Case(
        question_id=f"{group}{number}", group=group, category="fact", question="Who?",
        gold=("Ann",), evidence=(), query={}, context="text", shown=0, hits=None,
        answer=f"answer {score}", abstained=False, rule=None, scores={METRIC: score},
    )  # fmt: skip


def _structure() -> list[Event]:
    def drafted(n: int, name: str, parent: str, title: str) -> pe.Drafted:
        by = "modules:rule" if parent else "seed"
        return pe.Drafted(
            n, name, parent, by, title, "", f"d{name}", f"n{name}", 1, "", "", {}, 0.5
        )  # fmt: skip

    def evaluated(name: str) -> ev.Evaluated:
        full = f"01-structure/{name}"
        return ev.Evaluated(name, "static", 4, 4, mean(full), 0, "d", {}, 1.0)

    def joined(n: int, name: str, parent: str) -> pe.Joined:
        score = mean(f"01-structure/{name}")
        delta = score - mean(f"01-structure/{parent}") if parent else 0.0
        return pe.Joined(n, name, parent, score, delta, delta < 0, 0)

    return [
        pe.ProgramsStarted(4, 2, ("vector-search", "empty"), "max", 3),
        drafted(0, "000", "", "vector-search"), evaluated("000"), joined(0, "000", ""),
        drafted(0, "001", "", "empty"), evaluated("001"), joined(0, "001", ""),
        drafted(1, "002", "000", "More neighbours"), evaluated("002"), joined(1, "002", "000"),
        pe.IterationFinished(1, 3, "002", mean("01-structure/002")),
    ]  # fmt: skip


def _parameters() -> list[Event]:
    def proposed(n: int, name: str, parent: str, by: str) -> ev.Proposed:
        changes = {"window": 2} if parent else {}
        return ev.Proposed(n, name, parent, by, changes, "wider", f"d{name}", seconds=0.25)

    score = mean("02-parameters/001")
    return [
        proposed(0, "000", "", "start"),
        ev.Evaluated("000", "val", 4, 4, mean("02-parameters/000"), 0, "d", {}, 1.0),
        proposed(1, "001", "000", "rule"),
        ev.Evaluated("001", "val", 4, 4, score, 0, "d", {}, 1.0),
        ev.Accepted(1, "001", score, 0.125, 0.95, "P(gain) 0.95"),
        ev.RoundFinished(1, "001", score, "001", "001", score, 0),
    ]


def _structure_again() -> list[Event]:
    """Begins with the program of the first pass, whose cases are known; its child is worse."""
    score = mean("03-structure/001")
    return [
        pe.ProgramsStarted(4, 2, ("kept",), "max", 3),
        pe.Drafted(0, "000", "", "seed", "kept", "", "d", "n0", 1, "", "", {}, 0.5),
        pe.Joined(0, "000", "", mean("02-parameters/001"), 0.0, False, 0),
        pe.Drafted(1, "001", "000", "modules:rule", "Words", "", "d", "n1", 1, "", "", {}, 0.5),
        ev.Evaluated("001", "static", 4, 4, score, 0, "d", {}, 1.0),
        pe.Joined(1, "001", "000", score, score - mean("02-parameters/001"), True, 0),
    ]


def joint_events() -> list[Event]:
    first, second = "01-structure/002", "02-parameters/001"
    start = "01-structure/000"
    worse = "03-structure/001"
    gain = mean(first) - mean(start)
    return [
        ev.RunStarted("places", "joint", METRIC, 0, 4, 5, 4, 0, "seed 0"),
        JointStarted("alternating", ("structure", "parameters", "router", "values")),
        PassBegan(1, "structure", start, "first pass of this arm"),
        *_structure(),
        PassFinished(
            1, "structure", first, mean(first), gain, 500, True, first, mean(first)
        ),
        PassBegan(2, "parameters", first, "first pass of this arm"),
        *_parameters(),
        PassFinished(2, "parameters", second, mean(second), 0.125, 250, True, second, mean(second)),
        ArmSkipped("router", "two passes without gain"),
        PassBegan(3, "structure", second, "gained most per question"),
        *_structure_again(),
        PassFinished(3, "structure", worse, mean(worse), -0.25, 4, False, second, mean(second)),
        PassBegan(4, "values", second, "first pass of this arm"),
    ]  # fmt: skip


TEST = {"evolved": (1.0, 1.0, 0.5), "start": (0.0, 1.0, 0.5), "bm25": (0.0, 0.5, 0.5)}


def final_events() -> list[Event]:
    second = "02-parameters/001"
    return [
        PassFinished(4, "values", second, mean(second), 0.0, 8, False, second, mean(second)),
        ev.Stopped(4, "exhausted", "no arm is left"),
        ev.Promoted(second, False),
        ev.TestOpened(3, ("t",)),
        *(ev.TestMeasured(name, sum(scores) / 3, 3) for name, scores in TEST.items()),
        ev.Finished("abc", 4, 762),
    ]


def write_joint(folder: Path, events: Sequence[Event]) -> Path:
    """Write the files a joint run of these events leaves."""
    folder.mkdir(parents=True)
    settings = {"task": "places", "strategy": "joint", "metric": METRIC, "seed": 0}
    run = {"format": 1, "settings": settings, "data": {}, "versions": {}}
    (folder / "run.toml").write_text(tomli_w.dumps(run), encoding="utf-8")
    journal = Journal(folder / "journal.jsonl", CLOCK)
    for event in events:
        journal.emit(event)
    journal.close()

    def place(name: str) -> Path:
        part, _, inner = name.partition("/")
        path = folder / "passes" / part / "candidates" / inner
        path.mkdir(parents=True, exist_ok=True)
        return path

    for name, source in SOURCES.items():
        (place(name) / "program.py").write_text(source, encoding="utf-8")
    patch = patch_of("000", SOURCES["01-structure/000"], "002", SOURCES["01-structure/002"])
    (place("01-structure/002") / "patch.diff").write_text(patch, encoding="utf-8")
    for name, config in CONFIGS.items():
        (place(name) / "retrieval.toml").write_text(config.to_toml(), encoding="utf-8")
    for name, scores in SCORES.items():
        write_cases(place(name) / "cases.jsonl", [case(n, s) for n, s in enumerate(scores)])
    if any(isinstance(event, ev.Finished) for event in events):
        for row, scores in TEST.items():
            cases = [case(n, s, "t") for n, s in enumerate(scores)]
            write_cases(folder / "final" / row / "cases.jsonl", cases)
        best = folder / "best"
        best.mkdir()
        config = CONFIGS["02-parameters/001"]
        (best / "retrieval.toml").write_text(config.to_toml(), encoding="utf-8")
        (best / "program.py").write_text(SOURCES["01-structure/002"], encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def going_on(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three passes are done, a fourth goes on."""
    return write_joint(tmp_path_factory.mktemp("joint") / "run", joint_events())


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A joint run that is finished."""
    return write_joint(tmp_path_factory.mktemp("joint") / "run", [*joint_events(), *final_events()])
