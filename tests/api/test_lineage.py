"""`lineage` and `diff` of a run that an evolution wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memgene.api.evolving import EvolutionRun, evolve
from memgene.api.lineages import diff, lineage
from memgene.core import Budget, InputError, RunError
from memgene.evaluation.records import read_cases
from memgene.reports.load import load_view
from memgene.tasks.demo import demo_task
from memgene.tasks.part import subset

METRIC = "token_f1"


@pytest.fixture(scope="module")
def evolved(tmp_path_factory: pytest.TempPathFactory) -> EvolutionRun:
    """A program search over four questions of each of five conversations."""
    whole = demo_task()
    asked = {g: [q.id for q in whole.questions if q.group == g][:4] for g in whole.groups}
    kept = [name for group in list(whole.groups)[:5] for name in asked[group]]
    return evolve(
        subset(whole, question_ids=kept),
        strategy="program",
        metric=METRIC,
        harness=(),
        embedder="hashing",
        budget=Budget(iterations=2),
        plan="static_items=3,rotating_items=2,gate_items=0,seeds=vector-search+experience-learner",
        run_dir=tmp_path_factory.mktemp("lineage") / "programs",
    )


@pytest.fixture(scope="module")
def programs(evolved: EvolutionRun) -> Path:
    return evolved.result.run


def test_the_lineage_of_a_program_run_is_what_its_folder_holds(programs: Path) -> None:
    found = lineage(programs)
    assert (found.strategy, found.metric, found.finished) == ("program", METRIC, True)
    seeds = [node.title for node in found.nodes if node.parent is None]
    assert seeds == ["vector-search", "experience-learner"]
    assert len([node for node in found.nodes if node.parent is not None]) == 2
    assert found.best == found.promoted
    for node in found.nodes:
        cases = read_cases(programs / "candidates" / node.id / "cases.jsonl")
        assert node.score == pytest.approx(sum(c.scores[METRIC] for c in cases[:3]) / 3)


def test_a_difference_is_over_the_questions_of_both(programs: Path) -> None:
    child = lineage(programs).nodes[2]
    assert child.parent is not None
    found = diff(programs, child.parent, child.id)
    assert found.patch == (programs / "candidates" / child.id / "patch.diff").read_text("utf-8")
    static = found.splits[0]
    assert (static.split, static.n) == ("static", 3)
    assert static.gains + static.losses + static.equal == 3
    assert child.delta == pytest.approx(static.delta)
    assert sum(q.delta for q in found.questions if q.split == "static") == pytest.approx(
        3 * static.delta
    )


def test_results_dump_to_json(programs: Path) -> None:
    for found in (lineage(programs), diff(programs, "vector-search", "best")):
        assert json.loads(json.dumps(found.model_dump())) == found.model_dump()


def test_the_report_of_the_run_holds_the_promoted_program(programs: Path) -> None:
    text = (programs / "report.html").read_text(encoding="utf-8")
    best = (programs / "best" / "program.py").read_text(encoding="utf-8")
    classes = [line for line in best.splitlines() if line.startswith("class ")]
    assert len(classes) == 3
    assert all(line in text for line in classes)


def test_the_report_counts_what_the_run_counted(evolved: EvolutionRun) -> None:
    view = load_view(evolved.result.run)
    assert view.usage == evolved.result.usage
    assert view.seconds == pytest.approx(evolved.result.seconds)
    assert view.rows["evolved"][METRIC].mean == evolved.result.test.evolved.metrics[METRIC].mean


def test_what_is_not_there_is_refused(programs: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no candidate 'x'"):
        diff(programs, "x", "best")
    with pytest.raises(RunError, match="not a run folder"):
        lineage(tmp_path)
