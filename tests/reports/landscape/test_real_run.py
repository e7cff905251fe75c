"""The landscape in the report of a program search that really ran, on the tiny task."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memgene.evolution.evolve import run_evolution
from memgene.evolution.programs.plan import ProgramPlan
from memgene.evolution.settings import EvolveSettings
from memgene.reports import write_report
from memgene.reports.landscape_reading import run_landscape, runs_landscape
from memgene.reports.lineage import read_lineage
from memgene.testing import tiny_task

PLAN = ProgramPlan(
    iterations=4, static_items=4, rotating_items=2, gate_items=2, finalists=1, repairs=1,
    seeds=("hybrid", "vector-search", "empty"),
)  # fmt: skip


@pytest.fixture(scope="module")
def evolved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real") / "run"
    settings = EvolveSettings(
        strategy="program", proposer="rule", program=PLAN, harnesses=("no-memory",)
    )
    run_evolution(tiny_task(), settings, folder)
    return folder


def test_its_page_shows_every_program_once(evolved: Path) -> None:
    text = write_report(evolved).read_text(encoding="utf-8")
    assert "<h2>The landscape of programs</h2>" in text
    wide = text[text.index("programs of") :]
    wide = wide[: wide.index("</svg>")]
    found = run_landscape(evolved)
    assert found is not None
    assert wide.count("<g><title>") == len(found.spots)
    assert len(re.findall(r'class="ring"', wide)) == 1
    assert "Different programs by storage architecture: " in (evolved / "report.md").read_text(
        encoding="utf-8"
    )


def test_its_programs_are_those_of_the_lineage(evolved: Path) -> None:
    found, view = run_landscape(evolved), read_lineage(evolved)
    assert found is not None
    nodes = {node.id: node for node in view.nodes}
    assert {spot.name for spot in found.spots} <= set(nodes)
    assert [spot.group for spot in found.spots[:3]] == ["seeds"] * 3
    assert all(spot.group.startswith("iteration") for spot in found.spots[3:])
    for spot in found.spots:
        assert spot.title == nodes[spot.name].title
        assert spot.best == (spot.name == view.best)
        if spot.group != "seeds":
            assert spot.parent == nodes[spot.name].parent


def test_equal_runs_give_equal_pages(evolved: Path) -> None:
    assert write_report(evolved).read_bytes() == write_report(evolved).read_bytes()


def test_several_runs_share_one_picture(evolved: Path) -> None:
    alone = run_landscape(evolved)
    found = runs_landscape([("a", "places", evolved), ("b", "people", evolved)])
    assert alone is not None
    assert found is not None
    assert found.groups == ("places", "people")
    assert len(found.spots) == 2 * len(alone.spots)
    half = len(alone.spots)
    for one, other in zip(found.spots[:half], found.spots[half:], strict=True):
        assert (one.name.removeprefix("a/"), one.x, one.y) == (
            other.name.removeprefix("b/"), other.x, other.y,
        )  # fmt: skip


def test_a_run_without_programs_has_none(run: Path) -> None:
    assert run_landscape(run) is None
    assert "landscape" not in write_report(run).read_text(encoding="utf-8")
