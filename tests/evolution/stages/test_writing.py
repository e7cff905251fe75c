"""A model writes a stage from failures on dev; gates stand before the guard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memgene.core import Budget
from memgene.evaluation.case import Case, HitTrace
from memgene.evolution.diagnosis import Diagnosis, diagnose
from memgene.evolution.evolve import run_evolution
from memgene.evolution.settings import EvolveSettings
from memgene.evolution.stages.writing import brief
from memgene.llm.protocol import Request
from memgene.llm.roles import RoleModels
from memgene.testing import tiny_task
from memgene.testing.llm import ScriptedLLM, shortest_reply

GOOD = (
    'KIND = "rescorer"\nABOUT = "likes doors"\n'
    "def scores(query, hits):\n    return [float('door' in h['text']) for h in hits]\n"
)
BROKEN = GOOD.replace("float(", "open(")


def diagnosis() -> Diagnosis:
    hits = tuple(
        HitTrace(f"u{i}", (f"m{i}",), 1.0, f"[8 May 2023] Ann: line {i}") for i in range(8)
    )
    case = Case(
        question_id="q", group="g", category="fact", question="Where is the door?",
        gold=("in the east",), evidence=("m6",), query={}, context="text", shown=4, hits=hits,
        answer="west", abstained=False, rule=None, scores={"token_f1": 0.0},
    )  # fmt: skip
    return diagnose([case], "token_f1")


def test_the_model_sees_failures_on_dev_and_the_whole_contract() -> None:
    system, user = brief(diagnosis())
    assert "never for a single one" in system.content
    for told in (
        "Where is the door?",
        "Ranked 1: [8 May 2023] Ann: line 0",
        "Should have been first, was 7: [8 May 2023] Ann: line 6",
        "Known answer: in the east",
        "`def scores(query, hits) -> list[float]`",
        "`def accept(question, context, answer) -> bool`",
        "(may be left out)",
        "difflib",
    ):
        assert told in user.content
    assert "sqlite3" not in user.content


def writes(*sources: str) -> Iterator[str]:
    for number, source in enumerate(sources):
        yield json.dumps(
            {"name": f"doors_{number}", "reason": "doors", "strength": 0.5, "source": source}
        )


def model(*sources: str) -> ScriptedLLM:
    """Writes these stages in turn, and the shortest advice there is."""
    stages = writes(*sources)

    def reply(request: Request) -> str:
        wants_stage = any("Write one stage." in m.content for m in request.messages)
        return next(stages) if wants_stage else shortest_reply(request)

    return ScriptedLLM(reply)


def evolve(path: Path, llm: ScriptedLLM, *, resume: bool = False) -> list[dict[str, Any]]:
    settings = EvolveSettings(
        proposer="llm", metric="recall@10", stages=True, harnesses=(), budget=Budget(iterations=2)
    )
    with RoleModels.of({"diagnose": llm}) as llms:
        run_evolution(tiny_task(), settings, path, resume=resume, models=llms)
    lines = (path / "journal.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def written(events: list[dict[str, Any]]) -> dict[str, Any]:
    return next(e for e in events if e["event"] == "stage_written")


def test_a_stage_that_passes_the_gates_is_tried_and_kept_in_the_run(tmp_path: Path) -> None:
    events = evolve(tmp_path / "run", model(GOOD))
    assert (written(events)["name"], written(events)["refused"]) == ("doors_0", "")
    proposed = [e for e in events if e["event"] == "proposed"]
    assert proposed[2]["changes"] == {"stage.doors_0": 0.5}
    assert proposed[2]["proposer"] == "stages:llm"
    assert (tmp_path / "run" / "stages" / "002" / "doors_0.py").read_text() == GOOD


def test_one_that_fails_a_gate_is_mended_once(tmp_path: Path) -> None:
    llm = model(BROKEN, GOOD)
    events = evolve(tmp_path / "run", llm)
    assert (written(events)["name"], written(events)["refused"]) == ("doors_1", "")


def test_one_that_fails_twice_is_refused_with_the_reason(tmp_path: Path) -> None:
    events = evolve(tmp_path / "run", model(BROKEN, BROKEN))
    assert "open" in written(events)["refused"]
    assert not any("stage.doors_1" in e.get("changes", {}) for e in events)


def test_a_resumed_run_takes_what_was_written_from_the_record(tmp_path: Path) -> None:
    events = evolve(tmp_path / "run", model(GOOD))
    path = tmp_path / "run" / "journal.jsonl"
    place = next(i for i, e in enumerate(events) if e["event"] == "stage_written")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[: place + 1]))
    again = evolve(tmp_path / "run", model(), resume=True)
    drop = {"time", "seconds", "seq", "usage"}
    plain = [
        [{k: v for k, v in e.items() if k not in drop} for e in some if e["event"] != "resumed"]
        for some in (events, again)
    ]
    assert plain[0] == plain[1]
