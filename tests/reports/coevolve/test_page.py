"""The page of a co-evolution stands on its own, escapes what it shows, and holds every part."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from memgene.core import RunError
from memgene.evaluation.records import read_cases, write_cases
from memgene.evolution.events import Promoted
from memgene.reports import write_report

_VOID = {"meta", "br"}


class Page(HTMLParser):
    """Checks that elements are closed in order; keeps tags and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert {name for name, _ in attrs}.isdisjoint({"src", "href"})
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(f" {data}")

    @property
    def plain(self) -> str:
        return " ".join("".join(self.words).split())


def html(folder: Path) -> str:
    return write_report(folder).read_text(encoding="utf-8")


def markdown(folder: Path) -> list[str]:
    write_report(folder)
    return (folder / "report.md").read_text(encoding="utf-8").splitlines()


def part(text: str, title: str) -> str:
    """The section under a heading."""
    start = text.index(f"<h2>{title}</h2>")
    return text[start : text.index("</section>", start)]


@pytest.fixture(scope="module")
def text(run: Path) -> str:
    return html(run)


def test_the_page_is_one_well_formed_file_that_fetches_nothing(text: str) -> None:
    page = Page(text)
    assert page.open == []
    assert "script" not in page.tags
    assert "url(" not in text
    assert "@import" not in text


@pytest.mark.parametrize(
    "words",
    [
        "start is what both learners began with: nothing learned by router or memory.",
        "4 of 4 phases (alternating) over 4 training questions; 3 states accepted.",
        "Stopped after phase 4: 4 phases.",
        "How rewards moved in training",
        "2 memory, cycle 1 62.5 75.0 4 4 6 1 3",
        "Phase 2: 3 steps fell back, the first because: no reply <script>alert('x')</script>",
        "What each phase learned",
        "Phase 3 rejected router phase, cycle 2 val 50.0, best 75.0",
        "Mean reward 87.5, 4 questions played, 6 values moved, 1 memory distilled.",
        "recheck: −100.0 against 000 on 2 fresh val questions",
        "How questions are routed",
        "On val questions: the prior → state 002.",
        "when 2 0.50 → 0.30 0.50 → 0.70",
        "single 2 0.50 → 0.70 0.50 → 0.30",
        "all 4 0.50 → 0.50 0.50 → 0.50",
        "question type 1 router 2 memory 3 router 4 memory single 0.55 0.70 0.70 0.70 when",
        "What the memory learned",
        "2 memory 0.55 [0.20, 0.90] of 3",
        "Values in state 002",
        "Memories with a value: 3; values for one of 0 kinds of query: 1. Distilled memories: 1;",
        "tried d1 <script>alert('x')</script> & \"quotes\" 0.95 3",
        "The graph around a question",
        "Where is the key? <script>alert('x')</script> & \"quotes\"",
        "7 more neighbours had no room.",
        "One question through all states",
        "weight of dense 0.10, weight of sparse 0.90",
        "What training cost",
        "2 memory 4 8 4 400 0.5000 2.0 s 2.00 100 500.0 ms",
        "all 16 16 8 800 1.0000 8.0 s 1.00 50 500.0 ms",
        "promoted candidate 002.",
        "evolved took the first 2 phases once more on 10 questions of dev and val",
        "fixed-weight is the start with 45.0 % of the weight on the dense route",
        "weighs dense, sparse for each question",
        "what was learned of memories: best/memory.jsonl",
    ],
)
def test_every_part_is_there(text: str, words: str) -> None:
    assert words in Page(text).plain


def test_the_training_curve_has_a_band_a_phase_and_a_square_a_state(text: str) -> None:
    training = part(text, "How rewards moved in training")
    wide = training[training.index('class="wide"') : training.index('class="narrow"')]
    assert wide.count('class="band router"') == 2
    assert wide.count('class="band memory"') == 2
    assert wide.count('class="state"') == 5
    assert wide.count('class="best"') == 4  # a line for the parts of each pass
    assert "<title>phase 3: router, cycle 2, 60.0</title>" in wide
    assert "<title>state 002: 75.0 on val</title>" in wide
    assert 'aria-label="recall@10 as reward over 4 phases, from 37.5 to 87.5"' in wide


def test_the_histogram_counts_values_by_twentieths(text: str) -> None:
    # u1 .9, u2 .25, d1 .95: values on a border belong to the twentieth above it
    memory = part(text, "What the memory learned")
    wide = memory[memory.index('class="wide"') : memory.index('class="narrow"')]
    assert wide.count('class="column"') == 20
    for words in ("0.25 to 0.30: 1", "0.90 to 0.95: 1", "0.95 to 1.00: 1", "0.50 to 0.55: 0"):
        assert f"<title>{words}</title>" in wide


def test_the_graph_draws_kinds_by_stroke_and_values_by_colour(text: str) -> None:
    graph = part(text, "The graph around a question")
    wide = graph[graph.index('class="wide"') : graph.index('class="narrow"')]
    assert [wide.count(f'class="edge {kind}"') for kind in ("dense", "sparse", "time")] == [1, 1, 1]
    assert wide.count('class="arrow"') == 1
    assert wide.count('<circle class="node high shown" fill-opacity="0.80"') == 1  # u1, .9
    assert wide.count('<rect class="node low shown" fill-opacity="0.50"') == 1  # d1, .25
    assert wide.count('<circle class="node high" fill-opacity="0.00"') == 2  # neutral
    assert "<title>2. tried the drawer (value 0.25)</title>" in wide
    assert 'aria-label="2 memories that were shown, 2 neighbours, 3 edges"' in wide


