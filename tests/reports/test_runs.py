"""Several runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memgene.core import InputError, RunError
from memgene.evaluation.records import read_cases, write_cases
from memgene.reports.runs import compare_runs
from memgene.reports.runs_page import write_comparison


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory, run: Path) -> Path:
    """The run again, its evolved memory worse on two of six questions (1.0 → 0.5, 1.0 → 0.0)."""
    folder = tmp_path_factory.mktemp("other") / "run"
    for path in run.rglob("*"):
        if path.is_file() and path.name not in ("report.html", "report.md"):
            target = folder / path.relative_to(run)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    place = folder / "final" / "evolved" / "cases.jsonl"
    cases = read_cases(place)
    for n, score in ((1, 0.5), (4, 0.0)):
        cases[n].scores["recall@10"] = score  # type: ignore[index]
    write_cases(place, cases)
    return folder


def test_each_run_has_its_scores_and_its_gain(run: Path, programs: Path) -> None:
    first, second = compare_runs([run, programs]).rows
    assert (first.task, first.strategy, first.metric) == ("places", "config", "recall@10")
    assert first.evolved is not None
    assert first.start is not None
    assert first.gain is not None
    assert first.evolved.mean == pytest.approx(4.5 / 6)
    assert first.start.mean == pytest.approx(3 / 6)
    assert first.gain.delta == pytest.approx(1.5 / 6)
    assert first.evaluations == 16
    assert (second.strategy, second.metric, second.finished) == ("program", "token_f1", True)


def test_evolved_memories_are_compared_question_by_question(run: Path, other: Path) -> None:
    view = compare_runs([run, other])
    (one,) = view.differences
    assert (one.n, one.metric) == (6, "recall@10")
    assert one.delta == pytest.approx((0.5 - 1.0 + 0.0 - 1.0) / 6)
    assert one.low <= one.delta <= one.high <= 0


def test_other_metrics_and_other_questions_are_not_compared(
    run: Path, programs: Path, by_hand: Any, tmp_path: Path
) -> None:
    assert compare_runs([run, programs]).differences == ()
    unfinished = by_hand.write(tmp_path / "run", by_hand.search(), final=False)
    view = compare_runs([run, unfinished])
    assert view.differences == ()
    assert view.rows[1].evolved is None
    assert not view.rows[1].finished


def test_runs_are_named_by_the_ends_of_their_paths(run: Path, other: Path, programs: Path) -> None:
    assert [row.name for row in compare_runs([run, programs]).rows] == ["run", "programs"]
    names = [row.name for row in compare_runs([run, other]).rows]
    assert names == [f"{run.parent.name}/run", f"{other.parent.name}/run"]


def test_folds_are_pooled(by_hand: Any, run: Path, tmp_path: Path) -> None:
    folded = by_hand.folds(tmp_path / "folded")
    view = compare_runs([folded, run])
    assert view.rows[0].evolved is not None
    assert view.rows[0].evolved.n == 12
    assert view.differences[0].n == 6  # the questions of the first fold
    assert view.differences[0].delta == 0


def test_the_page_shows_all_of_it(run: Path, other: Path, programs: Path, tmp_path: Path) -> None:
    page = write_comparison(compare_runs([run, other, programs]), tmp_path / "all.html")
    text = page.read_text(encoding="utf-8")
    assert "<h1>3 runs compared</h1>" in text
    assert "What each run gained" in text
    assert f"Evolved memories against that of {run.parent.name}/run, on the same questions" in text
    assert "prefers-color-scheme: dark" in text
    assert "<script>" not in text


def test_values_are_plain(run: Path, programs: Path) -> None:
    values = compare_runs([run, programs]).model_dump()
    assert values["rows"][0]["gain"]["delta"] == pytest.approx(0.25)
    assert values["landscape"] is None  # its programs are stand-ins, no Python


def test_what_cannot_be_compared_is_told(run: Path, programs: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least two"):
        compare_runs([run])
    with pytest.raises(InputError, match="named twice"):
        compare_runs([run, run / ".." / run.name])
    with pytest.raises(RunError, match="not a run folder"):
        compare_runs([run, tmp_path])
    with pytest.raises(RunError, match="cannot be written"):
        write_comparison(compare_runs([run, programs]), tmp_path)
