"""What a genome learned joins a memory in use, once, and never over the memory's own life."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memgene import Memory, RetrievalConfig
from memgene.bank.protocol import RelationKind
from memgene.bank.unit import MemoryUnit
from memgene.core import Episode, Message
from memgene.embed import load_embedder
from memgene.engine.credit.give import give_credit
from memgene.engine.credit.interaction import Exposure, Interaction
from memgene.engine.credit.settings import CreditSettings
from memgene.engine.growth import GrowthSettings, control_growth
from memgene.engine.learned import LearnedMemory
from memgene.genome import GenomeBundle
from memgene.harness.bank import BankHarnessFactory

SESSION = Episode(
    "session",
    tuple(Message(text) for text in ("The boat is red.", "The dog is old.", "Rain fell all day.")),
    "session",
)
CONFIG = RetrievalConfig(utility_weight=0.5)
Open = Callable[[], Memory]


@pytest.fixture(scope="module")
def learned() -> LearnedMemory:
    """The boat was useful, a lesson was made of it, and the rain was retired."""
    harness = BankHarnessFactory(CONFIG, load_embedder("hashing"))()
    engine = harness.engine
    engine.remember(SESSION)
    boat, dog, _ = (unit.id for unit in engine.bank.scan())
    lesson = MemoryUnit("Ask about the boat's colour.")
    give_credit(engine, Interaction("the boat", (Exposure(boat),), 1.0, lesson), CreditSettings())
    give_credit(engine, Interaction("the dog", (Exposure(dog),), 0.9, None), CreditSettings())
    control_growth(engine, GrowthSettings(most=3))
    found = LearnedMemory.of([engine.bank])
    harness.close()
    return found


@pytest.fixture
def bundle(learned: LearnedMemory, tmp_path: Path) -> Path:
    assert all((learned.values, learned.distilled, learned.retired))
    made = GenomeBundle(CONFIG, "hashing", "coevolve", memory=learned)
    return Path(made.save(tmp_path / "best"))


@pytest.fixture
def opened(path: Path, bundle: Path) -> Open:
    return lambda: Memory(path, genome=bundle)


def utilities(memory: Memory) -> dict[str, float]:
    return {record.text: round(record.utility, 6) for record in memory.get_all()}


def test_values_lessons_and_retirements_join_what_they_are_about(opened: Open) -> None:
    with opened() as memory:
        memory.add(SESSION)
        assert set(utilities(memory).values()) == {0.5}
        memory.search("boat")
        assert utilities(memory) == {
            "The boat is red.": 0.65,  # 0.5 + 0.3 · (1 − 0.5)
            "The dog is old.": 0.62,
            "Ask about the boat's colour.": 1.0,  # as its interaction was rewarded
        }
        assert memory.verify().ok


def test_nothing_joins_memories_it_is_not_about(opened: Open) -> None:
    with opened() as memory:
        memory.add("The boat is red.")  # said elsewhere
        memory.add(SESSION, user_id="ann")  # another's
        memory.search("boat")
        assert utilities(memory) == {"The boat is red.": 0.5}
        assert {r.utility for r in memory.get_all(user_id="ann")} == {0.5}


def test_memories_that_come_later_get_theirs(opened: Open) -> None:
    with opened() as memory:
        memory.add("Something else.")
        memory.search("boat")
        memory.add(SESSION)
        memory.search("boat")
        assert utilities(memory)["The boat is red."] == 0.65


def test_feedback_in_use_outlasts_a_restart(opened: Open) -> None:
    with opened() as memory:
        memory.add(SESSION)
        (hit, *_) = memory.search("red boat")
        assert hit.text == "The boat is red."
        memory.feedback(hit, 0.0)
        assert utilities(memory)["The boat is red."] == 0.455  # 0.65 − 0.3 · 0.65
    with opened() as memory:
        memory.search("red boat")
        assert utilities(memory)["The boat is red."] == 0.455


def test_a_deleted_lesson_does_not_come_back(opened: Open) -> None:
    with opened() as memory:
        memory.add(SESSION)
        memory.search("boat")
        (lesson,) = (r for r in memory.get_all() if r.text.startswith("Ask"))
        memory.delete(lesson.id)
        memory.search("boat")
    with opened() as memory:
        memory.search("boat")
        assert "Ask about the boat's colour." not in utilities(memory)


def test_a_second_search_writes_nothing(opened: Open) -> None:
    with opened() as memory:
        memory.add(SESSION)
        memory.search("boat")
        version = memory.stats().version
        memory.search("boat")
        assert memory.stats().version == version
    with opened() as memory:
        memory.search("boat")
        assert memory.stats().version == version


def test_looking_at_facts_brings_nothing(opened: Open) -> None:
    with opened() as memory:
        memory.add(SESSION)
        version = memory.stats().version
        memory.get_all()
        assert memory.verify().ok
        assert memory.stats().version == version


def test_memories_are_linked_where_the_genome_expands_along_links(
    path: Path, tmp_path: Path
) -> None:
    config = RetrievalConfig(graph_expansion=True)
    bundle = GenomeBundle(config, "hashing", "config").save(tmp_path / "best")
    with Memory(path, genome=bundle) as memory:
        memory.add(SESSION)
        memory.search("boat")
        first, second, third = (record.id for record in memory.get_all())
        edges = {
            (edge.kind, edge.source_id, edge.target_id)
            for edge in memory._bank.relations([first, second, third])
        }
        assert edges == {
            (RelationKind.TIME, first, second),
            (RelationKind.TIME, second, third),
        }
