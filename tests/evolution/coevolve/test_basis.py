"""What a co-evolution may start from, and what is refused before there is a run folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memgene.core import InputError, MemgeneError
from memgene.evolution.basis import start_config
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.evolve import run_evolution
from memgene.evolution.progress import Place
from memgene.evolution.settings import EvolveSettings
from memgene.genome import GenomeBundle
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.observing import features_of
from memgene.retrieval.router.router import Router
from memgene.tasks.part import subset
from memgene.tasks.task import Task
from memgene.testing import tiny_task

TASK = tiny_task()
DIVISION = ("seed 0", 0)


def saved(path: Path, task: Task = TASK, config: RetrievalConfig | None = None) -> CoevolvePlan:
    """A plan that starts from a genome evolved on a task by DIVISION."""
    GenomeBundle(
        config or RetrievalConfig(),
        embedder="static",
        strategy="config",
        fingerprints={task.name: task.fingerprint},
        provenance={"division": DIVISION[0], "seed": DIVISION[1]},
    ).save(path)
    return CoevolvePlan(base=str(path))


def started(plan: CoevolvePlan, division: tuple[str, int] | None = DIVISION) -> RetrievalConfig:
    return start_config(plan, TASK, "static", division, Place())


def test_a_base_of_the_same_division_is_what_both_learners_start_from(tmp_path: Path) -> None:
    plan = saved(tmp_path / "base", config=RetrievalConfig().changed(context_k=7))
    assert started(plan).context_k == 7
    assert started(plan.parsed("context_k=9")).context_k == 9


@pytest.mark.parametrize("division", [("seed 1", 1), ("fold 1 of 3", 0), ("seed 0", 1)])
def test_a_base_of_another_division_may_have_seen_the_test(
    tmp_path: Path, division: tuple[str, int]
) -> None:
    plan = saved(tmp_path / "base")
    with pytest.raises(InputError, match="may have seen the questions tested here"):
        started(plan, division)
    assert started(plan, None) == RetrievalConfig()  # nothing is tested


def test_a_base_of_a_part_of_the_task_was_divided_otherwise(tmp_path: Path) -> None:
    """The same seed divides fewer groups in another way."""
    part = subset(TASK, groups=TASK.groups[:4])
    assert part.name == TASK.name
    plan = saved(tmp_path / "base", part)
    with pytest.raises(InputError, match="evolved on other data of tiny"):
        started(plan)


def test_the_router_of_a_base_stays_behind(tmp_path: Path) -> None:
    """It was trained on dev and val of this division, and val judges what is trained here."""
    routes = ("lexical", "dense")
    router = Router.fresh(routes, features_of(routes))
    biased = Router(
        routes,
        router.features,
        0,
        0,
        1.5,
        1.0,
        {**router.arrays, "head_bias": np.array([1.0, -1.0])},
    )
    plan = saved(tmp_path / "base", config=RetrievalConfig().changed(router=biased))
    assert started(plan).router is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("base=/nowhere/at/all", "no genome bundle"),
        ("exploration=beta", "beta is for the two routes of q_rrf"),
        ("fusion=rrf", "fit=true serves the learned fusion, not rrf"),
        ("fit=false,fusion=rrf", "fusion rrf has no routes to weigh"),
        ("self_routing=llm", "self_routing needs a language model"),
    ],
)
def test_what_cannot_work_is_refused_before_there_is_a_folder(
    tmp_path: Path, text: str, said: str
) -> None:
    settings = EvolveSettings(
        strategy="coevolve", metric="hit@1", coevolve=CoevolvePlan().parsed(text)
    )
    with pytest.raises(MemgeneError, match=said):
        run_evolution(TASK, settings, tmp_path / "run")
    assert not (tmp_path / "run").exists()
