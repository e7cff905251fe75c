"""Looking into runs from the command line: `lineage`, `diff` and `compare`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from typer.testing import Result

import memgene.api.lineages as api
from memgene.evaluation.case import Case
from memgene.evaluation.records import write_cases
from memgene.evolution.event import Event
from memgene.evolution.events import (
    Accepted,
    Evaluated,
    Promoted,
    Proposed,
    Rejected,
    RoundFinished,
    RunStarted,
)
from memgene.evolution.journal import Journal
from memgene.evolution.programs.events import Drafted, Joined, Refused
from memgene.retrieval.config import RetrievalConfig

Run = Callable[..., Result]
Ask = Callable[..., Any]

METRIC = "token_f1"
BELL = "\x1b[31m[red]\x07"  # what a model may write to paint a terminal
STATIC = {"000": (0.0, 1.0, 0.5), "001": (1.0, 1.0, 0.0)}


def scored(name: str, score: float) -> Case:
    return Case(
        question_id=name, group=name, category="fact", question="?", gold=("a",), evidence=(),
        query={}, context="", shown=0, hits=None, answer="a", abstained=False, rule=None,
        scores={METRIC: score},
    )  # fmt: skip


def begin(folder: Path, strategy: str, events: Sequence[Event]) -> None:
    folder.mkdir()
    run = {"format": 1, "settings": {"strategy": strategy, "metric": METRIC, "seed": 0}}
    (folder / "run.toml").write_text(tomli_w.dumps(run), encoding="utf-8")
    journal = Journal(folder / "journal.jsonl")
    for event in (RunStarted("places", strategy, METRIC, 0, 2, 5, 3, 0, "seed 0"), *events):
        journal.emit(event)
    journal.close()


def keep(folder: Path, name: str, file: str, text: str) -> None:
    place = folder / "candidates" / name
    place.mkdir(parents=True, exist_ok=True)
    (place / file).write_text(text, encoding="utf-8")
    if name in STATIC:
        cases = [scored(f"q{n}", score) for n, score in enumerate(STATIC[name])]
        write_cases(place / "cases.jsonl", cases)


def drafted(name: str, parent: str, title: str, refused: str = "") -> Drafted:
    by = "llm" if parent else "seed"
    return Drafted(
        int(name), name, parent, by, title, "", f"d{name}", f"n{name}", 1, refused, ""
    )  # fmt: skip


def evaluated(name: str, split: str = "static") -> Evaluated:
    return Evaluated(name, split, 3, 3, 0.5, 0, "d", {}, 0.1)


@pytest.fixture
def programs(here: Path) -> Path:
    """A seed, a child that was promoted, and a duplicate with a title that paints."""
    folder = here / "programs"
    events = [
        drafted("000", "", "vector"),
        evaluated("000"),
        Joined(0, "000", "", 0.5, 0.0, False, 0),
        drafted("001", "000", "Shorter chunks"),
        evaluated("001"),
        Joined(1, "001", "000", 2 / 3, 1 / 6, False, 2),
        drafted("002", "001", f"Longer {BELL}"),
        Refused(2, "002", "001", "duplicate", f"the same program as 001 {BELL}"),
        Promoted("001", False),
    ]
    begin(folder, "program", events)
    for name in ("000", "001", "002"):
        keep(folder, name, "program.py", f'NAME = "{name}{BELL if name == "002" else ""}"\n')
    return folder


@pytest.fixture
def configs(here: Path) -> Path:
    """A start, an accepted and a rejected configuration; the run goes on."""
    folder = here / "configs"
    start = RetrievalConfig()
    made = {"000": start, "001": start.changed(window=2), "002": start.changed(window=3)}
    events = [
        Proposed(0, "000", "", "start", {}, "preset default", "d"),
        evaluated("000", "val"),
        Proposed(1, "001", "000", "rule", {"window": 2}, "found too late", "d"),
        evaluated("001", "val"),
        Accepted(1, "001", 2 / 3, 1 / 6, 0.95, "P(gain) 0.95"),
        RoundFinished(1, "001", 2 / 3, "001", "001", 2 / 3, 0),
        Proposed(2, "002", "001", "rule", {"window": 3}, "found too late", "d"),
        Rejected(2, "002", 0.25, -0.25, 0.1, "P(gain) 0.10"),
    ]
    begin(folder, "config", events)
    for name, config in made.items():
        keep(folder, name, "retrieval.toml", config.to_toml())
    return folder


def tree(shown: str) -> list[str]:
    """The lines of the tree; the title before it may take two, for folders with long names."""
    lines = shown.splitlines()
    return lines[next(i for i, line in enumerate(lines) if "── " in line) :]


def test_the_lineage_is_a_tree_with_scores_marks_and_reasons(run: Run, programs: Path) -> None:
    shown = run("lineage", str(programs))
    assert shown.exit_code == 0
    assert tree(shown.stdout) == [
        "└── 000 50.0 seed · vector",
        "    └── 001 66.7 (+16.7) ★ promoted broke on 2 questions · Shorter chunks",
        "        └── 002 refused · Longer �[31m[red]�",
        "            duplicate: the same program as 001 �[31m[red]�",
    ]
    assert "program evolution by token_f1, not finished" in " ".join(shown.stdout.split())


def test_the_lineage_of_configurations_is_told_by_their_own_events(run: Run, configs: Path) -> None:
    assert tree(run("lineage", str(configs)).stdout) == [
        "└── 000 50.0 seed · start",
        "    └── 001 50.0 (+16.7) ★ best so far · window = 2",
        "        └── 002 (−25.0) refused regressed · window = 3",
        "            guard: P(gain) 0.10",
    ]


def test_json_is_what_the_api_gives(ask: Ask, programs: Path, configs: Path) -> None:
    for folder in (programs, configs):
        assert ask("lineage", str(folder)) == api.lineage(folder).model_dump()
        assert ask("diff", str(folder), "000", "001") == api.diff(folder, "000", "001").model_dump()


def test_a_difference_shows_titles_scores_moves_and_text(run: Run, programs: Path) -> None:
    lines = run("diff", str(programs), "vector", "best").stdout.splitlines()
    assert "000        50.0      seed      vector" in lines
    assert "001        66.7      promoted  Shorter chunks" in lines
    (moved,) = [line for line in lines if line.startswith("static")]
    # of three questions one gained 1, one is as it was, one lost ½
    assert moved.split()[:5] == ["static", "3", "50.0", "66.7", "+16.7"]
    assert moved.endswith("1 gained, 1 lost, 1 equal")
    assert "q0        static   0.0  100.0  +100.0" in lines
    assert "q2        static  50.0    0.0   −50.0" in lines
    assert lines[-2:] == ['-NAME = "000"', '+NAME = "001"']


def test_what_a_model_wrote_cannot_paint_the_terminal(run: Run, programs: Path) -> None:
    for command in (["lineage", str(programs)], ["diff", str(programs), "001", "002"]):
        shown = run(*command)
        assert shown.exit_code == 0
        assert "\x1b" not in shown.stdout
        assert "\x07" not in shown.stdout
    assert "no question was asked of both" in shown.stdout


def test_configurations_differ_by_levers(run: Run, configs: Path) -> None:
    lines = run("diff", str(configs), "000", "002").stdout.splitlines()
    assert lines[-1].split() == ["window", "1", "3"]


def test_equal_candidates_are_called_equal(run: Run, programs: Path) -> None:
    assert "the two are equal" in run("diff", str(programs), "001", "best").stdout


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (["diff", "programs", "000", "9"], 2, "has no candidate '9'; it has 000, 001, 002, best"),
        (["diff", "nowhere", "000", "001"], 1, "nowhere is not a run folder"),
        (["lineage", "nowhere"], 1, "nowhere is not a run folder"),
    ],
)
def test_what_cannot_be_shown_is_one_line(
    run: Run, programs: Path, command: list[str], code: int, said: str
) -> None:
    result = run(*command)
    assert result.exit_code == code
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_runs_are_compared_in_a_table_and_on_a_page(
    run: Run, ask: Ask, programs: Path, configs: Path, here: Path
) -> None:
    page = here / "all.html"
    shown = run("compare", str(programs), str(configs), "--out", str(page))
    assert shown.exit_code == 0
    rows = [line.split() for line in shown.stdout.splitlines()]
    assert ["programs", "places", "program", METRIC, "–", "–", "–", "6", "not", "finished"] in rows
    assert ["configs", "places", "config", METRIC, "–", "–", "–", "6", "not", "finished"] in rows
    assert ["plain", "lists", "3"] in rows
    assert shown.stdout.splitlines()[-1] == str(page)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    told = ask("compare", str(programs), str(configs))
    assert told == {**api.compare([programs, configs]).model_dump(), "page": None}


def test_one_run_is_nothing_to_compare(run: Run, programs: Path) -> None:
    shown = run("compare", str(programs))
    assert shown.exit_code == 2
    assert "name at least two runs" in shown.stderr
