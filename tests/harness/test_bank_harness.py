"""The bank as a harness: one unit a message, written once for every configuration that reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from memgene.agents.offline import OfflineAgent
from memgene.agents.protocol import Agent
from memgene.bank.protocol import Value
from memgene.bank.unit import MemoryUnit
from memgene.core import ConfigError, Context, Episode, Filled, Message
from memgene.embed.hashing import HashingEmbedder
from memgene.embed.static import StaticEmbedder
from memgene.engine.learned import LearnedMemory
from memgene.evaluation.memories import Holds, MemoryPool, SharedWrites
from memgene.genome import GenomeBundle
from memgene.harness.bank import BankHarness, BankHarnessFactory
from memgene.harness.protocol import NO_ITEM, QUERY_TEXT, Harness
from memgene.harness.registry import STATIC, bank_factory, harness_names, make_factory
from memgene.retrieval.config import RetrievalConfig

MAY = Episode(
    "may",
    (
        Message("I bought a boat.", "m1", "Anna"),
        Message("Which colour?", "m2", "Ben"),
        Message("  ", "m3", "Anna"),
        Message("Look.", None, "Anna", caption="a red boat"),
    ),
    group="g",
    time=datetime(2024, 5, 8),
)
JUNE = Episode("june", (Message("It sank.", "j1", "Anna"),), "g", datetime(2024, 6, 1))


class CountingEmbedder(HashingEmbedder):
    """Counts the texts it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.texts = 0

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.texts += len(texts)
        return super().embed(texts)


def read(harness: BankHarness, text: str) -> Context:
    return harness.read(Filled(QUERY_TEXT, {"query_text": text}))


@pytest.fixture
def factory() -> BankHarnessFactory:
    return BankHarnessFactory(RetrievalConfig(), HashingEmbedder())


@pytest.fixture
def harness(factory: BankHarnessFactory) -> Iterator[BankHarness]:
    made = factory()
    for episode in (MAY, JUNE):
        made.write(Filled(NO_ITEM), episode)
    yield made
    made.close()


def test_it_asks_for_no_item_and_a_query_text_and_ranks(harness: BankHarness) -> None:
    assert (harness.name, harness.item_schema, harness.query_schema) == (
        "bank",
        NO_ITEM,
        QUERY_TEXT,
    )
    assert harness.yields_hits
    assert harness.instructions.query == harness.instructions.response == ""


def test_a_read_gives_the_ranking_the_pool_and_the_text(harness: BankHarness) -> None:
    context = read(harness, "Which boat did Anna buy?")
    assert context.hits is not None
    assert context.hits[0].refs == ("m1",)
    assert context.text.splitlines()[0] == "[8 May 2024] Anna: I bought a boat."
    assert context.shown == len(context.text.splitlines()) == len(context.hits)
    assert set(context.pool) == {"m1", "m2", "j1"}  # a turn without an id has no ref
    assert context.notes["question_type"] == "single"


def test_hits_are_the_ranking_before_the_context_cut(factory: BankHarnessFactory) -> None:
    narrow = BankHarnessFactory(RetrievalConfig(context_k=1), HashingEmbedder())()
    narrow.write(Filled(NO_ITEM), MAY)
    context = read(narrow, "Which boat did Anna buy?")
    assert context.hits is not None
    assert (context.shown, len(context.hits)) == (1, 3)
    assert [bool(hit.why.views) for hit in context.hits] == [True, False, False]
    narrow.close()


def test_it_says_what_it_holds(harness: BankHarness) -> None:
    assert isinstance(harness, Holds)
    asked = ("m1", "m3", "j1", "may", "june", "july")
    assert set(harness.holds(asked)) == {"m1", "j1", "may", "june"}


def test_each_harness_is_fresh(factory: BankHarnessFactory, harness: BankHarness) -> None:
    other = factory()
    assert read(other, "boat").hits == ()
    assert read(harness, "boat").hits
    other.close()


