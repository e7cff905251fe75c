"""The page stands on its own, escapes what it shows, and holds every part."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from memgene.core import RunError
from memgene.evaluation.records import read_cases, write_cases
from memgene.reports import write_report

_VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Checks that elements are closed in order, and keeps tags, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [
            value or "" for name, value in attrs if name in ("src", "href", "xlink:href")
        ]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def html(folder: Path) -> str:
    return write_report(folder).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def text(run: Path) -> str:
    return html(run)


def test_the_page_is_one_well_formed_file_that_fetches_nothing(text: str) -> None:
    page = Page(text)
    assert page.open == []
    assert page.links == []
    assert "@import" not in text
    assert "url(" not in text
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text


def test_what_people_wrote_is_escaped(text: str) -> None:
    assert "script" not in Page(text).tags
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; &quot;quotes&quot;" in text


@pytest.mark.parametrize(
    "words",
    [
        "Measured once, on 6 held-out questions",
        "Against genome:a b, the best static memory on val: +25.0 [0.0, 58.3].",
        "On held-out questions",
        "Evolved minus each, on the same questions",
        "How the score moved",
        "3 candidates tried, 1 accepted.",
        "What changed each round, and why",
        "window: 1 → 2",
        "Where failures began",
        "By category",
        "Questions that scored zero",
        "One question through all rounds",
        "Fixed",
        "Broken",
        "lexical #1 (2.50), recency +0.25",
        "Gold evidence: m2 at 2, m9 not among the first 2.",
        "Cost and time",
        "Fingerprints of the data",
        "f00d",
    ],
)
def test_every_part_is_there(text: str, words: str) -> None:
    assert words in " ".join("".join(Page(text).text).split())


def test_the_plot_marks_every_round(text: str) -> None:
    wide = text[text.index('class="wide"') : text.index('class="narrow"')]
    assert wide.count('class="mark ') == 4
    for verdict in ("start", "accepted", "reverted", "rejected"):
        assert f'class="mark {verdict}"' in wide


def test_an_interval_that_includes_zero_is_not_called_a_gain(text: str) -> None:
    words = "".join(Page(text).text)
    assert "this run does not show a gain" in words
    assert "lies above zero" not in words


def test_the_markdown_table_has_rows_intervals_and_differences(run: Path) -> None:
    write_report(run)
    lines = (run / "report.md").read_text(encoding="utf-8").splitlines()
    assert any(line.startswith("| evolved | 75.0 | [") for line in lines)
    assert any(line.startswith("| start | +25.0 | [") for line in lines)
    assert "| memory | fact | time | lowest | spread |" in lines
    widths = {line.count("|") for line in lines if line.startswith("| memory | recall@10")}
    assert widths == {5}


def test_equal_runs_give_equal_bytes(text: str, run: Path) -> None:
    assert html(run) == text


def test_an_unfinished_run_says_so(by_hand: Any, tmp_path: Path) -> None:
    folder = by_hand.write(tmp_path / "run", by_hand.search()[:8], final=False)
    words = "".join(Page(html(folder)).text)
    assert "The run is not finished" in words
    assert "no held-out result yet" in words
    assert "No held-out result." in (folder / "report.md").read_text(encoding="utf-8")


def test_a_run_that_has_only_started_has_a_page(by_hand: Any, tmp_path: Path) -> None:
    folder = by_hand.write(tmp_path / "run", by_hand.search()[:1], final=False)
    assert Page(html(folder)).open == []


def test_folds_have_a_table_and_a_plot_each(by_hand: Any, tmp_path: Path) -> None:
    text = html(by_hand.folds(tmp_path / "run"))
    assert text.count('<div class="wide">') == 2
    assert "fold 2" in "".join(Page(text).text)


def unasked(folder: Path) -> Path:
    """The run as a search for a ranking leaves it: val and dev cases without an answer."""
    for path in (folder / "candidates").glob("*/cases.jsonl"):
        write_cases(path, [replace(case, answer="", rule=None) for case in read_cases(path)])
    return folder


def test_a_search_that_asked_for_no_answers_says_so(by_hand: Any, tmp_path: Path) -> None:
    folder = unasked(by_hand.write(tmp_path / "run", [*by_hand.search(), *by_hand.final()]))
    words = " ".join("".join(Page(html(folder)).text).split())
    said = "The search asked for no answers: its metric looks at the ranking alone."
    assert words.count(said) == 2  # with the rounds, and with the followed question
    assert words.count("No answer was asked for") == 2  # its first and its last trace
    assert "(no answer)" not in words
    assert "Answer: a" in words  # the held-out examples were answered
    assert said in (folder / "report.md").read_text(encoding="utf-8")
    assert "Val questions with recall@10 0 under each round's candidate" in words


def test_a_search_that_asked_for_answers_shows_them(text: str, run: Path) -> None:
    assert "asked for no answers" not in text
    assert "No answer was asked for" not in text
    assert "answer 0.5" in text
    assert "asked for no answers" not in (run / "report.md").read_text(encoding="utf-8")


def test_an_asked_question_without_an_answer_and_an_error_are_told_apart(
    by_hand: Any, tmp_path: Path
) -> None:
    folder = by_hand.write(tmp_path / "run", [*by_hand.search(), *by_hand.final()])
    path = folder / "final" / "evolved" / "cases.jsonl"
    first, *others = read_cases(path)
    silent = replace(first, answer="", timings={"respond": 0.5})
    write_cases(path, [silent, *(replace(c, answer="", error="read: gone") for c in others)])
    words = "".join(Page(html(folder)).text)
    assert "(no answer)" in words
    assert "Error: read: gone" in words
    assert "No answer was asked for" not in words


def test_a_report_that_cannot_be_written_is_told(by_hand: Any, tmp_path: Path) -> None:
    folder = by_hand.write(tmp_path / "run", by_hand.search()[:1], final=False)
    (folder / "report.html").mkdir()
    with pytest.raises(RunError, match="the report cannot be written to"):
        write_report(folder)


@pytest.fixture(scope="module")
def program_text(programs: Path) -> str:
    return html(programs)


def plain(text: str) -> str:
    return " ".join("".join(Page(text).text).split())


def test_the_page_of_a_program_run_is_well_formed_and_fetches_nothing(program_text: str) -> None:
    page = Page(program_text)
    assert page.open == []
    assert page.links == []
    assert "script" not in page.tags
    assert "url(" not in program_text


@pytest.mark.parametrize(
    "words",
    [
        "start is the seed that was best on val: 000, vector.",
        "8 drafts: 2 joined the pool (1 of them below their parent), 6 refused. "
        "Seeds refused: hybrid.",
        "Stopped after iteration 6: 6 iterations.",
        "Every program, and where it came from",
        "003 promoted new best 62.5 (+25.0) Shorter chunks <script>",
        "006.1 joined regressed broke on 1 50.0 (−12.5) Facts apart, mended",
        "from 000, iteration 1, by llm, 2 drafts, 1.2 s, what was said: "
        "candidates/003/reflection.md.",
        "why 003: <script>alert('x')</script> & \"quotes\"",
        "duplicate: the same program as 003",
        "gate: its parent is better on 2 paired questions",
        "runtime: it broke at work; mended as 006.1",
        "runtime: it still breaks at work: KeyError",
        "recheck: −25.0 against 000 on 2 fresh val questions",
        "draft: no reply held a program",
        "The promoted program",
        "003: Shorter chunks <script>alert('x')</script> & \"quotes\". "
        "Score 62.5 on val; line 000 → 003.",
        "Val questions with token_f1 0 under each candidate",
        "One question along the line that led to the best program",
        "The val question that gained most.",
        "This memory returns text without a ranking.",
        "text read for q1",
        "program.iterations",
        "vector, lists",
    ],
)
def test_every_part_of_a_program_run_is_there(program_text: str, words: str) -> None:
    assert words in plain(program_text)


def test_the_plot_marks_seeds_children_and_refusals(program_text: str) -> None:
    wide = program_text[program_text.index('class="wide"') : program_text.index('class="narrow"')]
    marks = {kind: wide.count(f'class="mark {kind}"') for kind in ("start", "joined", "refused")}
    assert marks == {"start": 2, "joined": 1, "refused": 7}
    assert wide.count('class="mark accepted"') == 1
    assert "<title>iteration 1, 003: 62.5, new best</title>" in wide
    assert "<title>iteration 2, 004: refused</title>" in wide


def test_the_promoted_program_is_there_in_full_and_others_as_changes(
    by_hand: Any, programs: Path, program_text: str
) -> None:
    source = (programs / "candidates" / "003" / "program.py").read_text(encoding="utf-8")
    assert escape(source, quote=True) in program_text
    assert '<span class="removed">-ORDER = &quot;000&quot;\n</span>' in program_text
    assert '<span class="added">+ORDER = &quot;003&quot;\n</span>' in program_text
    assert program_text.count("The whole program") == 3  # of the seeds, which changed nothing


def test_a_question_on_which_the_memory_broke_says_so(by_hand: Any, tmp_path: Path) -> None:
    folder = by_hand.write_programs(
        tmp_path / "run", [*by_hand.programs(), *by_hand.program_final()]
    )
    path = folder / "final" / "evolved" / "cases.jsonl"
    broken = [replace(c, answer="", failure="read/raised: KeyError") for c in read_cases(path)]
    write_cases(path, broken)
    assert "The memory broke: read/raised: KeyError" in plain(html(folder))


def test_the_cost_of_writing_programs_is_counted(program_text: str) -> None:
    # eight drafts by a model: 2 + 1 + 1 + 1 + 1 + 4 + 1 + 1 calls at 25 cents a draft
    assert "reflector 12 12 800 2.0000" in " ".join(re.sub(r"<[^>]+>", " ", program_text).split())


def test_the_markdown_summary_lists_every_program(programs: Path) -> None:
    write_report(programs)
    lines = (programs / "report.md").read_text(encoding="utf-8").splitlines()
    assert "| 000 | 37.5 | – | – | seed | vector |" in lines
    assert (
        "| 006.1 | 50.0 | −12.5 | 003 | joined, regressed | Facts apart, mended — "
        "recheck: −25.0 against 000 on 2 fresh val questions |" in lines
    )
    assert "| 007 | – | – | 001 | refused | draft: no reply held a program |" in lines
    assert any(line.startswith("The promoted program: 003: Shorter chunks") for line in lines)
    assert not any("<script>" in line for line in lines)


def test_a_program_run_has_a_page_at_every_moment(by_hand: Any, tmp_path: Path) -> None:
    folder = by_hand.write_programs(tmp_path / "run", by_hand.programs())
    lines = (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        (folder / "journal.jsonl").write_bytes(b"".join(lines[:count]))
        page = Page(html(folder))
        assert page.open == []
        assert "The run is not finished" in "".join(page.text)
    assert "The promoted program" in "".join(page.text)


def test_equal_program_runs_give_equal_bytes(program_text: str, programs: Path) -> None:
    assert html(programs) == program_text


def test_folds_of_programs_have_a_tree_and_a_plot_each(by_hand: Any, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    by_hand.write_programs(folder, [by_hand.programs()[0], by_hand.program_final()[-1]])
    for number in (1, 2):
        group = f"t{number}"
        events = [*by_hand.programs(), *by_hand.program_final(group)]
        by_hand.write_programs(folder / f"fold-{number}", events, group=group)
    text = html(folder)
    assert text.count('<div class="wide">') == 2
    assert text.count('<ol class="tree">') == 2
    assert "The program in best/" in plain(text)
