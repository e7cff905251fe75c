"""Tasks, evaluation, evolution, report and genome from the command line, on a tiny folder."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from memgene.tasks.demo import demo_task
from memgene.tasks.part import subset

Run = Callable[..., Result]
Ask = Callable[..., Any]

PEOPLE = {"Ann": "Lisbon", "Bob": "Oslo", "Eve": "Quito", "Kim": "Seoul", "Lea": "Bern"}
FILLER = ("The weather is mild today.", "I bought a bicycle.", "The neighbours are kind.")


def write_task(folder: Path) -> None:
    folder.mkdir()
    (folder / "task.toml").write_text(
        'name = "moves"\nmetric = "recall@10"\nmemory = "own_group"\n', encoding="utf-8"
    )
    episodes, questions = [], []
    for who, where in PEOPLE.items():
        turns = [*FILLER, f"I moved to {where} last spring.", "My new job is at the harbour."]
        messages = [{"id": f"{who}-{n}", "speaker": who, "text": t} for n, t in enumerate(turns)]
        episodes.append({"id": f"{who}-s", "group": who, "messages": messages})
        for number, (text, answer, place) in enumerate(
            [(f"Where did {who} move?", where, 3), (f"Where does {who} work?", "harbour", 4)]
        ):
            questions.append(
                {
                    "id": f"{who}-q{number}",
                    "group": who,
                    "question": text,
                    "answer": answer,
                    "evidence": [f"{who}-{place}"],
                    "category": ("move", "work")[number],
                }
            )
    for name, rows in (("episodes", episodes), ("questions", questions)):
        text = "\n".join(map(json.dumps, rows))
        (folder / f"{name}.jsonl").write_text(text + "\n", encoding="utf-8")


@pytest.fixture
def task(here: Path) -> str:
    write_task(here / "moves")
    return "moves"


def test_tasks_are_listed_with_what_is_missing(ask: Ask, run: Run) -> None:
    listed = {one["name"]: one for one in ask("tasks")["tasks"]}
    assert listed["demo"]["available"] is True
    assert listed["locomo"]["available"] is False
    assert "https://" in listed["locomo"]["obtain"]
    assert "locomo: " in run("tasks").stdout


def test_a_task_is_described_in_numbers(ask: Ask, run: Run, task: str) -> None:
    told = ask("tasks", task)
    assert (told["groups"], told["questions"], told["messages"]) == (5, 10, 25)
    assert sum(split["questions"] for split in told["splits"].values()) == 10
    assert "own_group" in run("tasks", task).stdout
    absent = run("tasks", "no-such-task")
    assert absent.exit_code == 2
    assert "no-such-task" in absent.stderr


def test_task_check_names_file_and_line(ask: Ask, run: Run, task: str, here: Path) -> None:
    assert ask("task", "check", task)["ok"] is True
    with (here / task / "questions.jsonl").open("a", encoding="utf-8") as out:
        out.write('{"id": "x", "group": "Ann"}\n')
    broken = run("task", "check", task)
    assert broken.exit_code == 1
    assert "questions.jsonl:11" in broken.stdout
    assert ask("task", "check", task, code=1)["ok"] is False


def test_harnesses_and_levers_are_listed(ask: Ask, run: Run) -> None:
    names = {one["name"]: one for one in ask("harnesses")["harnesses"]}
    assert {"no-memory", "full-context", "bm25", "vector", "hybrid-rrf", "bank"} <= names.keys()
    assert names["full-context"]["default"] is False
    levers = {one["name"]: one for one in ask("levers")["levers"]}
    assert levers["context_k"]["range"] == "1 … 50"
    assert levers["fusion"]["minimal"] == "lexical_only"
    assert "entity_swap" in run("levers").stdout


def test_evaluate_prints_a_table_and_the_contracts_json(ask: Ask, run: Run, task: str) -> None:
    report = ask("evaluate", task, "--harness", "recent,bank", "--split", "all", "--out", "o")
    assert [report[k] for k in ("task", "split", "agent", "seed")] == ["moves", "all", "offline", 0]
    recent, bank = report["harnesses"]
    assert (recent["name"], bank["name"], bank["questions"]) == ("recent", "bank", 10)
    assert bank["errors"] == 0
    recall = bank["metrics"]["recall@10"]
    assert recall["n"] == 10
    assert recall["mean"] == 1.0  # every group has five messages
    assert set(bank["by_category"]) == {"move", "work"}
    assert Path("o/report.json").is_file()
    assert Path("o/bank.jsonl").is_file()
    shown = run("evaluate", task, "--harness", "bank", "--split", "all", "--categories")
    assert "100.0 [100.0, 100.0]" in shown.stdout
    assert "move" in shown.stdout


def test_evaluate_explains_its_tables(run: Run, task: str, here: Path) -> None:
    path = here / task / "questions.jsonl"
    first, *others = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    lines = [first | {"unusable": "torn page"}, *others]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with (here / task / "task.toml").open("a", encoding="utf-8") as out:
        out.write('set_apart = ["work"]\n')
    shown = run("evaluate", task, "--harness", "bank", "--split", "all", "--categories").stdout
    for words in (
        "excluded: evidence that cannot be scored",
        "work *",
        "* work is set apart",
        "lowest",
        "100.0 move",
        "spread",
    ):
        assert words in shown


def test_evaluate_takes_a_limit_and_seeds(ask: Ask, task: str) -> None:
    one = ask("evaluate", task, "--split", "all", "--limit", "3", "--seed", "4")
    assert one["harnesses"][0]["questions"] == 3
    assert one["seed"] == 4


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--harness", "telepathy"], 2, "telepathy"),
        (["--harness", ""], 2, "needs the name of a memory"),
        (["--split", "exam"], 2, "exam"),
        (["--agent", "oracle"], 2, "oracle"),
        (["--agent", "llm"], 2, "needs a language model: set [llm.task]"),
        (["--out", "moves/task.toml/x"], 2, "cannot be written to moves/task.toml/x"),
        (["--embedder", "telepathy"], 2, "telepathy"),
        (["--option", "colour=red"], 2, "colour"),
        (["--seed", "-1"], 2, "seed"),
        (["--harness", "genome:nowhere"], 1, "nowhere"),
        (["--sandbox", "docker"], 2, "'bubblewrap' or 'rlimits', got 'docker'"),
    ],
)
def test_what_evaluate_does_not_know_is_named(
    run: Run, task: str, arguments: list[str], code: int, words: str
) -> None:
    result = run("evaluate", task, *arguments)
    assert result.exit_code == code
    assert words in result.stderr


def test_evaluate_tells_how_programs_ran(ask: Ask, task: str) -> None:
    asked = ("--harness", "program:empty", "--embedder", "hashing", "--split", "all")
    report = ask("evaluate", task, *asked, "--sandbox", "rlimits")
    assert report["sandbox"]["level"] in ("full", "bubblewrap", "rlimits")


def test_evolve_report_and_genome(ask: Ask, run: Run, task: str) -> None:
    limits = ("--budget", "iterations=1", "--harness", "bm25,bank")
    result = ask("evolve", task, "--run", "r", *limits)
    assert (result["strategy"], result["metric"], result["run"]) == ("config", "recall@10", "r")
    assert set(result) >= {"rounds", "evaluations", "best", "test", "usage", "seconds", "report"}
    assert set(result["test"]) >= {"evolved", "start", "static", "paired"}
    assert set(result["test"]["paired"]["start"]) >= {"metric", "delta", "low", "high", "p"}
    assert Path(result["report"]).is_file()
    again = run("evolve", task, "--run", "r", *limits)
    assert again.exit_code == 1
    assert "--resume" in again.stderr
    resumed = ask("evolve", task, "--run", "r", "--resume", *limits)
    assert resumed["test"] == result["test"]
    written = ask("report", "r")
    assert (Path(written["report"]).name, Path(written["table"]).name) == (
        "report.html",
        "report.md",
    )
    genome = ask("genome", "show", "r/best")
    assert genome["strategy"] == "config"
    assert ask("genome", "verify", "r/best")["id"] == genome["id"]
    assert genome["id"] in run("genome", "show", "r/best").stdout
    evaluated = ask("evaluate", task, "--harness", "genome:r/best", "--split", "all")
    assert evaluated["harnesses"][0]["name"] == "genome:r/best"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["evolve", "moves"], 2, "--run"),
        (["evolve", "moves", "--run", "r", "--strategy", "magic"], 2, "magic"),
        (["evolve", "moves", "--run", "r", "--budget", "rounds=3"], 2, "rounds"),
        (["evolve", "moves", "--run", "r", "--metric", "vibes"], 2, "vibes"),
        (["evolve", "moves", "--run", "r", "--agent", "oracle"], 2, "oracle"),
        (["evolve", "moves", "--run", "r", "--sandbox", "docker"], 2, "'bubblewrap' or 'rlimits'"),
        (["evolve", "moves", "--run", "r", "--resume"], 1, "no run to resume"),
        (["evolve", "moves", "--run", "r", "--harness", ""], 2, "--harness needs a name"),
        (["evolve", "moves", "--run", "moves"], 1, "is not empty"),
        (["evolve", "moves", "--run", "moves/task.toml"], 1, "a run cannot be kept in"),
        (["evolve", "moves", "--run", "r", "--budget", "questions=2"], 2, "does not cover"),
        (["report", "moves"], 1, "run.toml"),
        (["genome", "show", "moves"], 1, "genome"),
    ],
)
def test_failures_name_what_is_wrong(
    run: Run, task: str, arguments: list[str], code: int, words: str
) -> None:
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert words in result.stderr
    assert "Traceback" not in result.output
    assert not Path("r").exists()
    assert not Path("moves/run.lock").exists()


def test_doctor_tells_what_is_here(ask: Ask, run: Run) -> None:
    health = ask("doctor")
    assert health["ok"] is True
    assert health["full_text"] is True
    assert health["embedder"].startswith("wordllama")
    assert health["data"]["demo"] is True
    assert health["data"]["locomo"] is False
    assert "trigrams   yes" in run("doctor").stdout


def test_doctor_says_when_the_embedder_does_not_load(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMGENE_EMBEDDER", "no-such-embedder")
    result = run("doctor")
    assert result.exit_code == 1
    assert "problem    embedder no-such-embedder does not load" in result.stdout


def test_the_demo_walks_the_whole_way_and_says_how_to_go_on(
    ask: Ask, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = demo_task()
    few = [g for g in whole.groups if "/" not in g][:4]
    monkeypatch.setattr("memgene.api.demo.demo_task", lambda: subset(whole, groups=few))
    monkeypatch.setattr("memgene.api.demo.ROUNDS", 1)
    told = run("demo", "--dir", "d")
    assert told.exit_code == 0, told.output
    for words in ("no-memory", "evolved", "95 % intervals", "read the intervals", "Report: "):
        assert words in told.stdout
    again = ask("demo", "--dir", "d")
    assert set(again) == {"evaluate", "evolve", "search", "report", "next"}
    assert Path(again["report"]).is_file()
    assert again["search"]["results"]
    start = [sys.executable, "-m", "memgene.cli"]  # these tests were not started as memgene
    following = shlex.split(again["next"])
    assert following[:3] == start
    assert shlex.join(following) in told.stdout
    assert ask(*following[3:])["results"][0] == again["search"]["results"][0]