# -- shared writes


def test_configurations_share_what_was_written(harness: BankHarness) -> None:
    first = BankHarnessFactory(RetrievalConfig(), HashingEmbedder())
    second = BankHarnessFactory(RetrievalConfig(context_k=1), HashingEmbedder(), name="narrow")
    assert isinstance(first, SharedWrites)
    attached = second.attach(first.memory(harness))
    assert attached.name == "narrow"
    assert read(attached, "boat").shown == 1
    attached.close()
    assert read(harness, "boat").shown > 1


def test_reading_with_another_configuration_embeds_no_text_again() -> None:
    embedder = CountingEmbedder()
    owner = BankHarnessFactory(RetrievalConfig(), embedder)
    written = owner()
    written.write(Filled(NO_ITEM), MAY)
    assert embedder.texts == 3
    other = BankHarnessFactory(RetrievalConfig(window=2), embedder).attach(owner.memory(written))
    read(other, "Which boat did Anna buy?")
    assert embedder.texts == 4
    written.close()


def test_what_is_written_through_one_is_read_by_the_other(
    factory: BankHarnessFactory, harness: BankHarness
) -> None:
    attached = factory.attach(factory.memory(harness))
    attached.write(
        Filled(NO_ITEM), Episode("july", (Message("A new canoe.", "x1", "Ben"),), group="g")
    )
    context = read(harness, "canoe")
    assert context.hits is not None
    assert context.hits[0].refs == ("x1",)


def test_writes_are_shared_by_one_embedder_only() -> None:
    def key(embedder: HashingEmbedder | None, **changes: int) -> str:
        return BankHarnessFactory(RetrievalConfig(**changes), embedder).write_key  # type: ignore[arg-type]

    assert key(HashingEmbedder()) == key(HashingEmbedder(), window=3)
    assert len({key(HashingEmbedder(64)), key(HashingEmbedder(32)), key(None)}) == 3


# -- by name


def test_every_static_harness_can_be_made_by_name(static_embedder: StaticEmbedder) -> None:
    assert set(STATIC) <= set(harness_names())
    for name in STATIC:
        made = make_factory(name, embedder=static_embedder)()
        assert made.name == name
        made.write(Filled(NO_ITEM), MAY)
        made.read(Filled(QUERY_TEXT, {"query_text": "boat"}))
        made.close()


@pytest.fixture(scope="module")
def static_embedder() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.mark.parametrize(
    ("name", "views"),
    [
        ("bm25", {"lexical"}),
        ("vector", {"dense"}),
        ("hybrid-rrf", {"lexical", "dense"}),
        ("bank", {"lexical", "window", "episode", "dense", "structured"}),
    ],
)
def test_names_stand_for_configurations(name: str, views: set[str]) -> None:
    harness = make_factory(name, embedder=HashingEmbedder())()
    harness.write(Filled(NO_ITEM), MAY)
    context = harness.read(Filled(QUERY_TEXT, {"query_text": "Which boat did Anna buy?"}))
    assert context.hits is not None
    assert set(context.hits[0].why.views) == views
    assert all(hit.why.factors == {} for hit in context.hits)
    harness.close()


def test_a_genome_is_read_from_its_path(tmp_path: Path) -> None:
    bundle = GenomeBundle(RetrievalConfig(context_k=1), "hashing", "config")
    path = bundle.save(tmp_path / "best.memgene.zip")
    harness = make_factory(f"genome:{path}")()
    assert harness.name == f"genome:{path}"
    harness.write(Filled(NO_ITEM), MAY)
    assert harness.read(Filled(QUERY_TEXT, {"query_text": "boat"})).shown == 1
    harness.close()


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'bn25'.*bm25.*genome:PATH"):
        make_factory("bn25")


