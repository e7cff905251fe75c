"""States of a co-evolution: where each came from, and how two of them differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memgene.reports.coevolve_comparing import LearningChange, ValueMove
from memgene.reports.comparing import LeverChange, compare_candidates
from memgene.reports.lineage import Rejection, read_lineage


def test_every_state_is_a_node_below_the_one_training_went_on_from(run: Path) -> None:
    view = read_lineage(run)
    assert [(e.id, e.parent, e.title, str(e.status)) for e in view.nodes] == [
        ("000", None, "start", "seed"),
        ("001", "000", "router phase, cycle 1", "joined"),
        ("002", "001", "memory phase, cycle 1", "promoted"),
        ("003", "002", "router phase, cycle 2", "refused"),
        ("004", "003", "memory phase, cycle 2", "joined"),
    ]
    assert [e.score for e in view.nodes] == [0.25, 0.5, 0.75, 0.5, 1.0]
    assert (view.best, view.strategy, view.finished) == ("002", "coevolve", True)


def test_the_delta_is_the_distance_to_the_parent(run: Path) -> None:
    assert [e.delta for e in read_lineage(run).nodes] == [None, 0.25, 0.25, -0.25, 0.5]
    assert [e.id for e in read_lineage(run).nodes if e.regressed] == ["003"]


def test_a_state_says_why_it_is_not_what_the_run_yields(run: Path) -> None:
    rejections = {e.id: e.rejections for e in read_lineage(run).nodes if e.rejections}
    assert rejections == {
        "003": (Rejection("guard", "P(gain) of 003"),),
        "004": (Rejection("recheck", "−100.0 against 000 on 2 fresh val questions"),),
    }


def test_a_start_that_is_promoted_says_so(coevolved: Any, tmp_path: Path) -> None:
    from memgene.evolution.events import Promoted

    folder = coevolved.write(tmp_path / "run", [*coevolved.search()[:-1], Promoted("000", True)])
    assert [str(e.status) for e in read_lineage(folder).nodes[:2]] == ["promoted", "joined"]


def learning(run: Path, a: str, b: str) -> LearningChange:
    found = compare_candidates(run, a, b).learning
    assert found is not None
    return found


def test_two_states_differ_by_router_weights_and_values(coevolved: Any, run: Path) -> None:
    found = compare_candidates(run, "001", "003")
    digests = tuple(coevolved.states[name].config.router.digest for name in ("001", "003"))
    assert found.levers == (LeverChange("router", *digests),)
    assert found.learning is not None
    assert found.learning.routers == digests
    rows = [(w.question_type, w.n, w.before["dense"], w.after["dense"]) for w in
            found.learning.weights]  # fmt: skip
    # dense .4 .2 .6 .6 against .1 .1 .7 .7
    assert rows == [
        ("when", 2, pytest.approx(0.3), pytest.approx(0.1)),
        ("single", 2, pytest.approx(0.6), pytest.approx(0.7)),
        ("", 4, pytest.approx(0.45), pytest.approx(0.4)),
    ]


def test_a_value_that_was_never_learned_counts_as_neutral(run: Path) -> None:
    values = learning(run, "001", "002").values
    assert values is not None
    # u1 ½ → .9, u2 ½ → .25; d1 is new and no movement
    assert values.largest == (
        ValueMove("u1", None, 0.9, pytest.approx(0.4)),
        ValueMove("u2", None, 0.25, -0.25),
    )
    assert (values.known, values.moved, values.by_kind) == ((0, 3), 2, (0, 1))
    assert values.mean_move == pytest.approx(0.325)
    assert (values.distilled, values.retired) == ((0, 1), (0, 1))


def test_between_memory_phases_only_what_moved_is_told(run: Path) -> None:
    values = learning(run, "003", "004").values
    assert values is not None
    assert values.largest == (ValueMove("u1", 0.9, 0.8, pytest.approx(-0.1)),)
    assert values.distilled == (1, 2)


def test_a_router_phase_leaves_values_as_they_were(run: Path) -> None:
    values = learning(run, "002", "003").values
    assert values is not None
    assert (values.moved, values.mean_move, values.changed) == (0, 0.0, False)
    assert not learning(run, "002", "002").changed
    assert learning(run, "002", "003").changed


def test_movements_are_told_by_id_alone(run: Path) -> None:
    assert "tried" not in str(compare_candidates(run, "001", "004").model_dump()["learning"])


def test_without_the_files_of_values_the_rest_is_compared(coevolved: Any, tmp_path: Path) -> None:
    folder = coevolved.write(tmp_path / "run", coevolved.search())
    (folder / "candidates" / "001" / "memory.jsonl").unlink()
    found = learning(folder, "001", "003")
    assert found.values is None
    assert found.changed


def test_states_of_folds_are_compared(coevolved: Any, tmp_path: Path) -> None:
    folder = coevolved.folds(tmp_path / "run")
    found = compare_candidates(folder, "fold-1/001", "fold-2/best")
    assert found.names == ("fold-1/001", "fold-2/002")
    assert found.learning is not None
    assert found.learning.values is not None
    assert found.learning.values.moved == 2
