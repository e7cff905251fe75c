"""From a run folder to what a report shows: every number worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memgene.core import RunError
from memgene.reports.load import load_view
from memgene.reports.model import Change, Verdict

METRIC = "recall@10"


def test_rounds_tell_what_was_tried_and_what_came_of_it(run: Path) -> None:
    (search,) = load_view(run).trajectories
    assert [(r.number, r.verdict) for r in search.rounds] == [
        (0, Verdict.START),
        (1, Verdict.ACCEPTED),
        (2, Verdict.REVERTED),
        (3, Verdict.REJECTED),
    ]
    assert [r.score for r in search.rounds] == [0.375, 0.5, 0.125, 0.75]
    assert [r.best for r in search.rounds] == [0.375, 0.5, 0.5, 0.5]
    assert search.rounds[1].changes == (Change("window", "1", "2"),)
    assert search.rounds[3].changes == (Change("neighbour_bonus", "0", "0.3"),)
    assert search.rounds[3].kind == "explore"
    assert "back to 001" in search.rounds[2].outcome
    assert search.rounds[1].causes == {"not_retrieved": 2, "ranked_low": 1}
    assert search.rounds[1].seconds == 1.75
    assert "3 rounds" in search.stopped


def test_zero_scores_are_counted_per_category_and_round_on_val_alone(run: Path) -> None:
    (search,) = load_view(run).trajectories
    assert [r.zeros for r in search.rounds] == [
        {"fact": (1, 2), "time": (1, 2)},
        {"fact": (0, 2), "time": (1, 2)},
        {"fact": (2, 2), "time": (1, 2)},
        {"fact": (0, 2), "time": (1, 2)},
    ]


def test_the_followed_question_is_the_one_that_gained_most(run: Path) -> None:
    followed = load_view(run).followed
    assert followed is not None
    assert followed.question.startswith("What of q1?")  # 0 at the start, ½ when accepted
    assert [(n, c.scores[METRIC]) for n, c in followed.steps] == [
        ("0", 0),
        ("1", 0.5),
        ("2", 0),
        ("3", 1),
    ]


def test_held_out_scores_and_differences_are_those_of_the_test_questions(run: Path) -> None:
    view = load_view(run)
    means = {name: scores[METRIC].mean for name, scores in view.rows.items()}
    assert means == pytest.approx({"evolved": 0.75, "start": 0.5, "bm25": 0.25, "genome:a b": 0.5})
    assert view.rows["evolved"][METRIC].n == 6
    assert view.rows["evolved"][METRIC].method == "questions"
    assert {d.name: d.delta for d in view.differences} == pytest.approx(
        {"start": 0.25, "bm25": 0.5, "genome:a b": 0.25}
    )
    assert all(d.low <= d.delta <= d.high for d in view.differences)


def test_the_best_static_memory_is_chosen_on_val(run: Path) -> None:
    # val means: bm25 (0 + 1 + 0 + ½) / 4, genome:a b (0 + 1 + 0 + 1) / 4
    assert load_view(run).best_static == "genome:a b"


def test_categories_have_minimum_and_spread(run: Path) -> None:
    evolved = load_view(run).categories[0]
    assert evolved.name == "evolved"
    assert evolved.means == {"fact": (1.0, 3), "time": (0.5, 3)}
    assert (evolved.minimum, evolved.std) == (0.5, 0.25)


def test_examples_are_what_gained_and_lost_most(run: Path) -> None:
    view = load_view(run)
    assert [e.after.question_id for e in view.fixed] == ["t1/0", "t1/2", "t1/4"]
    assert [e.after.question_id for e in view.broken] == ["t1/5"]


def test_cost_settings_and_fingerprints_are_collected(run: Path) -> None:
    view = load_view(run)
    assert view.usage == {"task": {"calls": 8, "fresh": 4, "tokens": 120, "cost": 2.0}}
    assert view.seconds == pytest.approx(4 * 1.75)
    assert view.evaluations == 16
    assert view.fingerprints == {"places": "f00d"}
    assert view.settings["git revision"] == "abc123"
    assert view.best == {"window": "2 (default 1)"}
    assert any("re-check of 001" in note for note in view.notes)


def test_folds_are_pooled_and_shown_one_by_one(by_hand: Any, tmp_path: Path) -> None:
    view = load_view(by_hand.folds(tmp_path / "run"))
    assert [one.name for one in view.trajectories] == ["fold 1", "fold 2"]
    assert view.rows["evolved"][METRIC].n == 12
    assert view.trajectories[1].test is not None
    assert view.trajectories[1].test.n == 6
    assert view.finished
    assert view.evaluations == 32


def test_a_run_that_is_still_going_on_shows_what_there_is(by_hand: Any, tmp_path: Path) -> None:
    folder = by_hand.write(tmp_path / "run", by_hand.search()[:13], final=False)
    view = load_view(folder)
    assert not view.finished
    assert view.rows == {}
    assert view.evolved is None
    assert [r.verdict for r in view.trajectories[0].rounds] == [
        Verdict.START,
        Verdict.ACCEPTED,
        Verdict.REVERTED,
    ]


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"run\.toml"):
        load_view(tmp_path)
