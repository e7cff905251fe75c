"""Whole evolutions by a model's proposals: what it sees, what run.toml and the report say."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from memgene.core import ConfigError, Message, ModelError, RunError
from memgene.evolution.events import Advised, Proposed
from memgene.evolution.evolve import run_evolution
from memgene.evolution.journal import read_journal
from memgene.evolution.rundir import read_run
from memgene.llm.protocol import Request
from memgene.llm.roles import RoleModels
from memgene.reports import write_report
from memgene.tasks.splits import split_task
from memgene.tasks.task import Split, Task
from memgene.testing.llm import ScriptedLLM

SEALED, OPEN = "zanzibar", "patagonia"


def advice(name: str, value: Any) -> str:
    return json.dumps({"changes": [{"lever": name, "value": value, "why": "it may help"}]})


def with_words(task: Task, word: Callable[[str], str]) -> Task:
    """Every text of a group ends in the words given for it."""
    episodes = tuple(
        replace(
            e,
            messages=tuple(
                Message(f"{m.text} {word(e.group)}", m.id, m.speaker) for m in e.messages
            ),
        )
        for e in task.episodes
    )
    questions = tuple(
        replace(
            q,
            question=replace(q.question, text=f"{q.question.text} {word(q.group)}"),
            gold=replace(q.gold, answers=tuple(f"{a} {word(q.group)}" for a in q.gold.answers)),
        )
        for q in task.questions
    )
    return replace(task, episodes=episodes, questions=questions)


def evolved(noisy: Any, path: Path, llm: ScriptedLLM, rounds: int = 2, **more: Any) -> Any:
    task = more.pop("task", None) or noisy.noisy_task()
    resume = more.pop("resume", False)
    chosen = noisy.settings(rounds, proposer="llm", metric="token_f1", **more)
    models = RoleModels.of({"reflector": llm})
    return run_evolution(task, chosen, path, models=models, resume=resume)


def marked(task: Task) -> Task:
    """Every text of val and test groups holds one word, every text of dev groups another."""
    dev = set(split_task(task, 0).groups(Split.DEV))
    return with_words(task, lambda group: OPEN if group in dev else SEALED)


def test_a_model_sees_dev_questions_only(noisy: Any, tmp_path: Path) -> None:
    levers = iter(range(61, 99))
    llm = ScriptedLLM(lambda request: advice("dense_k", next(levers)))
    evolved(noisy, tmp_path / "run", llm, rounds=4, task=marked(noisy.noisy_task()))
    prompts = [message.content for r in llm.requests for message in r.messages]
    assert len(llm.requests) >= 3
    assert any(OPEN in prompt for prompt in prompts)
    assert not any(SEALED in prompt for prompt in prompts)


def test_run_toml_names_models_by_role_and_the_wording_of_prompts(
    noisy: Any, tmp_path: Path
) -> None:
    evolved(noisy, tmp_path / "run", ScriptedLLM([advice("window", 2)], name="wise"), rounds=1)
    asked = read_run(tmp_path / "run")["settings"]
    assert asked["models"]["diagnose"] == "wise"
    assert len(asked["models"]["prompts"]) == 12
    assert set(asked["models"]) == {"diagnose", "prompts"}
    assert asked["diagnosis_tokens"] == 6000
    with pytest.raises(RunError, match=r"models was .*wise.* now .*other"):
        evolved(noisy, tmp_path / "run", ScriptedLLM([], name="other"), rounds=1, resume=True)


def test_without_language_models_run_toml_is_as_before(noisy: Any, tmp_path: Path) -> None:
    run_evolution(noisy.noisy_task(), noisy.settings(1), tmp_path / "run")
    assert not {"models", "diagnosis_tokens"} & set(read_run(tmp_path / "run")["settings"])


def test_a_proposer_without_its_model_is_refused_before_anything_is_made(
    noisy: Any, tmp_path: Path
) -> None:
    for models in (None, RoleModels.of({"task": ScriptedLLM([])})):
        with pytest.raises(ConfigError, match="proposer 'llm' needs a language model: set"):
            run_evolution(
                noisy.noisy_task(), noisy.settings(proposer="llm"), tmp_path / "run", models=models
            )
    assert not (tmp_path / "run").exists()


def test_the_report_says_that_rules_stepped_in(noisy: Any, tmp_path: Path) -> None:
    script = [advice("window", 2), ModelError("wise timed out")]
    evolved(noisy, tmp_path / "run", ScriptedLLM(script, name="wise"))
    events = [e.event for e in read_journal(tmp_path / "run" / "journal.jsonl")]
    by = [e.proposer for e in events if isinstance(e, Proposed)]
    assert by == ["start", "llm", "rule (llm: wise timed out)"]
    page = unescape(write_report(tmp_path / "run").read_text())
    assert "rule (llm: wise timed out)" in page
    assert "The model's diagnosis was of no use: wise timed out" in page
    assert "it may help" in page


def test_folds_ask_in_every_fold(noisy: Any, tmp_path: Path) -> None:
    llm = ScriptedLLM(lambda request: advice("window", 2))
    result = evolved(noisy, tmp_path / "run", llm, rounds=1, folds=3, harnesses=("bm25",))
    assert len(llm.requests) == 3
    assert result.usage["diagnose"]["calls"] == 3
    for fold in (1, 2, 3):
        entries = read_journal(tmp_path / "run" / f"fold-{fold}" / "journal.jsonl")
        assert [e.event.round for e in entries if isinstance(e.event, Advised)] == [1]


def test_levers_that_need_a_model_are_tried_where_it_is_there(noisy: Any, tmp_path: Path) -> None:
    """A model set to rewrite queries makes decomposition possible; nothing else needs one here."""
    asked: list[Request] = []

    def rewrite(request: Request) -> str:
        asked.append(request)
        return json.dumps({"questions": ["Who was at the harbour?"]})

    script = ScriptedLLM(lambda request: advice("decomposition", True))
    models = RoleModels.of({"reflector": script, "rewrite": ScriptedLLM(rewrite)})
    chosen = noisy.settings(1, proposer="llm", metric="token_f1")
    run_evolution(noisy.noisy_task(), chosen, tmp_path / "run", models=models)
    prompt = script.requests[0].messages[-1].content
    assert "decomposition = false" in prompt
    assert "extraction" not in prompt.split("## Switched off")[0].split("## Levers")[1]
    assert "answer_style =" not in prompt
    assert asked
    assert set(read_run(tmp_path / "run")["settings"]["models"]) == {
        "diagnose",
        "prompts",
        "rewrite",
    }


def test_a_change_of_extraction_writes_anew_fits_anew_and_meets_the_guard(
    noisy: Any, tmp_path: Path
) -> None:
    script = [advice("fusion", "learned"), advice("extraction", "both"), advice("window", 2)]
    extract = ScriptedLLM(lambda request: json.dumps({"facts": []}), name="mute")
    models = RoleModels.of({"reflector": ScriptedLLM(script), "extract": extract})
    # short turns tell nothing that is worth a call
    task = with_words(noisy.noisy_task(), lambda group: "together with Marco Rossi in May 2019")
    result = run_evolution(task, noisy.settings(2, proposer="llm"), tmp_path / "run", models=models)
    events = [e.event for e in read_journal(tmp_path / "run" / "journal.jsonl")]
    first, second = [e for e in events if isinstance(e, Proposed)][1:]
    assert (first.target, second.changes) == ("evidence", {"extraction": "both"})
    # weights are fitted anew for other units, where the learned fusion was taken up
    kept = any(e.kind == "accepted" and e.candidate == "001" for e in events)
    assert second.target == ("evidence" if kept else "")
    assert extract.requests
    assert result.usage["extract"]["calls"] == len(extract.requests)
    judged = [e.candidate for e in events if e.kind in ("accepted", "rejected")]
    assert judged == ["001", "002"]
