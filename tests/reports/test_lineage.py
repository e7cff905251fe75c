"""Who came from whom in a run, and why some came to nothing: every value follows from the run that
is written by hand beside this file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.core import InputError, RunError
from memgene.reports.lineage import LineageView, Node, Rejection, Status, read_lineage
from memgene.reports.order import in_tree_order


def node(view: LineageView, name: str) -> Node:
    (found,) = [each for each in view.nodes if each.id == name]
    return found


@pytest.fixture(scope="module")
def view(programs: Path) -> LineageView:
    return read_lineage(programs)


def test_every_draft_is_a_node_in_the_order_in_which_they_were_made(view: LineageView) -> None:
    assert [(each.id, each.parent, each.iteration, str(each.status)) for each in view.nodes] == [
        ("000", None, 0, "seed"),
        ("001", None, 0, "seed"),
        ("002", None, 0, "refused"),
        ("003", "000", 1, "promoted"),
        ("004", "000", 2, "refused"),
        ("005", "003", 3, "refused"),
        ("006", "003", 4, "refused"),
        ("006.1", "003", 4, "joined"),
        ("007", "001", 5, "refused"),
        ("008", "006.1", 6, "refused"),
        ("008.1", "006.1", 6, "refused"),
    ]
    assert (view.strategy, view.metric, view.finished) == ("program", "token_f1", True)
    assert (view.best, view.promoted) == ("003", "003")


@pytest.mark.parametrize(
    ("name", "stage", "reason"),
    [
        ("002", "draft", "the gates refuse it: no write"),
        ("004", "duplicate", "the same program as 003"),
        ("005", "gate", "its parent is better on 2 paired questions"),
        ("006", "runtime", "it broke at work; mended as 006.1"),
        ("006.1", "recheck", "−25.0 against 000 on 2 fresh val questions"),
        ("007", "draft", "no reply held a program"),
        ("008", "runtime", "it still breaks at work: KeyError"),
        ("008.1", "runtime", "it still breaks at work: KeyError"),
    ],
)
def test_every_rejection_has_its_stage_and_reason(
    view: LineageView, name: str, stage: str, reason: str
) -> None:
    assert node(view, name).rejections == (Rejection(stage, reason),)


def test_who_was_not_turned_away_has_no_rejection(view: LineageView) -> None:
    assert [each.id for each in view.nodes if not each.rejections] == ["000", "001", "003"]


def test_scores_are_those_of_the_static_questions_and_deltas_those_to_the_parent(
    view: LineageView,
) -> None:
    scores = {each.id: each.score for each in view.nodes}
    assert scores == {
        "000": 0.375, "001": 0.125, "002": None, "003": 0.625, "004": None, "005": None,
        "006": 0.0, "006.1": 0.5, "007": None, "008": 0.0, "008.1": 0.0,
    }  # fmt: skip
    assert {each.id: each.delta for each in view.nodes if each.delta is not None} == {
        "003": 0.25,
        "006.1": -0.125,
    }


def test_regressions_failures_and_drafts_are_told(view: LineageView) -> None:
    assert [each.id for each in view.nodes if each.regressed] == ["006.1"]
    assert {each.id: each.failures for each in view.nodes if each.failures} == {"006.1": 1}
    assert {each.id: each.attempts for each in view.nodes if each.attempts > 1} == {
        "003": 2,
        "007": 4,
    }
    assert node(view, "003").proposer == "llm"
    assert node(view, "003").message.startswith("why 003")


def test_the_line_leads_from_a_seed_to_the_candidate(view: LineageView) -> None:
    assert [each.id for each in view.line("008")] == ["000", "003", "006.1", "008"]


def test_a_run_that_is_still_going_on_shows_what_there_is_at_every_moment(
    by_hand: Any, programs: Path, tmp_path: Path
) -> None:
    events = by_hand.programs()
    whole = [each.id for each in read_lineage(programs).nodes]
    folder = by_hand.write_programs(tmp_path / "run", events)
    lines = (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        (folder / "journal.jsonl").write_bytes(b"".join(lines[:count]) + b'{"format": 1, "se')
        view = read_lineage(folder)
        assert [each.id for each in view.nodes] == whole[: len(view.nodes)]
        assert not view.finished
        assert view.best in {None, *whole}


@pytest.mark.parametrize(
    ("events", "pending", "best"), [(3, ["000"], None), (5, [], "000"), (13, ["003"], "000")]
)
def test_a_candidate_without_a_verdict_is_pending_and_the_best_so_far_is_named(
    by_hand: Any, tmp_path: Path, events: int, pending: list[str], best: str | None
) -> None:
    view = read_lineage(by_hand.write_programs(tmp_path / "run", by_hand.programs()[:events]))
    assert [each.id for each in view.nodes if each.status is Status.PENDING] == pending
    assert (view.best, view.promoted) == (best, None)


def test_a_configuration_search_tells_its_line_from_its_own_events(run: Path) -> None:
    view = read_lineage(run)
    assert [(e.id, e.parent, str(e.status), e.title) for e in view.nodes] == [
        ("000", None, "seed", "start"),
        ("001", "000", "promoted", "window = 2"),
        ("002", "000", "refused", "fusion = rrf"),
        ("003", "001", "refused", "window = 2; neighbour_bonus = 0.3"),
    ]
    assert [each.score for each in view.nodes] == [0.375, 0.5, 0.125, 0.75]
    assert [each.delta for each in view.nodes] == [None, 0.125, -0.375, 0.25]
    assert node(view, "002").rejections == (
        Rejection("guard", "P(gain) 0.01"),
        Rejection("revert", "37.5 under the best, back to 001"),
    )
    assert node(view, "002").regressed
    assert view.best == "001"


def test_each_fold_has_a_lineage_of_its_own(by_hand: Any, tmp_path: Path) -> None:
    folder = by_hand.folds(tmp_path / "run")
    view = read_lineage(folder)
    assert view.nodes == ()
    assert [(Path(fold.run).name, len(fold.nodes)) for fold in view.folds] == [
        ("fold-1", 4),
        ("fold-2", 4),
    ]
    assert read_lineage(folder / "fold-2") == view.folds[1]


def test_the_dump_is_plain_json(view: LineageView) -> None:
    dumped = view.model_dump()
    assert dumped["nodes"][4]["rejections"] == [
        {"stage": "duplicate", "reason": "the same program as 003"}
    ]
    assert type(dumped["nodes"][4]["status"]) is str
    assert dumped["folds"] == []


@pytest.mark.parametrize(
    ("asked", "found"), [("006.1", "006.1"), ("best", "003"), ("vector", "000"), ("hybrid", "002")]
)
def test_candidates_are_found_by_id_by_a_seeds_title_and_as_best(
    view: LineageView, asked: str, found: str
) -> None:
    assert view.find(asked).id == found


def test_an_unknown_candidate_is_refused_with_what_there_is(view: LineageView) -> None:
    with pytest.raises(InputError, match="no candidate 'Longer chunks'; it has 000, 001, 002, …"):
        view.find("Longer chunks")


def test_a_title_that_two_seeds_share_needs_an_id() -> None:
    twins = tuple(Node(name, None, "vector", "", 0, Status.SEED) for name in ("000", "001"))
    view = LineageView("run", "program", "token_f1", False, twins)
    with pytest.raises(InputError, match="000, 001; use an id"):
        view.find("vector")


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"run\.toml"):
        read_lineage(tmp_path)


def planted(parents: list[int | None]) -> list[Node]:
    return [
        Node(str(n), None if p is None else str(p), "", "", 0, Status.JOINED)
        for n, p in enumerate(parents)
    ]


@given(st.data(), st.integers(1, 30))
def test_in_tree_order_each_candidate_stands_once_below_its_parent(
    data: st.DataObject, size: int
) -> None:
    nodes = planted(
        [data.draw(st.none() | st.integers(0, n - 1)) if n else None for n in range(size)]
    )
    ordered = list(in_tree_order(nodes))
    assert sorted(each.id for each, _ in ordered) == sorted(each.id for each in nodes)
    above: list[str] = []
    for each, depth in ordered:
        assert depth <= len(above)
        assert (above[depth - 1] if depth else None) == each.parent
        above = [*above[:depth], each.id]


def test_a_line_as_long_as_a_thousand_candidates_is_no_trouble() -> None:
    nodes = planted([None, *range(1999)])
    assert [depth for _, depth in in_tree_order(nodes)] == list(range(2000))
