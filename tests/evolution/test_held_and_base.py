"""Every strategy can start from an earlier genome, and hold levers at a value."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.core import Budget, InputError
from memgene.evaluation.case import Case
from memgene.evolution.basis import holding
from memgene.evolution.changes import apply, possible
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.diagnosis import diagnose
from memgene.evolution.evolve import run_evolution
from memgene.evolution.joint.plan import JointPlan
from memgene.evolution.means import Held
from memgene.evolution.programs.plan import ProgramPlan
from memgene.evolution.proposers import RandomProposer
from memgene.evolution.result import EvolveResult
from memgene.evolution.settings import EvolveSettings
from memgene.genome import GenomeBundle, read_config
from memgene.programs.seeds import seed
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.levers import Need
from memgene.tasks.task import Task
from memgene.testing import tiny_task

TASK = tiny_task()
NEEDS = frozenset({Need.EMBEDDINGS, Need.WORD_VECTORS, Need.TRAINING})
HELD = {"dense_k": 0, "context_k": 3}
CASE = Case(
    question_id="q", group="g", category="fact", question="Who?", gold=("Ann",), evidence=(),
    query={}, context="text", shown=0, hits=None, answer="Bob", abstained=False, rule=None,
    scores={"token_f1": 0.0},
)  # fmt: skip
PLANS: dict[str, dict[str, Any]] = {
    "config": {"budget": Budget(iterations=3)},
    "program": {
        "program": ProgramPlan(iterations=1, static_items=4, rotating_items=2, seeds=("bank",))
    },
    "coevolve": {"coevolve": CoevolvePlan(cycles=1, fit=False)},
    "joint": {
        "joint": JointPlan().parsed(
            "passes=2,rounds=2,iterations=1,program.rotating_items=2,program.seeds=bank"
        )
    },
}


def evolve(path: Path, strategy: str, task: Task = TASK, **more: Any) -> EvolveResult:
    settings = EvolveSettings(
        strategy=strategy, metric="token_f1", harnesses=(), **{**PLANS[strategy], **more}
    )
    return run_evolution(task, settings, path)


def saved(path: Path, *, program: bool = False, **levers: Any) -> str:
    """A genome evolved on another task."""
    GenomeBundle(
        RetrievalConfig().changed(**levers),
        embedder="static",
        strategy="config",
        fingerprints={"elsewhere": "other data"},
        program=seed("bank").source if program else None,
    ).save(path)
    return str(path)


@pytest.mark.parametrize("strategy", list(PLANS))
def test_a_run_starts_from_its_base_and_names_it(strategy: str, tmp_path: Path) -> None:
    base = saved(tmp_path / "base", context_k=7, window=2)
    found = evolve(tmp_path / "run", strategy, base=base)
    kept = found.run / "candidates" / ("start" if strategy == "joint" else "000")
    program = strategy == "program"
    start = found.config if program else read_config(kept / "retrieval.toml")
    assert (start.context_k, start.window) == (7, 2)
    if found.promoted in ("000", "start"):
        bundle = GenomeBundle.load(found.best)
        assert bundle.parents == (GenomeBundle.load(Path(base)).id,)


@pytest.mark.parametrize("strategy", list(PLANS))
def test_held_levers_stay_in_every_configuration(strategy: str, tmp_path: Path) -> None:
    found = evolve(tmp_path / "run", strategy, held=HELD)
    kept = [p.read_text() for p in found.run.rglob("candidates/*/retrieval.toml")]
    assert strategy == "program" or kept
    configs = [*(RetrievalConfig.from_toml(text) for text in kept if "router" not in text)]
    for config in (*configs, found.config):
        assert (config.dense_k, config.context_k) == (0, 3)


@pytest.mark.parametrize("strategy", ["config", "coevolve"])
def test_a_base_with_a_program_is_for_those_that_run_programs(
    strategy: str, tmp_path: Path
) -> None:
    base = saved(tmp_path / "base", program=True)
    with pytest.raises(InputError, match="holds an evolved program"):
        evolve(tmp_path / "run", strategy, base=base)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("strategy", ["program", "joint"])
def test_the_programs_of_a_base_are_searched_from(strategy: str, tmp_path: Path) -> None:
    base = saved(tmp_path / "base", program=True)
    found = evolve(tmp_path / "run", strategy, base=base)
    first = next(e["title"] for e in events(found.run) if e["event"] == "drafted")
    assert first in ("base", "the genome's")


def test_a_base_that_saw_what_is_tested_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "base"
    GenomeBundle(
        RetrievalConfig(), "static", "config", fingerprints={TASK.name: TASK.fingerprint}
    ).save(path)
    with pytest.raises(InputError, match="may have seen the questions tested here"):
        evolve(tmp_path / "run", "config", base=str(path))
    foreign = replace(TASK, name="elsewhere", fingerprint="other")
    assert evolve(tmp_path / "run", "config", task=foreign, base=str(path)).rounds


@pytest.mark.parametrize("strategy", list(PLANS))
def test_what_a_base_has_seen_is_not_forgotten(strategy: str, tmp_path: Path) -> None:
    found = evolve(tmp_path / "run", strategy, base=saved(tmp_path / "base"))
    bundle = GenomeBundle.load(found.best)
    assert bundle.fingerprints == {TASK.name: TASK.fingerprint, "elsewhere": "other data"}
    assert bundle.provenance["inherited"] == "elsewhere"
    first = replace(TASK, name="elsewhere", fingerprint="other data")
    base = replace(bundle, program=None).save(tmp_path / "later")
    with pytest.raises(InputError, match="came from a genome that evolved on elsewhere"):
        evolve(tmp_path / "again", strategy, task=first, base=str(base))


def test_neither_do_folds_forget_it(tmp_path: Path) -> None:
    found = evolve(tmp_path / "run", "config", base=saved(tmp_path / "base"), folds=2)
    assert GenomeBundle.load(found.best).provenance["inherited"] == "elsewhere"


def test_a_base_in_the_plan_is_a_base_too(tmp_path: Path) -> None:
    plan = CoevolvePlan(cycles=1, fit=False, base=saved(tmp_path / "base"))
    found = evolve(tmp_path / "run", "coevolve", coevolve=plan)
    assert GenomeBundle.load(found.best).provenance["inherited"] == "elsewhere"


def test_without_a_base_nothing_is_inherited(tmp_path: Path) -> None:
    bundle = GenomeBundle.load(evolve(tmp_path / "run", "config").best)
    assert bundle.fingerprints == {TASK.name: TASK.fingerprint}
    assert "inherited" not in bundle.provenance


def test_holding_a_lever_undoes_overrides_of_it() -> None:
    config = RetrievalConfig().changed(per_type={"list": {"context_k": 5, "window": 1}})
    held = holding(config, {"context_k": 3})
    assert held.context_k == 3
    assert held.per_type == {"list": {"window": 1}}


def test_a_held_weight_holds_the_view_that_would_set_it() -> None:
    assert possible("dense_k", NEEDS)
    assert not possible("dense_k", NEEDS | {Held("weight_dense")})
    assert not possible("window_k", NEEDS | {Held("window")})
    assert possible("lexical_k", NEEDS | {Held("weight_dense")})


@given(
    st.integers(0, 10_000),
    st.sampled_from(["dense_k", "fusion", "context_k", "window"]),
    st.sampled_from(["weighted_sum", "dense_only", "lexical_only"]),
)
def test_no_random_proposal_touches_a_held_lever(drawn: int, lever: str, fusion: str) -> None:
    config = RetrievalConfig().changed(fusion=fusion, soft_k=0, weight_soft=0.0)
    proposer = RandomProposer(NEEDS | {Held(lever)}, "token_f1", 2)
    made = proposer.propose(diagnose([CASE], "token_f1"), config, (), random.Random(drawn))
    if made is not None:
        before, after = config, apply(config, made.changes)
        assert getattr(after, lever) == getattr(before, lever)


def events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (path / "journal.jsonl").read_text().splitlines()]
