"""The page stands on its own, escapes what it shows, and holds every part."""

from __future__ import annotations

from dataclasses import replace
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
