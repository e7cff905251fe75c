"""Whole evolutions on the real engine: result, run folder, folds, sealed test."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memgene.core import Budget, ConfigError, InputError, RunError
from memgene.evolution.evolve import run_evolution
from memgene.evolution.folds import medoid
from memgene.evolution.journal import read_journal
from memgene.evolution.progress import EvolveProgress
from memgene.evolution.result import best_static
from memgene.evolution.task_evaluator import TaskEvaluator
from memgene.genome import GenomeBundle
from memgene.retrieval.config import RetrievalConfig
from memgene.tasks.splits import split_task
from memgene.tasks.task import Split


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def kinds(run: Path) -> list[str]:
    return [entry.event.kind for entry in read_journal(run / "journal.jsonl")]


@pytest.fixture(scope="module")
def finished(noisy: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One finished run, its result, and what a watcher was told."""
    path = tmp_path_factory.mktemp("evolve") / "run"
    told: list[EvolveProgress] = []
    result = run_evolution(noisy.noisy_task(), noisy.settings(), path, progress=told.append)
    return path, result, told


def test_a_run_leaves_the_promised_files(finished: Any) -> None:
    run, _, _ = finished
    assert sorted(p.name for p in run.iterdir()) == [
        "best",
        "candidates",
        "final",
        "journal.jsonl",
        "run.lock",
        "run.toml",
    ]
    rows = sorted(p.name for p in (run / "final").iterdir())
    assert rows == ["bank", "bm25", "evolved", "learned-once", "start"]
    assert not list(run.rglob("*.tmp"))


def test_the_result_is_the_promised_json(finished: Any) -> None:
    run, result, _ = finished
    values = json.loads(json.dumps(result.to_json()))
    assert {"run", "strategy", "metric", "rounds", "evaluations", "best", "usage", "seconds"} < (
        values.keys()
    )
    assert (values["strategy"], values["metric"], values["rounds"]) == ("config", "recall@1", 3)
    assert values["best"] == str(run / "best")
    test = values["test"]
    assert list(test["static"]) == ["bm25", "bank", "learned-once"]
    assert list(test["paired"]) == ["start", "bm25", "bank", "learned-once"]
    assert {"metric", "delta", "low", "high", "p"} <= test["paired"]["bm25"].keys()
    assert test["best_static"] in test["static"]
    delta = test["evolved"]["recall@1"]["mean"] - test["static"]["bm25"]["recall@1"]["mean"]
    assert test["paired"]["bm25"]["delta"] == pytest.approx(delta)
    assert values["usage"]["task"]["calls"] > 0


def test_the_start_is_the_default_configuration_and_equals_the_bank_row(finished: Any) -> None:
    _, result, _ = finished
    assert result.test.start.metrics == result.test.static[1].metrics


def test_each_candidate_but_the_start_has_its_difference_to_the_parent(finished: Any) -> None:
    run, _, _ = finished
    events = [e.event for e in read_journal(run / "journal.jsonl")]
    for made in (e for e in events if e.kind == "proposed"):
        folder = run / "candidates" / made.candidate
        if not made.parent:
            assert not (folder / "patch.diff").exists()
            continue
        before, after = (
            (run / "candidates" / name / "retrieval.toml").read_text().splitlines()
            for name in (made.parent, made.candidate)
        )
        lines = (folder / "patch.diff").read_text().splitlines()
        assert lines[:2] == [
            f"--- {made.parent}/retrieval.toml",
            f"+++ {made.candidate}/retrieval.toml",
        ]
        assert lines[2].startswith("@@ -")
        taken = [line[1:] for line in lines[2:] if line.startswith("-")]
        added = [line[1:] for line in lines[2:] if line.startswith("+")]
        assert Counter(after) == Counter(before) - Counter(taken) + Counter(added)


def test_best_is_a_bundle_with_its_scores_and_origin(finished: Any) -> None:
    run, result, _ = finished
    bundle = GenomeBundle.load(run / "best")
    assert bundle.config == result.config
    assert bundle.embedder == "hashing"
    assert bundle.scores["test/recall@1"].mean == result.test.evolved.metrics["recall@1"].mean
    assert "val/recall@1" in bundle.scores
    assert bundle.provenance["candidate"] == result.promoted
    text = (run / "best" / "genome.toml").read_text()
    assert str(run) not in text
    assert "2.0" not in str(bundle.provenance)


def test_learned_weights_are_refitted_on_dev_and_val(finished: Any) -> None:
    run, _, _ = finished
    events = [e.event.to_dict() for e in read_journal(run / "journal.jsonl")]
    sizes = {e["file"]: e["questions"] for e in events if e["event"] == "refitted"}
    started = events[0]
    assert sizes["dev.toml"] == started["dev"]
    assert sizes["retrieval.toml"] == started["dev"] + started["val"]


