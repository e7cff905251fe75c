"""Stability over seeds, and the published ablations in one table."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean, stdev

import pytest

from memgene.api.ablating import ablate
from memgene.api.ablation_rows import SYSTEMS
from memgene.api.stability import SeedRow, StabilityReport, stability
from memgene.core import Budget, InputError
from memgene.genome import read_config
from memgene.testing import tiny_task

TASK = tiny_task()
ONE = Budget(iterations=1)


def test_mean_spread_and_wins_by_hand() -> None:
    rows = (
        SeedRow(0, 0.5, 0.4, "bm25", 0.3),
        SeedRow(1, 0.6, 0.6, "bank", 0.7),
        SeedRow(2, 0.7, 0.5, None, None),
    )
    found = StabilityReport("t", "config", "mrr", rows)
    assert found.mean == pytest.approx(0.5)
    assert found.std == pytest.approx(0.1)  # √((0.01 + 0.01 + 0) / 2)
    assert found.cv == pytest.approx(0.2)
    assert (found.wins, found.compared) == (1, 2)  # nothing is won against nothing
    assert [row[-1] for row in found.table().rows] == ["yes", "no", "–"]
    note = "held out 50.0 ± 10.0 (sample standard deviation), CV 20.0 %, 1 of 2 above the best "
    assert found.table().notes == (note + "static memory",)


def test_each_seed_is_a_run_of_its_own_and_is_not_made_again(tmp_path: Path) -> None:
    found = stability(TASK, "config", tmp_path, seeds=2, metric="recall@10", budget=ONE)
    journals = {p: p.read_bytes() for p in tmp_path.glob("seed-*/journal.jsonl")}
    assert len(journals) == 2
    assert [row.seed for row in found.rows] == [0, 1]
    assert {row.baseline for row in found.rows} <= {
        "bm25",
        "vector",
        "hybrid-rrf",
        "bank",
        "recent",
    }
    assert found.mean == pytest.approx(fmean(row.test for row in found.rows))
    assert found.std == pytest.approx(stdev(row.test for row in found.rows))
    assert json.loads((tmp_path / "stability.json").read_text()) == found.to_json()
    assert "| seed | best on val |" in (tmp_path / "stability.md").read_text()
    again = stability(TASK, "config", tmp_path, seeds=2, metric="recall@10", budget=ONE)
    assert again.to_json() == found.to_json()


def test_one_seed_tells_nothing_of_stability(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs at least 2 seeds, got 1"):
        stability(TASK, "config", tmp_path, seeds=1)


def test_every_row_stands_beside_the_whole_and_what_was_published(tmp_path: Path) -> None:
    found = ablate(TASK, tmp_path, systems="evolvemem", metric="recall@10", budget=ONE)
    rows = {each.row.name: each for each in found.rows}
    assert list(rows) == [row.name for row in SYSTEMS["evolvemem"].rows]
    assert rows["full"].against is None
    assert rows["no lexical views"].against is not None
    assert rows["no extraction guards"].held_out is None
    [table] = [found.table()]
    told = {row[1]: row for row in table.rows}
    assert told["no extraction guards"][2] == "not run: extraction needs a language model"
    assert told["no metadata"][4] == "−2.3"
    assert json.loads((tmp_path / "ablations.json").read_text()) == found.to_json()
    kept = (tmp_path / "evolvemem" / "no-lexical-views" / "seed-0" / "run.toml").read_text()
    assert "lexical_k = 0" in kept


def test_levers_that_are_held_for_all_rows_stay_held_beside_those_of_a_row(tmp_path: Path) -> None:
    ablate(
        TASK, tmp_path, systems="evolvemem", metric="recall@10", budget=ONE, held={"context_k": 3}
    )
    best = sorted(tmp_path.glob("evolvemem/*/seed-0/best/retrieval.toml"))
    assert len(best) == len([row for row in SYSTEMS["evolvemem"].rows if not row.skipped])
    assert {read_config(path).context_k for path in best} == {3}


@pytest.mark.parametrize(("system", "metric"), [("coevomem", "recall@10"), ("mstar", "token_f1")])
def test_other_systems_run_too(tmp_path: Path, system: str, metric: str) -> None:
    found = ablate(TASK, tmp_path, systems=[system], metric=metric, budget=ONE)
    assert all((each.held_out is None) == bool(each.row.skipped) for each in found.rows)


def test_what_cannot_be_put_into_one_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="programs give no ranking for recall@10"):
        ablate(TASK, tmp_path, metric="recall@10")
    with pytest.raises(InputError, match=r"there is no system \['mem'\]; there are mstar,"):
        ablate(TASK, tmp_path, systems="mem")
    assert not list(tmp_path.iterdir())
