"""Two candidates of a run side by side; numbers follow from the runs written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memgene.core import InputError
from memgene.evaluation.statistics import paired_difference
from memgene.reports.comparing import LeverChange, compare_candidates


def test_programs_differ_by_lines(programs: Path) -> None:
    found = compare_candidates(programs, "vector", "best")
    assert found.names == ("000", "003")
    assert found.patch.splitlines()[:2] == ["--- 000/program.py", "+++ 003/program.py"]
    assert '-ORDER = "000"' in found.patch.splitlines()
    assert '+ORDER = "003"' in found.patch.splitlines()
    assert found.levers == ()
    assert (found.a.title, found.b.score) == ("vector", 0.625)


def test_scores_differ_question_by_question_and_split_by_split(programs: Path) -> None:
    found = compare_candidates(programs, "000", "003")
    assert [(q.id, q.split, q.a, q.b, q.delta) for q in found.questions] == [
        ("q1", "static", 0.0, 1.0, 1.0),
        ("q2", "static", 1.0, 1.0, 0.0),
        ("q3", "static", 0.0, 0.0, 0.0),
        ("q4", "static", 0.5, 0.5, 0.0),
        ("f0", "fresh", 0.5, 0.5, 0.0),
        ("f1", "fresh", 0.0, 1.0, 1.0),
    ]
    static, fresh = found.splits
    assert (static.split, static.n, static.a, static.b) == ("static", 4, 0.375, 0.625)
    assert (static.gains, static.losses, static.equal, static.delta) == (1, 0, 3, 0.25)
    assert (fresh.split, fresh.n, fresh.delta) == ("fresh", 2, 0.5)
    expected = paired_difference([1, 1, 0, 0.5], [0, 1, 0, 0.5], ["v1", "v2", "v3", "v4"], seed=0)
    assert (static.low, static.high, static.p) == (expected.low, expected.high, expected.p)
    assert static.method == "questions"


def test_the_other_way_round_gains_are_losses(programs: Path) -> None:
    there, back = (compare_candidates(programs, *p) for p in (("000", "003"), ("003", "000")))
    assert [(s.gains, s.losses, s.delta) for s in back.splits] == [
        (s.losses, s.gains, -s.delta) for s in there.splits
    ]


def test_a_program_that_the_paired_gate_stopped_is_compared_on_its_questions(
    programs: Path,
) -> None:
    found = compare_candidates(programs, "003", "005")
    assert [(q.id, q.delta) for q in found.questions] == [("q1", -1.0), ("q2", -1.0)]
    assert [(s.split, s.n, s.losses) for s in found.splits] == [("static", 2, 2)]


def test_a_program_that_was_never_evaluated_differs_in_text_alone(programs: Path) -> None:
    found = compare_candidates(programs, "003", "004")
    assert found.patch
    assert (found.splits, found.questions) == ((), ())


def test_a_candidate_without_a_program_says_why(programs: Path) -> None:
    with pytest.raises(InputError, match="007 has no program to compare: no reply held a program"):
        compare_candidates(programs, "001", "007")


def test_a_candidate_equals_itself(programs: Path) -> None:
    found = compare_candidates(programs, "003", "best")
    assert found.patch == ""
    assert all((s.delta, s.gains, s.losses) == (0.0, 0, 0) for s in found.splits)


def test_configurations_differ_by_levers(run: Path) -> None:
    found = compare_candidates(run, "000", "003")
    assert found.levers == (LeverChange("window", 1, 2), LeverChange("neighbour_bonus", 0.0, 0.3))
    assert found.patch == ""
    # val 0, 1, 0, ½ against 1, 1, 0, 1
    (val,) = found.splits
    assert (val.split, val.n, val.gains, val.losses, val.delta) == ("val", 4, 2, 0, 0.375)


def test_candidates_of_folds_are_named_with_their_fold(by_hand: Any, tmp_path: Path) -> None:
    folder = by_hand.folds(tmp_path / "run")
    found = compare_candidates(folder, "fold-1/000", "fold-2/best")
    assert found.names == ("fold-1/000", "fold-2/001")
    assert found.levers == (LeverChange("window", 1, 2),)
    with pytest.raises(InputError, match="FOLD/ID, of fold-1, fold-2"):
        compare_candidates(folder, "000", "001")
    with pytest.raises(InputError, match="no fold 'fold-9'; it has fold-1, fold-2"):
        compare_candidates(folder, "fold-9/000", "fold-1/001")


def test_the_dump_is_plain_json(programs: Path) -> None:
    dumped = compare_candidates(programs, "000", "003").model_dump()
    assert dumped["names"] == ["000", "003"]
    assert dumped["a"]["id"] == "000"
    assert dumped["splits"][0]["gains"] == 1
    assert dumped["questions"][0] == {
        "id": "q1",
        "split": "static",
        "category": "fact",
        "a": 0.0,
        "b": 1.0,
        "delta": 1.0,
    }
