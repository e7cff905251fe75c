"""The report of a co-evolution that really ran, on the tiny task."""

from __future__ import annotations

from pathlib import Path

import pytest

from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.evolve import run_evolution
from memgene.evolution.settings import EvolveSettings
from memgene.reports import write_report
from memgene.reports.comparing import compare_candidates
from memgene.reports.lineage import read_lineage
from memgene.reports.load import load_view
from memgene.testing import tiny_task

PLAN = CoevolvePlan.paper().parsed("cycles=1,hidden=0,bound=1.5,rate=0.3,baseline=group,samples=2")


@pytest.fixture(scope="module")
def evolved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real") / "run"
    settings = EvolveSettings(
        strategy="coevolve", metric="recall@5", coevolve=PLAN, harnesses=("bm25",)
    )
    run_evolution(tiny_task(), settings, folder)
    return folder


def test_its_page_tells_what_was_learned(evolved: Path) -> None:
    text = write_report(evolved).read_text(encoding="utf-8")
    for title in (
        "How rewards moved in training",
        "How questions are routed",
        "What the memory learned",
        "What training cost",
    ):
        assert f"<h2>{title}</h2>" in text
    assert 'class="band router"' in text
    assert "Distilled memories worth most" in text


def test_its_view_agrees_with_the_files(evolved: Path) -> None:
    (one,) = load_view(evolved).trajectories
    assert one.learning is not None
    router, memory = one.learning.phases
    assert (router.phase, memory.phase) == ("router", "memory")
    assert one.learning.held is not None
    assert one.learning.held.distilled == memory.distilled == memory.questions
    assert len(one.learning.held.values) == memory.values["count"]
    overall = one.learning.weights[-1]
    assert set(overall.before) == {"dense", "sparse"}
    assert sum(overall.after.values()) == pytest.approx(1)


def test_its_states_can_be_looked_into(evolved: Path) -> None:
    assert [node.id for node in read_lineage(evolved).nodes] == ["000", "001", "002"]
    router = compare_candidates(evolved, "000", "001")
    assert [change.lever for change in router.levers] == ["router"]
    assert router.learning is not None
    assert router.learning.values is not None
    assert not router.learning.values.changed
    memory = compare_candidates(evolved, "001", "002")
    assert memory.levers == ()
    assert memory.learning is not None
    assert memory.learning.values is not None
    assert memory.learning.values.changed
