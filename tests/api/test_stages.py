"""Stages where users meet them: a memory, an evaluated genome, an evolution; processes end."""

from __future__ import annotations

from pathlib import Path

import pytest

from memgene import Memory, RetrievalConfig, evaluate
from memgene.genome import GenomeBundle
from memgene.harness.registry import LoadedModels, bank_factory
from memgene.retrieval.stages.stage import Stage
from memgene.testing import tiny_task

LAST_FIRST = Stage(
    "turned",
    'KIND = "filter"\nABOUT = "the other way round"\n'
    "def keep(query, hits):\n    return list(range(len(hits)))[::-1]\n",
)
HANGS = Stage(
    "hangs",
    'KIND = "rescorer"\nABOUT = "never ends"\n'
    "def scores(query, hits):\n    while True:\n        pass\n",
)
PLAIN = RetrievalConfig()
TURNED = PLAIN.with_stage(LAST_FIRST, 1)
TEXTS = ("The boat is red.", "A boat was sold.", "Our boat is at the mill.")


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "EMBEDDER", "AGENT", "SANDBOX_LEVEL"):
        monkeypatch.delenv(f"MEMGENE_{name}", raising=False)


def searched(config: RetrievalConfig | None, genome: Path | None = None) -> list[str]:
    embedder = None if genome else "hashing"
    with Memory(":memory:", config=config, genome=genome, embedder=embedder) as memory:
        for text in TEXTS:
            memory.add(text, user_id="ann")
        found = [hit.text for hit in memory.search("boat", user_id="ann")]
        assert (memory._stages is not None) == (config is not PLAIN)
    assert memory._stages is None or not memory._stages.running
    return found


def test_a_memory_runs_the_stages_of_its_configuration_and_ends_them() -> None:
    plain = searched(PLAIN)
    assert sorted(plain) == sorted(TEXTS)
    assert searched(TURNED) == plain[::-1]


def test_a_memory_runs_the_stages_of_its_genome(tmp_path: Path) -> None:
    GenomeBundle(TURNED, "hashing", "config").save(tmp_path / "best")
    assert searched(None, tmp_path / "best") == searched(TURNED)


def test_a_stage_that_hangs_costs_its_time_and_nothing_else() -> None:
    assert searched(PLAIN.with_stage(HANGS, 1)) == searched(PLAIN)


def test_an_evaluated_genome_runs_its_stages(tmp_path: Path) -> None:
    GenomeBundle(TURNED, "hashing", "config").save(tmp_path / "best")
    names = (f"genome:{tmp_path / 'best'}", "bank")
    report = evaluate(tiny_task(), names, split="all", embedder="hashing", metrics=("mrr",))
    turned, plain = (report.harness(name).metrics["mrr"].mean for name in names)
    assert turned < plain


def test_models_start_no_sandbox_for_a_configuration_without_stages() -> None:
    with LoadedModels() as models:
        assert models.engine(PLAIN).stages is None
        bank_factory(PLAIN, "hashing", models=models)().close()
        host = models.stages()
        assert models.engine(TURNED).stages is host
        assert not host.running