def test_test_is_opened_once_and_after_every_decision(finished: Any) -> None:
    run, _, _ = finished
    seen = kinds(run)
    assert seen.count("test_opened") == 1
    opened = seen.index("test_opened")
    deciding = {"proposed", "accepted", "rejected", "rechecked", "promoted", "refitted"}
    assert not deciding & set(seen[opened:])
    entries = [entry.event.to_dict() for entry in read_journal(run / "journal.jsonl")]
    before = [e["split"] for e in entries[:opened] if e["event"] == "evaluated"]
    after = [e["split"] for e in entries[opened:] if e["event"] == "evaluated"]
    assert "test" not in before
    assert set(after) == {"test"}


def test_the_searching_evaluator_never_sees_a_test_question(
    noisy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[set[str]] = []
    original = TaskEvaluator.__init__

    def watched(self: TaskEvaluator, task: Any, *rest: Any) -> None:
        held.append({q.group for q in task.questions} | {e.group for e in task.episodes})
        original(self, task, *rest)

    monkeypatch.setattr(TaskEvaluator, "__init__", watched)
    chosen = noisy.settings(rounds=1, harnesses=())
    result = run_evolution(noisy.noisy_task(), chosen, tmp_path / "run")
    tested = {case.group for case in result.test.evolved.cases}
    assert [bool(groups & tested) for groups in held] == [False] * (len(held) - 1) + [True]


def test_watchers_are_told_stages_rounds_and_cost(finished: Any) -> None:
    _, result, told = finished
    # final: bm25, bank, learned-once on val; then evolved, start and those three on test
    assert [t.stage for t in told] == ["start", *["search"] * 4, *["final"] * 8]
    assert [t.round for t in told][:6] == [0, 0, 1, 2, 3, 3]
    assert told[-1].evaluations == result.evaluations
    assert told[0].seconds_left is None
    assert told[2].seconds_left is not None


def test_equal_seeds_give_equal_bytes_and_a_finished_run_is_read(
    finished: Any, noisy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, result, _ = finished
    run_evolution(noisy.noisy_task(), noisy.settings(workers=3), tmp_path / "again")
    assert files(tmp_path / "again" / "best") == files(run / "best")
    patches = sorted(p.relative_to(run) for p in run.rglob("patch.diff"))
    assert patches
    assert [(tmp_path / "again" / p).read_bytes() for p in patches] == [
        (run / p).read_bytes() for p in patches
    ]
    before = (run / "journal.jsonl").read_text()

    def nothing(*_: Any) -> None:
        raise AssertionError("a finished run is read, not evaluated")

    monkeypatch.setattr(TaskEvaluator, "_run", nothing)
    again = run_evolution(noisy.noisy_task(), noisy.settings(), run, resume=True)
    assert again.to_json() == result.to_json()
    added = (run / "journal.jsonl").read_text().removeprefix(before)
    assert [json.loads(line)["event"] for line in added.splitlines()] == ["resumed"]


def test_resume_under_other_settings_or_data_names_the_difference(
    finished: Any, noisy: Any
) -> None:
    run, _, _ = finished
    task = noisy.noisy_task()
    with pytest.raises(RunError, match="seed was 0, now 4"):
        run_evolution(task, noisy.settings(seed=4), run, resume=True)
    with pytest.raises(RunError, match="proposer was 'rule', now 'random'"):
        run_evolution(task, noisy.settings(proposer="random"), run, resume=True)
    with pytest.raises(RunError, match="other data: noisy was"):
        run_evolution(replace(task, fingerprint="x"), noisy.settings(), run, resume=True)
    with pytest.raises(RunError, match="already holds a run"):
        run_evolution(task, noisy.settings(), run)


def test_a_task_without_evidence_or_answers_learns_nothing(noisy: Any, tmp_path: Path) -> None:
    task = noisy.noisy_task()
    blank = replace(
        task,
        metric="token_f1",
        questions=tuple(
            replace(q, gold=replace(q.gold, evidence=(), answers=())) for q in task.questions
        ),
    )
    result = run_evolution(blank, noisy.settings(rounds=2), tmp_path / "run")
    assert [row.name for row in result.test.static] == ["bm25", "bank"]
    assert result.config.ranker is None
    assert "refitted" not in kinds(tmp_path / "run")


def test_without_evidence_the_answers_are_learned_from(noisy: Any, tmp_path: Path) -> None:
    task = noisy.noisy_task()
    unmarked = replace(
        task,
        metric="token_f1",
        questions=tuple(replace(q, gold=replace(q.gold, evidence=())) for q in task.questions),
    )
    run_evolution(unmarked, noisy.settings(rounds=1), tmp_path / "run")
    events = [e.event.to_dict() for e in read_journal(tmp_path / "run" / "journal.jsonl")]
    assert {e["target"] for e in events if e["event"] == "refitted"} == {"answer_tokens"}


def test_a_metric_that_never_applies_is_refused(noisy: Any, tmp_path: Path) -> None:
    for metric in ("mcq_accuracy", "evidence_in_text"):  # the bank ranks
        with pytest.raises(InputError, match="applies to none of the val questions"):
            run_evolution(noisy.noisy_task(), noisy.settings(metric=metric), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_metric_that_applies_on_val_only_is_refused(noisy: Any, tmp_path: Path) -> None:
    task = noisy.noisy_task()
    dev = split_task(task, 0).groups(Split.DEV)
    bare = tuple(
        replace(q, gold=replace(q.gold, evidence=())) if q.group in dev else q
        for q in task.questions
    )
    with pytest.raises(InputError, match="applies to none of the dev questions"):
        run_evolution(replace(task, questions=bare), noisy.settings(), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_paper_preset_starts_weak(noisy: Any, tmp_path: Path) -> None:
    chosen = noisy.settings(rounds=1, preset="paper", harnesses=())
    run_evolution(noisy.noisy_task(), chosen, tmp_path / "run")
    start = (tmp_path / "run" / "candidates" / "000" / "retrieval.toml").read_text()
    assert RetrievalConfig.from_toml(start) == RetrievalConfig.minimal()
    proposals = [e.event for e in read_journal(tmp_path / "run" / "journal.jsonl")]
    assert [e.proposer for e in proposals if e.kind == "proposed"] == ["start", "rule"]


def test_folds_test_every_group_once_and_pool(noisy: Any, tmp_path: Path) -> None:
    task, chosen = noisy.noisy_task(), noisy.settings(rounds=1, folds=3, harnesses=("bm25",))
    run = tmp_path / "run"
    told: list[EvolveProgress] = []
    result = run_evolution(task, chosen, run, progress=told.append)
    assert (
        sorted(p.name for p in run.iterdir() if p.is_dir())[:4]
        == [
            "best",
            *(["final"] if result.config.ranker else []),
            "fold-1",
            "fold-2",
            "fold-3",
        ][:4]
    )
    asked = [case.question_id for case in result.test.evolved.cases]
    assert sorted(asked) == sorted(q.id for q in task.questions)
    parts = [{case.group for case in fold.test.evolved.cases} for fold in result.folds]
    assert sum(map(len, parts)) == 6
    assert result.test.paired["bm25"].paired.n == 36
    assert str(result.test.paired["bm25"].paired.method) == "groups"
    assert [(t.fold, t.folds) for t in told if t.stage == "start"] == [(1, 3), (2, 3), (3, 3)]
    bundle = GenomeBundle.load(run / "best")
    assert bundle.scores == {}
    if bundle.config.ranker is not None:
        assert bundle.config.ranker.questions == 36
    assert json.loads(json.dumps(result.to_json()))["test"]["evolved"]["recall@1"]["n"] == 36
    before = files(run / "best")
    again = run_evolution(task, chosen, run, resume=True)
    assert again.to_json() == result.to_json()
    assert files(run / "best") == before


def test_the_medoid_differs_least_from_the_others() -> None:
    base = RetrievalConfig()
    configs = [base.changed(window=2, dense_k=9), base.changed(window=2), base]
    assert medoid(configs) == 1
    assert medoid([base, base]) == 0


def test_the_best_static_row_has_the_highest_val_mean() -> None:
    assert best_static({"a": 0.1, "b": 0.4, "c": 0.4, "d": None}) == "b"
    assert best_static({"d": None}) is None


def test_unknown_memories_are_refused_before_the_search(noisy: Any, tmp_path: Path) -> None:
    chosen = noisy.settings(harnesses=("bm25", "crystal-ball"))
    with pytest.raises(ConfigError, match="no harness 'crystal-ball'"):
        run_evolution(noisy.noisy_task(), chosen, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_budget_too_small_is_refused(noisy: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not cover the start and one candidate"):
        run_evolution(
            noisy.noisy_task(), noisy.settings(budget=Budget(questions=9)), tmp_path / "run"
        )
    assert not (tmp_path / "run").exists()
    chosen = noisy.settings(folds=3, budget=Budget(questions=9))
    with pytest.raises(InputError, match="does not cover the start and one candidate"):
        run_evolution(noisy.noisy_task(), chosen, tmp_path / "run")
    assert not (tmp_path / "run").exists()
