"""A whole evolution of programs, in the real sandbox, with a scripted reflector."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memgene.core import Budget, InputError, RunError
from memgene.evaluation.records import read_cases
from memgene.evolution.evolve import run_evolution
from memgene.evolution.programs.plan import ProgramPlan
from memgene.evolution.result import EvolveResult
from memgene.evolution.rundir import read_run
from memgene.evolution.settings import EvolveSettings
from memgene.genome import GenomeBundle
from memgene.llm.protocol import Finish, Reply, Request
from memgene.llm.roles import RoleModels
from memgene.programs.seeds import seed
from memgene.reports.load import load_view
from memgene.sandbox import Level, Probe, SandboxUnavailableError
from memgene.settings import SandboxSettings
from memgene.testing import tiny_task
from memgene.testing.llm import ScriptedLLM
from memgene.testing.reflection import Broken, Edit, scripted_patches

PLAN = ProgramPlan(
    iterations=5,
    static_items=4,
    rotating_items=2,
    gate_items=2,
    finalists=2,
    repairs=2,
    seeds=("vector-search", "empty"),
)
SOURCE = seed("vector-search").source
SCRIPT = (Edit.LOGIC, Edit.RESPONSE, Edit.LOGIC, Edit.ITEM, Edit.LOGIC)
BROKEN = {2: Broken.PATCH, 3: Broken.IMPORT, 4: Broken.TRUNCATED, 5: Broken.RAISES}


def models() -> RoleModels:
    return RoleModels.of({"reflector": ScriptedLLM(scripted_patches(script=SCRIPT, broken=BROKEN))})


def settings(**more: Any) -> EvolveSettings:
    given: dict[str, Any] = {
        "strategy": "program",
        "proposer": "llm",
        "program": PLAN,
        "harnesses": ("no-memory",),
        **more,
    }
    return EvolveSettings(**given)


def evolve(path: Path, *, resume: bool = False, **more: Any) -> EvolveResult:
    with models() as llms:
        return run_evolution(tiny_task(), settings(**more), path, resume=resume, models=llms)


def told(path: Path) -> list[dict[str, Any]]:
    """The journal without clocks, and without what a second process adds."""
    events = [json.loads(line) for line in (path / "journal.jsonl").read_text().splitlines()]
    drop = {"time", "seconds", "seq", "usage"}
    return [
        {k: v for k, v in event.items() if k not in drop}
        for event in events
        if event["event"] not in ("resumed", "interrupted")
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> EvolveResult:
    return evolve(tmp_path_factory.mktemp("whole") / "run")


def test_it_yields_a_program_with_held_out_scores_beside_every_seed(whole: EvolveResult) -> None:
    assert whole.rounds == 5
    assert whole.metric == "token_f1"
    rows = {row.name for row in whole.test.rows}
    assert {"evolved", "start", "no-memory", "seed:vector-search", "seed:empty"} <= rows
    assert "evidence_in_text" in whole.test.evolved.metrics
    assert "seed:vector-search" in whole.test.paired
    bundle = GenomeBundle.load(whole.best)
    assert bundle.program == whole.program
    assert bundle.strategy == "program"
    assert {"val/token_f1", "test/token_f1"} <= set(bundle.scores)
    kept = whole.run / "candidates"
    promoted = next(e for e in told(whole.run) if e["event"] == "promoted")["candidate"]
    parent = next(e for e in told(whole.run) if e.get("candidate") == promoted)["parent"]
    source = (kept / parent / "program.py").read_text() if parent else None
    ids = () if source is None else (replace(bundle, program=source).id,)
    assert bundle.parents == ids


def test_broken_replies_are_asked_for_again_and_broken_programs_are_mended(
    whole: EvolveResult,
) -> None:
    events = told(whole.run)
    drafted = {e["candidate"]: e for e in events if e["event"] == "drafted"}
    assert drafted["003"]["attempts"] == 2  # its first patch stood nowhere
    assert drafted["004"]["attempts"] == 2  # it imported what it may not
    assert drafted["005"]["attempts"] == 2  # it was cut off
    assert drafted["006"]["attempts"] == 2  # its reads raised
    assert not any(e["refused"] for e in drafted.values())
    assert "os" in (whole.run / "candidates" / "004" / "reflection.md").read_text()


def test_equal_seeds_give_equal_journals_and_equal_genomes(
    whole: EvolveResult, tmp_path: Path
) -> None:
    again = evolve(tmp_path / "run")
    assert told(again.run) == told(whole.run)
    for name in ("genome.toml", "program.py", "retrieval.toml"):
        assert (again.best / name).read_bytes() == (whole.best / name).read_bytes()


def test_a_finished_run_is_read_and_asks_nobody(whole: EvolveResult) -> None:
    with RoleModels.of({"reflector": ScriptedLLM([])}) as llms:
        again = run_evolution(tiny_task(), settings(), whole.run, resume=True, models=llms)
    assert again.program == whole.program
    assert again.test.to_json() == whole.test.to_json()


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_result(whole: EvolveResult, tmp_path: Path) -> None:
    path = tmp_path / "run"
    for wanted in (4, 12, 24):
        process = subprocess.Popen([sys.executable, __file__, str(path)], env=dict(os.environ))
        until = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < until and _lines(path) < wanted:
            time.sleep(0.005)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()
    result = evolve(path, resume=True)
    assert told(path) == told(whole.run)
    assert (result.best / "program.py").read_bytes() == (whole.best / "program.py").read_bytes()


def _lines(path: Path) -> int:
    journal = path / "journal.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


@pytest.mark.parametrize("proposer", ["rule", "random"])
def test_without_a_model_programs_are_composed_of_modules(proposer: str, tmp_path: Path) -> None:
    plan = PLAN.changed(iterations=3, seeds=("hybrid",))
    task = tiny_task()
    result = run_evolution(task, settings(proposer=proposer, program=plan), tmp_path / "run")
    drafted = [e for e in told(result.run) if e["event"] == "drafted"]
    assert {e["proposer"] for e in drafted} == {"seed", f"modules:{proposer}"}
    normal = [e["normal"] for e in drafted]
    assert len(set(normal)) == len(normal)


def test_folds_are_pooled_and_keep_one_program(tmp_path: Path) -> None:
    plan = PLAN.changed(iterations=1, seeds=("hybrid",))
    result = run_evolution(
        tiny_task(), settings(proposer="rule", program=plan, folds=2), tmp_path / "run"
    )
    assert len(result.folds) == 2
    assert result.program in {fold.program for fold in result.folds}
    assert GenomeBundle.load(result.best).program == result.program


def test_below_full_isolation_it_runs_where_that_was_asked_for_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = {"rlimits": "yes", "landlock": "no: test", "seccomp": "no: test"}
    for module in ("memgene.sandbox.sandbox", "memgene.evolution.workbench"):
        monkeypatch.setattr(f"{module}.probe", lambda: Probe(Level.RLIMITS, parts))
    path = tmp_path / "run"
    asked = {"proposer": "rule", "program": PLAN.changed(iterations=1, seeds=("empty",))}
    with pytest.raises(SandboxUnavailableError, match="'full' is required"):
        run_evolution(tiny_task(), settings(**asked), path)
    assert not path.exists()
    lower = settings(**asked, sandbox=SandboxSettings(level="rlimits"))
    result = run_evolution(tiny_task(), lower, path)
    assert result.to_json()["sandbox"] == {"level": "rlimits", "chroma": "numpy"}
    assert GenomeBundle.load(result.best).provenance["isolation"] == "rlimits"
    recorded = read_run(path)
    assert recorded["isolation"] == "rlimits"
    assert recorded["settings"]["sandbox"] == {"level": "rlimits", "chroma": "numpy"}
    assert load_view(path).caution == (
        "Programs ran at sandbox level rlimits: they could reach files and the network."
    )
    monkeypatch.undo()
    with pytest.raises(RunError, match="started with other settings: sandbox was"):
        run_evolution(tiny_task(), settings(**asked), path, resume=True)


def test_full_isolation_is_recorded_and_needs_no_words(whole: EvolveResult) -> None:
    assert read_run(whole.run)["isolation"] == "full"
    assert whole.sandbox == SandboxSettings()
    assert load_view(whole.run).caution == ""
    assert "isolation" not in GenomeBundle.load(whole.best).provenance


def obedient(request: Request) -> Reply:
    """An agent's model that does what it is told; an essay is cut off at the limit of tokens."""
    said = request.messages[-1].content
    if "Fill in the" in said:
        fields = re.findall(r'- "(\w+)": (\w+)', said)
        return Reply(json.dumps({name: [] if kind == "list" else "it" for name, kind in fields}))
    told = "\n".join(message.content for message in request.messages)
    essay = "Write an essay." in told
    return Reply("On the one hand", Finish.LENGTH) if essay else Reply("unknown")


