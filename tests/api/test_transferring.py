"""Genomes on tasks they did not evolve on."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import memgene
from memgene.api import transfer
from memgene.core import Budget, InputError
from memgene.evaluation.records import read_cases
from memgene.genome import GenomeBundle, read_config
from memgene.llm.roles import RoleModels
from memgene.tasks.part import counted
from memgene.tasks.task import Task
from memgene.testing import ScriptedLLM, tiny_task

HOME = tiny_task()


def elsewhere() -> Task:
    """The same kind of task with other data."""
    return replace(HOME, name="elsewhere", questions=HOME.questions[:-1], fingerprint="other data")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "home"
    memgene.evolve(HOME, metric="recall@10", budget=Budget(iterations=2), run_dir=folder, seed=1)
    return folder


@pytest.fixture(scope="module")
def folded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "folded"
    memgene.evolve(
        HOME, metric="recall@10", budget=Budget(iterations=1), run_dir=folder, folds=2, harness=()
    )
    return folder


def test_every_genome_stands_beside_the_untuned_start(run: Path, tmp_path: Path) -> None:
    found = transfer([run], [HOME, elsewhere()], tmp_path, folds=2)
    assert [(c.memory, c.task, c.home) for c in found.cells] == [
        ("start", "tiny", False),
        ("home", "tiny", True),
        ("start", "elsewhere", False),
        ("home", "elsewhere", False),
    ]
    assert found.divisions == {"tiny": "seed 1", "elsewhere": "2 folds, seed 0"}
    at_home = found.cell("home", "tiny", "offline")
    assert "recall@10" in at_home.paired
    assert found.cell("start", "tiny", "offline").paired == {}


def test_at_home_the_same_questions_are_held_out_as_in_the_run(run: Path, tmp_path: Path) -> None:
    found = transfer([run], [HOME], tmp_path).cell("home", "tiny", "offline")
    kept = read_cases(run / "final" / "evolved" / "cases.jsonl")
    assert {
        c.question_id: c.scores["recall@10"] for c in found.cases if "recall@10" in c.scores
    } == {c.question_id: c.scores["recall@10"] for c in kept if "recall@10" in c.scores}
    assert len(found.cases) == len(kept)


def test_with_a_budget_a_genome_is_evolved_further_where_it_is_foreign(
    run: Path, tmp_path: Path
) -> None:
    found = transfer([run], [HOME, elsewhere()], tmp_path, budget=Budget(iterations=1))
    assert [c.memory for c in found.cells] == [
        *("start", "home"),
        *("start", "home", "home, continued"),
    ]
    bundle = GenomeBundle.load(run / "best")
    kept = read_config(
        tmp_path / "continued" / "home-on-elsewhere" / "candidates" / "000" / "retrieval.toml"
    )
    assert kept == bundle.config.changed(router=None)
    again = transfer([run], [HOME, elsewhere()], tmp_path, budget=Budget(iterations=1))
    assert again.to_json() == found.to_json()


def test_another_answerer_reads_the_same_genome(run: Path, tmp_path: Path) -> None:
    model = ScriptedLLM(lambda request: '{"answer": "a red door"}')
    with RoleModels.of({"task": model}) as llms:
        found = transfer([run], [elsewhere()], tmp_path, agents=("offline", "llm"), models=llms)
    mine = found.cell("home", "elsewhere", "offline"), found.cell("home", "elsewhere", "llm")
    first, second = ([c.hits for c in cell.cases] for cell in mine)
    assert first == second
    assert [c.answer for c in mine[0].cases] != [c.answer for c in mine[1].cases]
    [table] = found.tables()
    assert table.header[1] == "agent"


def test_each_fold_is_tested_with_its_own_genome(folded: Path, tmp_path: Path) -> None:
    found = transfer([folded], [HOME], tmp_path)
    assert len(found.cell("folded", "tiny", "offline").cases) == len(counted(HOME))
    assert found.divisions == {"tiny": "2 folds, seed 0"}


def test_tables_and_numbers_are_kept(run: Path, tmp_path: Path) -> None:
    found = transfer([run], [elsewhere()], tmp_path, metrics=("token_f1",))
    assert json.loads((tmp_path / "transfer.json").read_text()) == found.to_json()
    page = (tmp_path / "transfer.md").read_text()
    assert "| memory | token_f1 | − start |" in page
    [table] = found.tables()
    assert [row[0] for row in table.rows] == ["start", "home"]


def test_runs_that_divided_a_task_differently_cannot_be_tested_together(
    run: Path, folded: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="divided tiny differently"):
        transfer([run, folded], [HOME], tmp_path)


def test_other_data_of_the_same_task_are_refused(run: Path, tmp_path: Path) -> None:
    changed = replace(elsewhere(), name=HOME.name)
    with pytest.raises(InputError, match="evolved on other data of tiny"):
        transfer([run], [changed], tmp_path)


def test_a_task_that_the_base_of_a_run_has_seen_is_refused(run: Path, tmp_path: Path) -> None:
    later = tmp_path / "later"
    memgene.evolve(
        elsewhere(), metric="recall@10", budget=Budget(iterations=1), run_dir=later, base=run,
        harness=(),
    )  # fmt: skip
    with pytest.raises(InputError, match="later came from a genome that evolved on tiny"):
        transfer([later], [HOME], tmp_path / "out", seed=2)


def test_runs_of_two_embedders_have_no_one_start(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(run, other)
    kept = (other / "run.toml").read_text()
    assert 'embedder = "static"' in kept
    (other / "run.toml").write_text(kept.replace('embedder = "static"', 'embedder = "another"'))
    with pytest.raises(InputError, match="the runs have embedders another, static"):
        transfer([run, other], [elsewhere()], tmp_path / "out")


def test_nothing_to_measure_is_refused(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name at least one of each"):
        transfer([run], [], tmp_path)
    with pytest.raises(InputError, match="name at least one of each"):
        transfer([], [HOME], tmp_path)
