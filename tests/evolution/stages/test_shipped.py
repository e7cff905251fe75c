"""The shipped stages are those that the kept runs accepted."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from memgene.core import ConfigError
from memgene.evolution.stages.gates import gate_stage
from memgene.evolution.stages.templates import TEMPLATES
from memgene.programs.stage_host import SandboxedStages
from memgene.retrieval.stages.shipped import shipped, shipped_names
from memgene.sandbox import Level

RUNS = Path(__file__).parents[3] / "docs" / "runs" / "stages"
FOUND = {"own_words": "own_words_1", "rare_words": "rare_words_2"}


def test_there_are_two() -> None:
    assert shipped_names() == tuple(FOUND)
    with pytest.raises(ConfigError, match=r"there is no stage 'x' here; choose one of own_words"):
        shipped("x")


@pytest.mark.parametrize("name", list(FOUND))
def test_it_is_what_the_run_accepted(name: str) -> None:
    made = {stage.name: stage.source for template in TEMPLATES for stage in template.stages()}
    assert shipped(name).source == made[FOUND[name]]
    lines = (RUNS / name / "journal.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    candidate = next(
        e["candidate"]
        for e in events
        if e["event"] == "proposed" and f"stage.{FOUND[name]}" in e["changes"]
    )
    accepted = next(e for e in events if e["event"] == "accepted" and e["candidate"] == candidate)
    assert accepted["probability"] >= 0.9
    with (RUNS / name / "scores.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["split"] == "val"]
    pairs = [(float(r["with"]), float(r["before"])) for r in rows if r["with"] and r["before"]]
    delta = sum(a - b for a, b in pairs) / len(pairs)
    assert delta == pytest.approx(accepted["delta"], abs=1e-9)


@pytest.mark.parametrize("name", list(FOUND))
def test_it_passes_every_gate(name: str) -> None:
    with SandboxedStages(require=Level.RLIMITS) as host:
        assert gate_stage(shipped(name).source, name, host) == ()


def test_records_hold_ids_and_scores_only() -> None:
    for path in RUNS.rglob("*.csv"):
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                assert len(row["question"].split()) == 1
                assert all(not row[n] or 0 <= float(row[n]) <= 1 for n in ("before", "with"))
