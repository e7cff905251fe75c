"""What is deployed is what was measured: a genome recalls the same in an evaluation, as `Memory`,
and in any other process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memgene import Memory, RetrievalConfig
from memgene.agents.offline import OfflineAgent
from memgene.bank.unit import MemoryUnit
from memgene.core import Context, Episode, LabelledQuestion, Message
from memgene.embed import load_embedder
from memgene.engine import units_from_episode
from memgene.engine.credit.give import give_credit
from memgene.engine.credit.interaction import Exposure, Interaction
from memgene.engine.credit.settings import CreditSettings
from memgene.engine.learned import LearnedMemory
from memgene.genome import GenomeBundle
from memgene.harness.bank import BankHarnessFactory
from memgene.harness.registry import LoadedModels, make_factory
from memgene.programs.seeds import seed
from memgene.retrieval.observing import features_of
from memgene.retrieval.router.observation import TWO_ROUTES
from memgene.retrieval.router.router import Router
from memgene.settings import SandboxSettings
from memgene.testing import tiny_task

TASK = tiny_task()
GENOMES = ("config", "program", "coevolve", "learned")
ALL = 50


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "EMBEDDER", "AGENT", "SANDBOX_CHROMA"):
        monkeypatch.delenv(f"MEMGENE_{name}", raising=False)
    monkeypatch.setenv("MEMGENE_SANDBOX_LEVEL", "rlimits")


def _config(config: RetrievalConfig) -> GenomeBundle:
    return GenomeBundle(config, "hashing", "config")


def _routed() -> GenomeBundle:
    fresh = Router.fresh(TWO_ROUTES, features_of(TWO_ROUTES))
    trained = replace(fresh, arrays={**fresh.arrays, "head_bias": np.array([-1.0, 1.0])})
    return _config(RetrievalConfig(fusion="q_rrf", self_routing="rules", router=trained))


def _taught() -> GenomeBundle:
    """Values for a kind of query, and a lesson, learned of every episode."""
    config = RetrievalConfig(utility_weight=0.6)
    harness = BankHarnessFactory(config, load_embedder("hashing"))()
    for episode in TASK.episodes:
        harness.engine.remember(episode)
    for number, unit in enumerate(list(harness.engine.bank.scan())):
        lesson = MemoryUnit(f"Lesson {number}: {unit.content}") if number % 5 == 0 else None
        about = Interaction(unit.content, (Exposure(unit.id),), number % 3 / 2, lesson)
        give_credit(harness.engine, about, CreditSettings())
    learned = LearnedMemory.of([harness.engine.bank])
    harness.close()
    return replace(_config(config), memory=learned)


def _program(name: str) -> GenomeBundle:
    return replace(_config(RetrievalConfig(context_k=5)), program=seed(name).source)


KINDS: dict[str, Callable[[], GenomeBundle]] = {
    "configuration": lambda: _config(RetrievalConfig(fusion="rrf", context_k=4)),
    "links": lambda: _config(RetrievalConfig(graph_expansion=True)),
    "router": _routed,
    "learned memory": _taught,
    "program with the bank": lambda: _program("bank"),
    "program with vectors": lambda: _program("vector-search"),
    "program with lessons": lambda: _program("experience-learner"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_memory_recalls_what_an_evaluation_does(kind: str, tmp_path: Path) -> None:
    genome = KINDS[kind]().save(tmp_path / "best.memgene")
    group = TASK.questions[0].group
    episodes = [episode for episode in TASK.episodes if episode.group == group]
    asked = [question for question in TASK.questions if question.group == group]
    measured = evaluated(genome, episodes, asked)
    with Memory(tmp_path / "agent.db", genome=genome) as memory:
        for episode in episodes:
            memory.add(episode)
    with Memory(tmp_path / "agent.db", genome=genome) as memory:
        for question, context in zip(asked, measured, strict=True):
            found = memory.search(question.question.text, limit=ALL)
            assert found.context == context.text
            if context.hits is not None:
                assert [(hit.line, hit.score) for hit in found] == [
                    (hit.rendered, hit.score) for hit in context.hits[:ALL]
                ]


def test_memories_have_the_ids_that_learning_knows_them_by(memory: Memory) -> None:
    """Also behind a message without words, whose place stays empty."""
    said = (Message("Look at this.", speaker="Ann"), Message(" "), Message("A boat."))
    episode = Episode("session", said, "session")
    written = [unit.identity() for unit in units_from_episode(episode)]
    assert list(memory.add(episode).ids) == written
    assert list(memory.add(episode).ids) == written  # handed in again


def evaluated(
    genome: Path, episodes: list[Episode], asked: list[LabelledQuestion]
) -> list[Context]:
    """What `genome:PATH` reads in an evaluation with the offline agent."""
    agent = OfflineAgent()
    with LoadedModels(sandbox=SandboxSettings(level="rlimits")) as models:
        harness = make_factory(f"genome:{genome}", models=models)()
        words = harness.instructions
        for episode in episodes:
            item = agent.extract(episode, harness.item_schema, words.knowledge_item)
            harness.write(item, episode)
        queries = [
            agent.formulate(one.question, harness.query_schema, words.query) for one in asked
        ]
        found = [harness.read(query) for query in queries]
        harness.close()
    return found


EVOLVE = """
import sys, memgene
from dataclasses import replace
from pathlib import Path
from memgene.core import Budget
from memgene.engine.learned import LearnedMemory
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.evolve import run_evolution
from memgene.evolution.settings import EvolveSettings
from memgene.genome import GenomeBundle
from memgene.testing import tiny_task