def test_the_soft_view_has_word_vectors_whatever_the_embedder(
    static_embedder: StaticEmbedder,
) -> None:
    config = RetrievalConfig(soft_k=20)
    for embedder in (static_embedder, HashingEmbedder()):
        harness = bank_factory(config, embedder)()
        harness.write(Filled(NO_ITEM), MAY)
        context = read(harness, "vessel")
        assert context.hits is not None
        assert "soft" in context.hits[0].why.views
        harness.close()


# -- with what an earlier life of the memory learned

BOAT = "I bought a boat."


def taught(factory: BankHarnessFactory) -> LearnedMemory:
    """A memory in which one turn proved of use, and a note was made of it."""
    with closing(factory()) as harness:
        harness.write(Filled(NO_ITEM, {}), MAY)
        bank = harness.engine.bank
        (boat,) = (unit.id for unit in bank.scan(None) if unit.content == BOAT)
        bank.set_values([Value(boat, "", 0.9, 4)])
        about = {"distilled": True, "parents": [boat]}
        harness.engine.write([MemoryUnit("Boats are bought in May.", metadata=about)])
        return LearnedMemory.of([bank])


def values_of(harness: BankHarness) -> dict[str, float]:
    units = list(harness.engine.bank.scan(None))
    named = {unit.id: unit.content for unit in units}
    return {named[v.unit_id]: v.q for v in harness.engine.bank.values(list(named))}


def test_learning_is_added_to_what_was_written(factory: BankHarnessFactory) -> None:
    learned = taught(factory)
    with closing(
        BankHarnessFactory(RetrievalConfig(), HashingEmbedder(), learned=learned)()
    ) as harness:
        harness.write(Filled(NO_ITEM, {}), JUNE)
        assert values_of(harness) == {}  # nothing of it is about this
        harness.write(Filled(NO_ITEM, {}), MAY)
        found = read(harness, "boat")
        assert values_of(harness)[BOAT] == 0.9
        assert "Boats are bought in May." in {hit.text for hit in found.hits or ()}
        again = read(harness, "boat")
        assert [hit.id for hit in again.hits or ()] == [hit.id for hit in found.hits or ()]


def test_memories_with_other_learning_are_not_shared(factory: BankHarnessFactory) -> None:
    def key(learned: LearnedMemory | None) -> str:
        made = BankHarnessFactory(RetrievalConfig(), HashingEmbedder(), learned=learned)
        return made.write_key

    learned = taught(factory)
    fewer = LearnedMemory(values=learned.values)
    assert key(None) == key(LearnedMemory.empty()) == factory.write_key
    assert len({key(None), key(learned), key(fewer)}) == 3
    assert key(learned) == key(LearnedMemory.from_jsonl(learned.to_jsonl()))


def test_a_pool_shares_the_memory_with_its_learning(factory: BankHarnessFactory) -> None:
    learned = taught(factory)

    def write(harness: Harness, agent: Agent) -> None:
        harness.write(Filled(NO_ITEM, {}), MAY)

    with MemoryPool() as pool:
        for config in (RetrievalConfig(), RetrievalConfig(context_k=3)):
            made = BankHarnessFactory(config, HashingEmbedder(), learned=learned)
            reader = pool.open(made, "may", write, OfflineAgent())
            assert isinstance(reader, BankHarness)
            assert values_of(reader)[BOAT] == 0.9
            read(reader, "boat")
            reader.close()
        plain = pool.open(factory, "may", write, OfflineAgent())
        assert isinstance(plain, BankHarness)
        assert values_of(plain) == {}


def test_a_genome_brings_its_learning_along(factory: BankHarnessFactory, tmp_path: Path) -> None:
    bundle = GenomeBundle(RetrievalConfig(), "hashing", "coevolve", memory=taught(factory))
    path = bundle.save(tmp_path / "grown")
    made = make_factory(f"genome:{path}")
    with closing(made()) as harness:
        assert isinstance(harness, BankHarness)
        harness.write(Filled(NO_ITEM, {}), MAY)
        read(harness, "boat")
        assert values_of(harness)[BOAT] == 0.9