def test_the_whole_run_is_counted(text: str) -> None:
    # evaluated: 5 × 4 on val, 3 × 2 fresh; played: 16 + 4 + 16 + 4
    # seconds: start 1, four phases of 2, eight evaluations of ½, retrained 3, fixed weight 1.5
    plain = Page(text).plain
    assert "Wall time 17.5 s. Questions evaluated: 66." in plain
    assert "attribute 18 10 900 1.2500" in plain


def test_the_markdown_tells_the_same_in_short(run: Path) -> None:
    lines = markdown(run)
    assert "| 2 | memory, cycle 1 | 62.5 | 75.0 | 4 | 6 | 1 | 3 | 8 | 400 | 2.0 s |" in lines
    assert "A training interaction took 1.00 calls, 50 tokens and 500.0 ms." in lines
    assert "| when | 2 | 0.50 → 0.30 | 0.50 → 0.70 |" in lines
    assert any(line.startswith("Phase 2: 3 steps fell back, the first because") for line in lines)
    values = "Values after phase 4: 3 memories, median 0.55, half of them from 0.40 to 0.70."
    assert values in lines
    assert "Distilled memories in state 002: 1; retired: 1." in lines
    assert not any("<script>" in line for line in lines)
    assert not any("Where is the key" in line or "tried" in line for line in lines)


def test_a_run_has_a_page_at_every_moment(coevolved: Any, tmp_path: Path) -> None:
    folder = coevolved.write(tmp_path / "run", coevolved.search())
    lines = (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        (folder / "journal.jsonl").write_bytes(b"".join(lines[:count]))
        page = Page(html(folder))
        assert page.open == []
        assert "The run is not finished" in page.plain


def test_equal_runs_give_equal_bytes(text: str, run: Path) -> None:
    assert html(run) == text


def test_folds_have_every_part_once_each(coevolved: Any, tmp_path: Path) -> None:
    folder = coevolved.folds(tmp_path / "run")
    text = html(folder)
    for title in ("How rewards moved in training", "The graph around a question"):
        found = part(text, title)
        assert found.count('<div class="wide">') == 2
        assert "<summary>fold 2</summary>" in found
    assert any(line.startswith("Training of fold 2, alternating") for line in markdown(folder))
    assert "fold 1: fixed-weight is the start" in Page(text).plain


def test_files_with_text_may_be_left_out(coevolved: Any, tmp_path: Path) -> None:
    folder = coevolved.write(tmp_path / "run", [*coevolved.search(), *coevolved.final()])
    for path in [*folder.glob("candidates/*/memory.jsonl"), *folder.glob("**/graph.json")]:
        path.unlink()
    text = html(folder)
    assert "2 memory 0.55 [0.20, 0.90] of 3" in Page(text).plain  # the journal tells quantiles
    assert "Values in state" not in text
    assert "The graph around a question" not in text


def test_a_run_without_text_has_a_page_of_ids_and_numbers(coevolved: Any, tmp_path: Path) -> None:
    folder = coevolved.write(tmp_path / "run", [*coevolved.search(), *coevolved.final()])
    for path in folder.glob("**/cases.jsonl"):
        write_cases(path, read_cases(path), redact=True)
    for path in folder.glob("candidates/*/memory.jsonl"):
        path.unlink()
    graph = folder / "candidates" / "002" / "graph.json"
    graph.write_text(coevolved.picture.redacted().to_json(), encoding="utf-8")
    plain = Page(html(folder)).plain
    assert "evolved − start" in plain
    assert "rank memory value exposures 1 u1 0.90 4" in plain
    assert "<details open><summary>On training questions, phase by phase" in html(folder)
    for words in ("What of", "Ann:", "tried the drawer", "Where is", "a neighbour"):
        assert words not in plain


def test_the_picture_of_the_evolved_row_stands_in(coevolved: Any, tmp_path: Path) -> None:
    folder = coevolved.write(tmp_path / "run", [*coevolved.search(), *coevolved.final()])
    own = folder / "candidates" / "002" / "graph.json"
    own.rename(folder / "final" / "evolved" / "graph.json")
    assert "Where is the key?" in Page(html(folder)).plain


def test_where_the_run_yields_its_start_the_latest_state_is_shown_and_said_to_be_aside(
    coevolved: Any, tmp_path: Path
) -> None:
    folder = coevolved.write(tmp_path / "run", [*coevolved.search()[:-1], Promoted("000", True)])
    plain = Page(html(folder)).plain
    assert "On val questions: the prior → state 004, which the run does not yield." in plain
    assert "Values in state 004, which the run does not yield" in plain


@pytest.mark.parametrize("file", ["memory.jsonl", "graph.json"])
def test_a_damaged_file_is_named(coevolved: Any, tmp_path: Path, file: str) -> None:
    folder = coevolved.write(tmp_path / "run", coevolved.search())
    path = folder / "candidates" / "002" / file
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(RunError, match=rf"002/{file}"):
        write_report(folder)