folder = Path(sys.argv[1])
for strategy in ("config", "program"):
    memgene.evolve(
        tiny_task(), strategy=strategy, run_dir=folder / strategy,
        budget=Budget(iterations=1), seed=0, embedder="hashing", harness="bank",
    )
plan = "cycles=1,hidden=0,bound=1.5,rate=0.3,baseline=group,samples=4"
asked = EvolveSettings(
    strategy="coevolve", metric="hit@1", coevolve=CoevolvePlan.paper().parsed(plan),
    harnesses=("bm25",), seed=1,  # of a run whose router is promoted
)
run_evolution(tiny_task(), asked, folder / "coevolve")
learned = LearnedMemory.from_jsonl((folder / "coevolve/candidates/002/memory.jsonl").read_text())
routed = GenomeBundle.load(folder / "coevolve" / "best")
replace(routed, memory=learned).save(folder / "learned" / "best")
"""

SERVE = """
import json, sys, memgene
from memgene.testing import tiny_task

task, found = tiny_task(), {}
for strategy in ("config", "program", "coevolve", "learned"):
    with memgene.Memory(genome=f"{sys.argv[1]}/{strategy}/best") as memory:
        for episode in task.episodes:
            memory.add(episode)
        for asked in task.questions:
            result = memory.search(asked.question.text, limit=50)
            found[f"{strategy} {asked.question.id}"] = [result.model_dump(), result.context]
print(json.dumps(found))
"""


@pytest.mark.slow
def test_what_evolved_in_one_process_recalls_byte_for_byte_in_others(tmp_path: Path) -> None:
    once = elsewhere(EVOLVE + SERVE, tmp_path, "0")
    others = [elsewhere(SERVE, tmp_path, hashes) for hashes in ("1", "2")]
    assert others == [once, once]
    found = json.loads(once)
    assert len(found) == len(GENOMES) * len(TASK.questions)
    assert all(context for _, context in found.values())
    learned = GenomeBundle.load(tmp_path / "learned" / "best")
    assert learned.config.router is not None
    assert learned.memory is not None
    assert GenomeBundle.load(tmp_path / "program" / "best").program is not None
    recalled = [
        json.dumps([found[f"{genome} {asked.question.id}"] for asked in TASK.questions])
        for genome in GENOMES
    ]
    assert len(set(recalled)) == len(GENOMES)  # each genome recalls in its own way


def elsewhere(source: str, folder: Path, hashes: str) -> str:
    """The last line that a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", source, str(folder)],
        env={**os.environ, "PYTHONHASHSEED": hashes},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]
