"""`evaluate()`: what is asked, what is refused before any work, and what is shared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import memgene
from memgene.core import ConfigError, InputError, LabelledQuestion
from memgene.evaluation.report import EvaluationReport
from memgene.sandbox import Level, Probe, SandboxUnavailableError, probe
from memgene.sandbox import sandbox as sandbox_module
from memgene.tasks.task import Regime
from memgene.testing import tiny_task

TASK = tiny_task()


def asked(report: EvaluationReport) -> list[str]:
    return [case.question_id for case in report.harnesses[0].cases]


@pytest.mark.parametrize("more", [{}, {"limit": 3}, {"split": "all", "limit": 5}])
def test_several_seeds_ask_the_questions_that_the_first_one_draws(more: dict[str, Any]) -> None:
    one = memgene.evaluate(TASK, "recent", seed=4, **more)
    three = memgene.evaluate(TASK, "recent", seed=4, seeds=3, **more)
    assert asked(three) == asked(one)
    assert three.seeds == (4, 5, 6)
    assert three.harnesses[0].metrics["token_f1"].mean == one.harnesses[0].metrics["token_f1"].mean


def test_a_limit_counts_questions_that_count() -> None:
    report = memgene.evaluate(TASK, "recent", split="all", limit=17)
    assert len(asked(report)) == report.harnesses[0].questions == 17


@pytest.mark.parametrize("none", ["", [], [""], ["recent", ""]])
def test_no_memory_to_evaluate_is_refused(none: Any) -> None:
    with pytest.raises(InputError, match="needs the name of a memory"):
        memgene.evaluate(TASK, none)


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told: list[Any] = []
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match=r"cannot be written to .*; choose another folder"):
            memgene.evaluate(TASK, "recent", out=place, progress=lambda *step: told.append(step))
    assert told == []


def test_an_unknown_memory_is_refused_before_the_first_is_evaluated(tmp_path: Path) -> None:
    told: list[Any] = []
    with pytest.raises(ConfigError, match="crystal-ball"):
        memgene.evaluate(
            TASK,
            ["recent", "crystal-ball"],
            out=tmp_path / "out",
            progress=lambda *step: told.append(step),
        )
    assert told == []
    assert not (tmp_path / "out").exists()


def test_a_shared_task_is_evaluated_by_split() -> None:
    task = tiny_task(Regime.SHARED)
    with pytest.raises(InputError, match=r"--split dev, val or test"):
        memgene.evaluate(task, "recent", split="all")
    counts = [len(asked(memgene.evaluate(task, "recent", split=s))) for s in ("dev", "val", "test")]
    assert sum(counts) == len(task.questions)
    assert min(counts) > 0


def test_the_agent_llm_is_told_what_it_needs() -> None:
    with pytest.raises(ConfigError, match=r"agent 'llm' needs a language model"):
        memgene.evaluate(TASK, "recent", agent="llm")


def test_models_are_loaded_once_for_all_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    from memgene.embed import registry
    from memgene.harness import registry as harnesses

    loaded: list[str] = []

    def counting(name: str) -> Any:
        loaded.append(name)
        return registry.load_embedder(name)

    def words() -> Any:
        loaded.append("words")
        return registry.word_vectors()

    monkeypatch.setattr(harnesses, "load_embedder", counting)
    monkeypatch.setattr(harnesses, "word_vectors", words)
    few = replace(TASK, questions=TASK.questions[:1])
    names = ["bm25", "vector", "bank"]
    memgene.evaluate(few, names, split="all", embedder="hashing", seeds=2)
    assert loaded == ["hashing", "words"]
    loaded.clear()
    memgene.evaluate(few, names, split="all", embedder="static")
    assert loaded == ["static"]
    loaded.clear()
    memgene.evaluate(few, "no-memory", split="all")
    assert loaded == []


def test_usage_does_not_depend_on_the_order_of_the_memories(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from memgene.testing import ScriptedAgent

    monkeypatch.setattr("memgene.api.evaluating.make_agent", lambda name, models: ScriptedAgent())
    names = ["bm25", "vector", "recent"]

    def used(order: list[str]) -> dict[str, int]:
        report = memgene.evaluate(TASK, order, split="all", embedder="hashing")
        return {h.name: h.usage.roles["task"].calls for h in report.harnesses}

    # 12 episodes extracted, 24 questions formulated and answered, by each.
    assert used(names) == used(names[::-1]) == dict.fromkeys(names, 60)


def test_evolve_takes_one_name_and_refuses_an_empty_one(tmp_path: Path) -> None:
    budget = {"iterations": 1}
    task = replace(TASK, metric="recall@1", questions=_counted())
    run = memgene.evolve(
        task, budget=budget, run_dir=tmp_path / "a", harness="bm25", embedder="hashing"
    )
    assert [row.name for row in run.result.test.static] == ["bm25", "learned-once"]
    with pytest.raises(InputError, match="name of a memory is empty"):
        memgene.evolve(task, budget=budget, run_dir=tmp_path / "b", harness="")
    assert not (tmp_path / "b").exists()
    none = memgene.evolve(
        task, budget=budget, run_dir=tmp_path / "b", harness=(), embedder="hashing"
    )
    assert [row.name for row in none.result.test.static] == ["learned-once"]


def _counted() -> tuple[LabelledQuestion, ...]:
    return tuple(q for q in TASK.questions if q.gold.evidence)


def limited_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {"rlimits": "yes", "landlock": "no: test", "seccomp": "no: test"}
    monkeypatch.setattr(sandbox_module, "probe", lambda: Probe(Level.RLIMITS, parts))


def test_a_report_says_how_its_programs_ran() -> None:
    plain = memgene.evaluate(TASK, "recent", limit=2)
    assert plain.sandbox is None
    assert "sandbox" not in plain.to_json()
    report = memgene.evaluate(
        TASK, "program:empty", limit=2, embedder="hashing", sandbox="rlimits", seeds=2
    )
    achieved = probe().level
    assert report.to_json()["sandbox"] == {"level": achieved.label, "chroma": "numpy"}
    assert (achieved.caution in report.table().notes) is (achieved is not Level.FULL)


def test_programs_run_below_full_isolation_only_where_that_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limited_machine(monkeypatch)
    program: dict[str, Any] = {"harness": "program:empty", "limit": 2, "embedder": "hashing"}
    with pytest.raises(SandboxUnavailableError, match="ask for it: `--sandbox rlimits`"):
        memgene.evaluate(TASK, **program)
    monkeypatch.setenv("MEMGENE_SANDBOX_LEVEL", "rlimits")
    with pytest.raises(SandboxUnavailableError, match="'bubblewrap' is required"):
        memgene.evaluate(TASK, **program, sandbox="bubblewrap")
    report = memgene.evaluate(TASK, **program)
    assert report.to_json()["sandbox"]["level"] == "rlimits"
    assert report.table().notes[-1] == Level.RLIMITS.caution


def test_an_unknown_level_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"sandbox\.level.*'full', 'bubblewrap' or 'rlimits'"):
        memgene.evaluate(TASK, "recent", sandbox="docker")
