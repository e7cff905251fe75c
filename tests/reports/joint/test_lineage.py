"""The genomes of a joint evolution, and two of them side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from memgene.core import InputError
from memgene.reports.comparing import compare_candidates
from memgene.reports.lineage import read_lineage


def test_each_pass_adds_a_genome_below_the_one_it_was_given(done: Path) -> None:
    view = read_lineage(done)
    assert (view.strategy, view.best, view.promoted) == (
        "joint", "02-parameters/001", "02-parameters/001",
    )  # fmt: skip
    assert [(n.id, n.parent, str(n.status), n.score) for n in view.nodes] == [
        ("01-structure/000", None, "seed", 0.5),
        ("01-structure/002", "01-structure/000", "joined", 0.625),
        ("02-parameters/001", "01-structure/002", "promoted", 0.75),
        ("03-structure/001", "02-parameters/001", "refused", 0.5),
    ]
    assert view.nodes[3].regressed
    assert view.nodes[3].delta == -0.25
    assert [n.id for n in view.line("02-parameters/001")] == [
        "01-structure/000", "01-structure/002", "02-parameters/001",
    ]  # fmt: skip


def test_what_the_searches_inside_tried_is_named_by_its_pass(done: Path) -> None:
    inner = {node.id: node for node in read_lineage(done).inner}
    assert len(inner) == 3 + 2 + 2
    assert inner["01-structure/002"].title == "More neighbours"
    assert inner["02-parameters/001"].parent == "02-parameters/000"
    assert {n["id"] for n in read_lineage(done).model_dump()["inner"]} == set(inner)


def test_a_run_that_goes_on_has_its_best_so_far(going_on: Path) -> None:
    view = read_lineage(going_on)
    assert (view.best, view.promoted, view.finished) == ("02-parameters/001", None, False)


def test_genomes_differ_in_program_and_levers_and_by_question(done: Path) -> None:
    found = compare_candidates(done, "01-structure/000", "best")
    assert "-    NEAREST = 5" in found.patch
    assert "+    NEAREST = 9" in found.patch
    assert [(c.lever, c.a, c.b) for c in found.levers] == [("window", 1, 2)]
    (split,) = found.splits
    assert (split.split, split.n, split.a, split.b, split.gains) == ("val", 4, 0.5, 0.75, 1)


def test_what_a_pass_did_not_change_is_its_parents(done: Path) -> None:
    # The parameters pass writes a configuration alone, the structure pass a program alone.
    found = compare_candidates(done, "01-structure/002", "02-parameters/001")
    assert found.patch == ""
    assert [c.lever for c in found.levers] == ["window"]
    assert compare_candidates(done, "02-parameters/001", "03-structure/001").levers == ()


def test_candidates_inside_a_pass_can_be_named_too(done: Path) -> None:
    found = compare_candidates(done, "01-structure/001", "01-structure/002")
    assert found.names == ("01-structure/001", "01-structure/002")
    assert found.splits[0].delta == pytest.approx(0.625)


def test_an_unknown_name_is_told(done: Path) -> None:
    with pytest.raises(InputError, match="has no candidate '09-values/001'"):
        compare_candidates(done, "09-values/001", "best")
