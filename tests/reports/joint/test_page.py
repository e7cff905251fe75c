"""The report of a joint evolution: bands, passes, arms, genomes, what changed, all programs."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from memgene.reports import write_report
from memgene.reports.load import load_view


def html(folder: Path) -> str:
    return write_report(folder).read_text(encoding="utf-8")


def plain(text: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


@pytest.fixture(scope="module")
def text(done: Path) -> str:
    return html(done)


@pytest.mark.parametrize(
    "words",
    [
        "places: joint evolution",
        "Measured once, on 3 held-out questions",
        "start is the genome that the first pass was given: 01-structure/000.",
        "4 passes (alternating), 2 accepted, 762 questions evaluated.",
        "Stopped after pass 4: no arm is left.",
        "1 structure 62.5 +12.5 500 +25.0 62.5 01-structure/002 accepted (first pass of this arm)",
        "2 parameters 75.0 +12.5 250 +50.0 75.0 02-parameters/001 accepted",
        "router left out: two passes without gain",
        "3 structure 50.0 −25.0 4 −6250.0 75.0 03-structure/001 not accepted",
        # 0.125 in 504 questions; the loss of the third pass was not taken over
        "structure 2 1 +12.5 504 +24.8",
        "router 0 0 0.0 0 –",
        "02-parameters/001 promoted 75.0 (+12.5) pass 2: parameters",
        "pass: gain −25.0 over 4 questions",
        "window 1 2",
        "Changes to the program --- 01-structure/000/program.py +++ 02-parameters/001/program.py",
        "Pass 1, structure: 3 candidates",
        "Pass 2, parameters: 2 rounds",
        "window: 1 → 2",
        "The landscape of programs",
        "The promoted program The program of genome 02-parameters/001. Score 75.0 on val.",
    ],
)
def test_every_part_is_there(text: str, words: str) -> None:
    assert words in plain(text)


def test_each_pass_has_a_band_in_the_colour_of_its_arm(text: str) -> None:
    wide = text[text.index('class="wide"') : text.index('class="narrow"')]
    assert re.findall(r'class="band (\w+)"', wide) == [
        "structure", "parameters", "structure", "values",
    ]  # fmt: skip
    assert "<title>pass 2: parameters, gain +12.5, 250 questions</title>" in wide
    assert wide.count('class="genome accepted"') == 3  # with the start
    assert wide.count('class="genome"') == 2
    assert "<title>pass 1, 002: 62.5, new best</title>" in wide
    assert wide.count('class="tried"') == 3 + 2 + 2


def test_what_scored_far_below_the_genomes_stands_at_the_lower_edge(text: str) -> None:
    # Genomes have 50 to 75, the empty seed 0: more than another 25 below.
    wide = text[text.index('class="wide"') : text.index('class="narrow"')]
    ticks = [int(t) for t in re.findall(r'text-anchor="end">(\d+)<', wide)]
    assert min(ticks) > 25
    lowest = max(float(y) for y in re.findall(r'class="tried" cx="[\d.]+" cy="([\d.]+)"', wide))
    edge = max(float(y) for y in re.findall(r'class="grid" d="M44 ([\d.]+)H', wide))
    assert lowest == edge
    assert "<title>pass 1, 001: 0.0, seed</title>" in wide


def test_a_program_of_several_passes_is_shown_once(text: str, done: Path) -> None:
    (one,) = load_view(done).trajectories
    shown = {draft.node.id: draft.node.parent for draft in one.drafts}
    assert shown == {
        "01-structure/000": None,
        "01-structure/001": None,
        "01-structure/002": "01-structure/000",
        "03-structure/001": "01-structure/002",  # written from the same text, kept as 000
    }
    assert 'class="tree"' in text


def test_the_landscape_holds_the_programs_of_all_passes(done: Path) -> None:
    found = load_view(done).landscape
    assert found is not None
    spots = {spot.name: (spot.group, spot.parent, spot.best) for spot in found.spots}
    assert spots == {
        "01-structure/000": ("seeds", None, False),
        "01-structure/001": ("seeds", None, False),
        "01-structure/002": ("pass 1", "01-structure/000", True),
        "03-structure/001": ("pass 3", "01-structure/002", False),
    }
    assert found.grouped_by == "pass"


def test_the_markdown_has_passes_arms_and_what_changed(done: Path) -> None:
    write_report(done)
    lines = (done / "report.md").read_text(encoding="utf-8").splitlines()
    assert (
        "| 2 | parameters | 75.0 | +12.5 | 250 | +50.0 | 75.0 | 02-parameters/001, accepted |"
    ) in lines
    assert "| parameters | 1 | 1 | +12.5 | 250 | +50.0 |" in lines
    assert "Left out: router after pass 2 (two passes without gain)." in lines
    assert "| window | 1 | 2 |" in lines
    assert "The program: 1 line added, 1 removed." in lines


def test_a_run_has_a_page_at_every_moment(going_on: Path) -> None:
    journal = going_on / "journal.jsonl"
    whole = journal.read_bytes()
    lines = whole.splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        journal.write_bytes(b"".join(lines[:count]))
        assert "The run is not finished" in plain(html(going_on))
    assert "4 values – – 0 – – goes on (first pass of this arm)" in plain(html(going_on))
    assert "The best program so far" in plain(html(going_on))


def test_equal_runs_give_equal_bytes(text: str, done: Path) -> None:
    assert html(done) == text