def test_a_program_that_asks_for_what_no_agent_can_give_costs_no_run(tmp_path: Path) -> None:
    line = 'INSTRUCTION_RESPONSE = "Write an essay."'
    essay = re.sub(r"^INSTRUCTION_RESPONSE = .*?(?=^\w)", f"{line}\n", SOURCE, flags=re.M | re.S)
    assert line in essay
    given = {
        "reflector": ScriptedLLM([f"Essays\n\n```python\n{essay}\n```"]),
        "task": ScriptedLLM(obedient, concurrency=4),
    }
    plan = PLAN.changed(iterations=1, gate_items=0, seeds=("vector-search",))
    with RoleModels.of(given) as llms:
        result = run_evolution(
            tiny_task(), settings(agent="llm", program=plan), tmp_path / "run", models=llms
        )
    joined = {e["candidate"]: e for e in told_events(result.run, "joined")}
    assert (joined["001"]["score"], joined["001"]["failures"]) == (0.0, 4)
    assert joined["000"]["failures"] == 0
    cases = read_cases(result.run / "candidates" / "001" / "cases.jsonl")
    assert all((case.failure or "").startswith("respond: ReplyError:") for case in cases[:4])


def told_events(path: Path, kind: str) -> list[dict[str, Any]]:
    return [event for event in told(path) if event["event"] == kind]


def test_a_metric_on_rankings_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="programs give text and no ranking, so recall@10"):
        settings(metric="recall@10")


def test_a_budget_for_nothing_leaves_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with pytest.raises(InputError, match="does not cover the seeds and one child"):
        evolve(path, budget=Budget(questions=5))
    assert not path.exists()


if __name__ == "__main__":
    where = Path(sys.argv[1])
    evolve(where, resume=where.exists())
