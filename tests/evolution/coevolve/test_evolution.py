"""A whole co-evolution: journal, resume, promotion, the genome and its fair rows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memgene.core import Budget, InputError, RunError
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.evolve import run_evolution
from memgene.evolution.result import EvolveResult
from memgene.evolution.settings import EvolveSettings
from memgene.genome import GenomeBundle
from memgene.reports import write_report
from memgene.tasks.task import Regime
from memgene.testing import tiny_task

PLAN = CoevolvePlan.paper().parsed("cycles=1,hidden=0,bound=1.5,rate=0.3,baseline=group,samples=4")


def settings(**more: Any) -> EvolveSettings:
    given: dict[str, Any] = {
        "strategy": "coevolve",
        "metric": "hit@1",
        "coevolve": PLAN,
        "harnesses": ("bm25",),
        "seed": 1,  # of a run whose router is promoted
        **more,
    }
    return EvolveSettings(**given)


def evolve(path: Path, *, resume: bool = False, **more: Any) -> EvolveResult:
    return run_evolution(tiny_task(), settings(**more), path, resume=resume)


def events(path: Path) -> list[dict[str, Any]]:
    drop = {"time", "seconds", "seq", "usage"}
    lines = [json.loads(line) for line in (path / "journal.jsonl").read_text().splitlines()]
    return [
        {k: v for k, v in event.items() if k not in drop}
        for event in lines
        if event["event"] not in ("resumed", "interrupted")
    ]


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> EvolveResult:
    return evolve(tmp_path_factory.mktemp("run") / "a")


def test_every_phase_is_in_the_journal(run: EvolveResult) -> None:
    found = [e for e in events(run.run) if e["event"] == "phase_finished"]
    assert [e["phase"] for e in found] == ["router", "memory"]
    assert [e["candidate"] for e in found] == ["001", "002"]
    assert found[0]["distilled"] == 0
    assert found[1]["distilled"] == found[1]["questions"]
    assert found[0]["memory"] != found[1]["memory"]
    assert found[0]["router"] == found[1]["router"]


def test_the_report_has_the_start_and_the_best_fixed_weight(run: EvolveResult) -> None:
    names = [row.name for row in run.test.rows]
    assert names == ["evolved", "start", "bm25", "fixed-weight", "learned-once"]


def test_equal_seeds_give_equal_runs(run: EvolveResult, tmp_path: Path) -> None:
    again = evolve(tmp_path / "b")
    assert events(again.run) == events(run.run)
    assert files(again.best) == files(run.best)


@pytest.mark.parametrize("kept", [2, 4, 6, 9, 12])
def test_a_run_that_is_cut_off_ends_the_same(run: EvolveResult, tmp_path: Path, kept: int) -> None:
    """As after kill -9: the journal ends somewhere, later files may or may not be there."""
    whole = evolve(tmp_path / "c")
    path = whole.run / "journal.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:kept]))
    again = evolve(tmp_path / "c", resume=True)
    assert events(again.run) == events(run.run)
    assert files(again.best) == files(run.best)


def test_a_state_that_was_changed_is_refused(tmp_path: Path) -> None:
    whole = evolve(tmp_path / "d")
    journal = whole.run / "journal.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:5]))
    memory = whole.run / "candidates" / "001" / "memory.jsonl"
    other = whole.run / "candidates" / "002" / "memory.jsonl"
    memory.write_bytes(other.read_bytes())
    with pytest.raises(RunError, match="does not hold what the journal recorded"):
        evolve(tmp_path / "d", resume=True)


def test_the_genome_carries_router_and_learned_memory(run: EvolveResult) -> None:
    assert run.promoted == "001"
    bundle = GenomeBundle.load(run.best)
    assert bundle.strategy == "coevolve"
    assert bundle.config == run.config
    assert len(bundle.parents) == 1
    assert bundle.config.router is not None
    assert (run.best / "router.npz").read_bytes() == bundle.config.router.to_bytes()


def test_the_budget_ends_a_search_between_phases(tmp_path: Path) -> None:
    short = evolve(tmp_path / "e", budget=Budget(iterations=1))
    assert short.rounds == 1
    with pytest.raises(InputError, match="does not cover the start and one phase"):
        evolve(tmp_path / "f", budget=Budget(questions=10))


def test_a_base_of_another_division_is_refused(run: EvolveResult, tmp_path: Path) -> None:
    plan = PLAN.parsed(f"base={run.run}")
    with pytest.raises(InputError, match="may have seen the questions tested here"):
        evolve(tmp_path / "g", coevolve=plan, seed=2)
    done = evolve(tmp_path / "h", coevolve=plan)
    assert done.run.exists()


def test_values_are_tested_inside_the_groups_where_that_is_asked(tmp_path: Path) -> None:
    plan = CoevolvePlan(router=False, cycles=2, fit=False)
    done = evolve(tmp_path / "i", coevolve=plan, division="chronological")
    started = events(done.run)[0]
    assert started["division"] == "chronological inside each group"
    assert write_report(done.run).exists()  # val and test of one group are told apart
    assert len(done.test.evolved.cases) > 0


def test_a_shared_memory_learns_too(tmp_path: Path) -> None:
    plan = CoevolvePlan(cycles=1, fit=False)
    done = run_evolution(tiny_task(Regime.SHARED), settings(coevolve=plan), tmp_path / "j")
    assert done.rounds == 2


def test_folds_pool_and_the_best_is_trained_on_everything(tmp_path: Path) -> None:
    done = evolve(tmp_path / "k", folds=3, coevolve=CoevolvePlan(cycles=1, memory="frozen"))
    assert len(done.folds) == 3
    assert GenomeBundle.load(done.best).provenance["division"].startswith("3 folds")


def test_a_base_that_changed_since_is_noticed(run: EvolveResult, tmp_path: Path) -> None:
    """A run goes on from what it began with, not from what lies at that path now."""
    plan = PLAN.parsed(f"base={tmp_path / 'base'}")
    bundle = GenomeBundle.load(run.best)
    bundle.save(tmp_path / "base")
    done = evolve(tmp_path / "l", coevolve=plan)
    journal = done.run / "journal.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:4]))
    replace(bundle, config=bundle.config.changed(context_k=3)).save(tmp_path / "base")
    with pytest.raises(RunError, match="its base now holds"):
        evolve(tmp_path / "l", resume=True, coevolve=plan)


@pytest.mark.parametrize("plan", [CoevolvePlan.paper(), CoevolvePlan(fit=False, distil=True)])
def test_a_memory_that_starts_empty_is_filled_by_its_own_attempts(
    tmp_path: Path, plan: CoevolvePlan
) -> None:
    task = replace(tiny_task(Regime.SHARED), episodes=())
    asked = settings(coevolve=plan.parsed("cycles=1"), metric="token_f1")
    done = run_evolution(task, asked, tmp_path / "m")
    found = [e for e in events(done.run) if e["event"] == "phase_finished"]
    assert [e["phase"] for e in found] == ["memory", "router", "memory"]
    assert found[0]["distilled"] == found[0]["questions"]
