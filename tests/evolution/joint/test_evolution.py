"""A whole joint evolution, in the real sandbox: passes, journal, resume, promotion, the genome."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memgene.core import Budget, InputError
from memgene.evolution.evolve import run_evolution
from memgene.evolution.joint.plan import JointPlan
from memgene.evolution.progress import EvolveProgress
from memgene.evolution.result import EvolveResult
from memgene.evolution.settings import EvolveSettings
from memgene.genome import GenomeBundle
from memgene.reports import write_report
from memgene.tasks.task import Regime
from memgene.testing import tiny_task

PLAN = JointPlan().parsed(
    "iterations=2,rounds=2,passes=6,program.rotating_items=2,program.gate_items=2,"
    "program.seeds=vector-search+bank,coevolve.hidden=0,coevolve.samples=2"
)


def settings(**more: Any) -> EvolveSettings:
    given: dict[str, Any] = {
        "strategy": "joint",
        "metric": "token_f1",
        "joint": PLAN,
        "harnesses": ("bm25",),
        **more,
    }
    return EvolveSettings(**given)


def evolve(path: Path, *, resume: bool = False, task: Any = None, **more: Any) -> EvolveResult:
    return run_evolution(task or tiny_task(), settings(**more), path, resume=resume)


def events(path: Path) -> list[dict[str, Any]]:
    drop = {"time", "seconds", "seq", "usage"}
    lines = [json.loads(line) for line in (path / "journal.jsonl").read_text().splitlines()]
    return [
        {k: v for k, v in event.items() if k not in drop}
        for event in lines
        if event["event"] not in ("resumed", "interrupted")
    ]


def of_kind(run: EvolveResult, kind: str) -> list[dict[str, Any]]:
    return [event for event in events(run.run) if event["event"] == kind]


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> EvolveResult:
    return evolve(tmp_path_factory.mktemp("run") / "a")


def test_every_arm_that_can_takes_a_first_turn_on_the_best_genome_so_far(run: EvolveResult) -> None:
    began, done = of_kind(run, "pass_began"), of_kind(run, "pass_finished")
    assert [e["arm"] for e in began][:3] == ["structure", "parameters", "router"]
    assert began[0]["parent"] == "start"
    assert [e["parent"] for e in began[1:]] == [e["best"] for e in done[:-1]]
    skipped = {e["arm"]: e["why"] for e in of_kind(run, "arm_skipped")}
    assert skipped["values"] == "values of one group's memories mean nothing in another's"


def test_questions_of_passes_are_those_that_the_run_counted(run: EvolveResult) -> None:
    evaluated = of_kind(run, "evaluated")
    start = next(e["questions"] for e in evaluated if e["candidate"] == "start")
    fresh = sum(e["questions"] for e in evaluated if e["split"] == "fresh")
    passes = sum(e["questions"] for e in of_kind(run, "pass_finished"))
    assert run.evaluations == start + passes + fresh


def test_candidates_lie_in_the_folders_of_their_passes(run: EvolveResult) -> None:
    for told in of_kind(run, "pass_finished"):
        part, _, name = told["candidate"].rpartition("/")
        if part.startswith(f"{told['number']:02d}"):
            assert (run.run / "passes" / part / "candidates" / name).is_dir()


def test_the_genome_is_a_bundle_that_says_where_it_came_from(run: EvolveResult) -> None:
    bundle = GenomeBundle.load(run.best)
    assert bundle.strategy == "joint"
    assert bundle.config == run.config
    assert bundle.program == run.program
    assert bundle.provenance["candidate"] == run.promoted
    assert {"val/token_f1", "test/token_f1"} <= set(bundle.scores)


@pytest.mark.parametrize("questions", [60, 75, 90, 105, 120])
def test_a_budget_holds_the_passes_and_the_last_choice(tmp_path: Path, questions: int) -> None:
    found = evolve(tmp_path / "b", budget=Budget(questions=questions))
    assert 40 < found.evaluations <= questions
    assert found.stopped in ("budget", "converged", "rounds")


def test_a_budget_that_covers_nothing_is_refused_before_there_is_a_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not cover the last choice"):
        evolve(tmp_path / "c", budget=Budget(questions=1))
    assert not (tmp_path / "c").exists()


def test_passes_are_limited_by_iterations(tmp_path: Path) -> None:
    found = evolve(tmp_path / "b", budget=Budget(iterations=1))
    assert (found.rounds, found.stopped) == (1, "rounds")


@pytest.mark.parametrize("share", [0.1, 0.35, 0.6, 0.9])
def test_a_run_that_is_cut_off_ends_the_same(
    run: EvolveResult, tmp_path: Path, share: float
) -> None:
    """As after kill -9: the journal ends somewhere, later files may or may not be there."""
    whole = evolve(tmp_path / "b")
    assert events(whole.run) == events(run.run)
    path = whole.run / "journal.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: int(share * len(lines))]))
    again = evolve(tmp_path / "b", resume=True)
    assert events(again.run) == events(run.run)
    assert files(again.best) == files(run.best)


@pytest.mark.parametrize("share", [0.3, 0.7, 1.0])
def test_so_does_the_simultaneous_schedule(tmp_path: Path, share: float) -> None:
    plan = PLAN.parsed("schedule=simultaneous")
    first = evolve(tmp_path / "a", joint=plan)
    assert {e["arm"] for e in of_kind(first, "pass_began")} == {"all"}
    assert "simultaneous" in write_report(first.run).read_text(encoding="utf-8")
    again = evolve(tmp_path / "b", joint=plan)
    lines = (again.run / "journal.jsonl").read_text().splitlines(keepends=True)
    (again.run / "journal.jsonl").write_text("".join(lines[: int(share * len(lines))]))
    again = evolve(tmp_path / "b", joint=plan, resume=True)
    assert events(again.run) == events(first.run)
    assert files(again.best) == files(first.best)


def test_values_are_learned_where_memory_is_shared(tmp_path: Path) -> None:
    task = tiny_task(regime=Regime.SHARED)
    found = evolve(tmp_path / "a", task=task, joint=PLAN.parsed("arms=values"))
    told = of_kind(found, "phase_finished")
    assert told
    assert {e["phase"] for e in told} == {"memory"}


def test_router_and_values_learn_from_as_many_questions_as_the_plan_says(tmp_path: Path) -> None:
    found = evolve(tmp_path / "a", joint=PLAN.parsed("arms=router,learning_items=3"))
    assert {e["questions"] for e in of_kind(found, "phase_finished")} == {3}


def test_a_ranking_metric_leaves_structure_out(tmp_path: Path) -> None:
    found = evolve(tmp_path / "a", metric="hit@1")
    skipped = {e["arm"]: e["why"] for e in of_kind(found, "arm_skipped")}
    assert skipped["structure"] == "programs give text and no ranking for hit@1"
    with pytest.raises(InputError, match="so hit@1 never applies"):
        evolve(tmp_path / "b", metric="hit@1", joint=PLAN.parsed("arms=structure"))


def test_folds_are_pooled_and_the_genome_is_learned_on_everything(tmp_path: Path) -> None:
    found = evolve(tmp_path / "a", folds=2, joint=PLAN.parsed("passes=2"))
    assert len(found.folds) == 2
    assert GenomeBundle.load(found.best).strategy == "joint"
    assert [e["row"] for e in of_kind(found, "retrained")] == ["best"]


def test_its_report_can_be_written(run: EvolveResult) -> None:
    page = write_report(run.run).read_text(encoding="utf-8")
    assert "structure" in page
    assert "parameters" in page


def test_a_watcher_is_told_of_every_pass(tmp_path: Path) -> None:
    told: list[EvolveProgress] = []
    run_evolution(tiny_task(), settings(), tmp_path / "a", progress=told.append)
    assert {p.stage for p in told} == {"start", "search", "final"}
    assert max(p.round for p in told) >= 3
