"""`toolkit.bank` finds what a bank harness finds, asks the host little, and says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from memgene.core import ConfigError, Filled, InputError
from memgene.embed.hashing import HashingEmbedder
from memgene.embed.protocol import Vectors
from memgene.engine.models import EngineModels
from memgene.harness.bank import BankHarness, BankHarnessFactory
from memgene.harness.program import raw_text_of
from memgene.harness.protocol import NO_ITEM, QUERY_TEXT
from memgene.programs.guest.bank import BankTool, check_bank_config, prepare_bank
from memgene.programs.guest.configuring import received, sent
from memgene.programs.guest.models import described
from memgene.programs.stage_host import SandboxedStages
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.observing import features_of
from memgene.retrieval.router.observation import TWO_ROUTES
from memgene.retrieval.router.router import Router
from memgene.retrieval.stages.stage import Stage
from memgene.testing import tiny_task

_FRESH = Router.fresh(TWO_ROUTES, features_of(TWO_ROUTES))
_TRAINED = replace(_FRESH, arrays={**_FRESH.arrays, "head_bias": np.array([-1.0, 1.0])})
ROUTED = RetrievalConfig(fusion="q_rrf", self_routing="rules", router=_TRAINED)


class StaticHashing(HashingEmbedder):
    """One that is static, as far as retrieval can tell."""

    def words(self, words: Sequence[str]) -> Vectors:
        return self.embed(words)


class Asked:
    """The host's side: an embedder, and what it was asked."""

    def __init__(self, embedder: HashingEmbedder) -> None:
        self.embedder = embedder
        self.texts: list[list[str]] = []
        self.single: list[list[str]] = []
        self.failing = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.failing:
            raise RuntimeError("no answer")
        self.texts.append(list(texts))
        return self.embedder.embed(texts)

    def words(self, words: Sequence[str]) -> Vectors:
        self.single.append(list(words))
        return self.embedder.embed(words)


def first_message(
    config: RetrievalConfig | None = None,
    embedder: HashingEmbedder | None = None,
    words: Any = None,
) -> dict[str, Any]:
    told = {**sent(config), **described(embedder, words)}
    return dict(json.loads(json.dumps(told)))


@pytest.fixture
def asked() -> Asked:
    return Asked(HashingEmbedder())


@pytest.fixture
def bank(asked: Asked) -> Iterator[BankTool]:
    with closing(
        BankTool(first_message(embedder=asked.embedder), asked.embed, asked.words)
    ) as made:
        yield made


CONFIGS = {
    "default": RetrievalConfig(),
    "minimal": RetrievalConfig.minimal(),
    "soft": RetrievalConfig().changed(soft_k=20, window=2),
    "rrf": RetrievalConfig().changed(fusion="rrf", context_k=3),
    "routed": ROUTED,
}


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("make", [HashingEmbedder, StaticHashing, None])
def test_it_finds_what_the_bank_harness_finds(
    name: str, make: Callable[[], HashingEmbedder] | None
) -> None:
    config = CONFIGS[name]
    embedder = make() if make else None
    static = embedder if isinstance(embedder, StaticHashing) else None
    task = tiny_task()
    asked = Asked(embedder or HashingEmbedder())
    with (
        closing(BankHarnessFactory(config, embedder, static)()) as harness,
        closing(
            BankTool(first_message(config, embedder, static), asked.embed, asked.words)
        ) as tool,
    ):
        for episode in task.episodes:
            harness.write(Filled(NO_ITEM), episode)
            tool.add_episode(raw_text_of(episode), source=episode.id)
        for labelled in task.questions:
            text = labelled.question.text
            assert_same(harness, tool, text, config)
        assert tool.count() == 36


def assert_same(harness: BankHarness, tool: BankTool, text: str, config: RetrievalConfig) -> None:
    expected = harness.read(Filled(QUERY_TEXT, {"query_text": text}))
    assert expected.hits
    assert [
        (h.id, h.text, h.rendered, h.score, h.source, h.speaker, h.time)
        for h in tool.search(text, limit=50)
    ] == [
        (h.id, h.text, h.rendered, h.score, h.source, h.speaker, h.event_time)
        for h in expected.hits
    ]
    assert tool.context(text, characters=config.context_chars) == expected.text


def test_single_units_of_a_source_are_as_good_as_its_episode() -> None:
    (episode, *_) = tiny_task().episodes
    embedder = HashingEmbedder()
    made = []
    for whole in (True, False):
        asked = Asked(embedder)
        with closing(BankTool(first_message(embedder=embedder), asked.embed, asked.words)) as tool:
            if whole:
                tool.add_episode(raw_text_of(episode), source="s")
            else:
                for m in episode.messages:
                    tool.add(m.content, speaker=m.speaker, source="s", time=episode.time)
            made.append(tool.search("Which colour is the door?"))
    assert made[0] == made[1]
    assert made[0]


class TestAdding:
    def test_what_was_added_comes_back(self, bank: BankTool) -> None:
        found = bank.add(
            "We sold the boat.",
            source="s1",
            speaker="Ana",
            time="8 May 2023, 1:56 pm",
            metadata={"kind": "fact", "tags": ["a"]},
        )
        (hit,) = bank.search("Who sold a boat?")
        assert hit.id == found
        assert hit.text == "We sold the boat."
        assert hit.rendered == "[8 May 2023, 1:56 pm] Ana: We sold the boat."
        assert (hit.source, hit.speaker, hit.time) == ("s1", "Ana", datetime(2023, 5, 8, 13, 56))
        assert hit.metadata == {"kind": "fact", "tags": ["a"]}
        assert hit.score > 0

    def test_the_same_again_is_the_same(self, bank: BankTool) -> None:
        assert bank.add("a fact") == bank.add("a  fact")
        assert bank.add("a fact", source="s") == bank.add("a fact", source="s")
        assert bank.add("a fact", source="s") != bank.add("a fact", source="t")
        episode = "Ana: Hello.\nBen: Hello."
        assert bank.add_episode(episode) == bank.add_episode(episode)
        assert bank.count() == 5
        assert len(bank.search("fact hello", limit=20)) == 5

    def test_what_is_said_twice_in_an_episode_is_two_units(self, bank: BankTool) -> None:
        bank.add_episode("Ana: Yes.\nBen: Really?\nAna: Yes.", source="s")
        bank.add_episode("Ana: Yes.", source="s")
        assert bank.count() == 4

    def test_the_date_line_or_the_argument_is_the_time(self, bank: BankTool) -> None:
        bank.add_episode("[8 May 2023]\nAna: The red boat.")
        bank.add_episode("[8 May 2023]\nAna: The blue boat.", time=datetime(2024, 1, 2))
        assert {hit.rendered for hit in bank.search("boat")} == {
            "[8 May 2023] Ana: The red boat.",
            "[2 January 2024] Ana: The blue boat.",
        }

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda b: b.add(""), "blank"),
            (lambda b: b.add(None), "text"),
            (lambda b: b.add("\ud800"), "surrogate"),
            (lambda b: b.add("x" * (1 << 20) + "x"), "1048576"),
            (lambda b: b.add("x", source=3), "source"),
            (lambda b: b.add("x", time=3), "time"),
            (lambda b: b.add("x", metadata={"a": {1, 2}}), "metadata"),
            (lambda b: b.add_episode(None), "text of an episode"),
            (lambda b: b.search(None), "query"),
            (lambda b: b.search("x", limit=0), "limit"),
            (lambda b: b.context("x", characters=0), "characters"),
        ],
    )
    def test_refuses(self, bank: BankTool, call: Callable[[Any], object], message: str) -> None:
        with pytest.raises(InputError, match=message):
            call(bank)
        assert bank.count() == 0


class TestReading:
    def test_an_empty_bank(self, bank: BankTool) -> None:
        assert bank.search("anything") == []
        assert bank.context("anything") == ""
        assert bank.count() == 0

    def test_an_empty_query(self, bank: BankTool) -> None:
        bank.add("a fact")
        assert isinstance(bank.search(""), list)

    def test_context_keeps_its_limits(self, bank: BankTool) -> None:
        for number in range(30):
            bank.add(f"Boat number {number} is red.")
        lines = bank.context("red boat").split("\n")
        assert len(lines) == RetrievalConfig().context_k
        assert len(bank.context("red boat", limit=30).split("\n")) == 30
        assert bank.context("red boat", limit=2).split("\n") == lines[:2]
        assert len(bank.context("red boat", characters=50)) <= 50
        assert bank.context("red boat", characters=10).endswith("…")
        assert len(bank.context("red boat", characters=10)) <= 10

    def test_the_configuration_s_own_limit_holds_too(self, asked: Asked) -> None:
        config = RetrievalConfig().changed(context_chars=200)
        told = first_message(config, asked.embedder)
        with closing(BankTool(told, asked.embed, asked.words)) as tool:
            for number in range(30):
                tool.add(f"Boat number {number} is red and quite long, as boats are.")
            assert 100 < len(tool.context("red boat", limit=30, characters=3000)) <= 200


class TestHostCalls:
    def test_all_that_waits_is_embedded_in_one_call(self, bank: BankTool, asked: Asked) -> None:
        for number in range(5):
            bank.add(f"fact {number}")
        assert bank.count() == 5
        assert asked.texts == []
        bank.search("fact")
        assert asked.texts == [[f"fact {n}" for n in range(5)], ["fact"]]
        bank.search("fact")
        assert len(asked.texts) == 2

    def test_nothing_is_lost_when_the_host_fails(self, bank: BankTool, asked: Asked) -> None:
        bank.add("a fact")
        asked.failing = True
        with pytest.raises(RuntimeError, match="no answer"):
            bank.search("fact")
        asked.failing = False
        assert len(bank.search("fact")) == 1

    def test_words_are_asked_for_once(self) -> None:
        embedder = StaticHashing()
        asked = Asked(embedder)
        config = RetrievalConfig().changed(soft_k=20)
        told = first_message(config, embedder, embedder)
        with closing(BankTool(told, asked.embed, asked.words)) as tool:
            tool.add("The red boat sank.")
            tool.search("Which vessel sank in the harbour?")
            assert len(asked.single) <= 2
            before = len(asked.single)
            tool.search("Which vessel sank in the harbour?")
            assert len(asked.single) == before
        every = [word for words in asked.single for word in words]
        assert len(every) == len(set(every))

    def test_words_are_not_asked_for_where_none_are_compared(self) -> None:
        embedder = StaticHashing()
        asked = Asked(embedder)
        told = first_message(None, embedder, embedder)
        with closing(BankTool(told, asked.embed, asked.words)) as tool:
            tool.add("The red boat sank.")
            assert tool.search("Which vessel sank?")
        assert asked.single == []


def test_levers_that_need_a_language_model_are_refused() -> None:
    for change in ({"extraction": "facts"}, {"decomposition": True}, {"rerank": "llm"}):
        with pytest.raises(ConfigError, match=next(iter(change))):
            check_bank_config(RetrievalConfig().changed(**change))
    check_bank_config(RetrievalConfig().changed(answer_style="list"))
    with pytest.raises(ConfigError, match="rerank"):
        BankTool(
            first_message(RetrievalConfig().changed(rerank="llm")),
            lambda texts: np.zeros((0, 1), np.float32),
            lambda words: np.zeros((0, 1), np.float32),
        )


def test_preparing_uses_a_bank_of_its_own() -> None:
    prepare_bank()


STAGED = (
    RetrievalConfig()
    .with_stage(
        Stage(
            "longest",
            'KIND = "rescorer"\nABOUT = "prefers long units, by chance a little"\nimport random\n'
            "def scores(query, hits):\n"
            '    hits.sort(key=lambda hit: hit["id"])\n'
            '    return [len(hit["text"]) / 200 + random.random() / 10 for hit in hits]\n',
        ),
        0.7,
    )
    .with_stage(
        Stage(
            "reversed",
            'KIND = "filter"\nABOUT = "the other way round"\n'
            "def keep(query, hits):\n    return list(range(len(hits)))[::-1]\n",
        ),
        1.0,
    )
    .with_stage(
        Stage(
            "last",
            'KIND = "view"\nABOUT = "the latest"\n'
            'def candidates(query, units):\n    return [(units[-1]["id"], 1.0)]\n',
        ),
        1.0,
    )
)


def test_stages_find_inside_what_they_find_outside() -> None:
    embedder = HashingEmbedder()
    task = tiny_task()
    asked = Asked(embedder)
    with (
        SandboxedStages() as host,
        closing(
            BankHarnessFactory(STAGED, embedder, models=EngineModels(stages=host))()
        ) as harness,
        closing(BankTool(first_message(STAGED, embedder), asked.embed, asked.words)) as tool,
    ):
        for episode in task.episodes:
            harness.write(Filled(NO_ITEM), episode)
            tool.add_episode(raw_text_of(episode), source=episode.id)
        for labelled in task.questions:
            assert_same(harness, tool, labelled.question.text, STAGED)
        read = harness.read(Filled(QUERY_TEXT, {"query_text": task.questions[0].question.text}))
        assert "degraded" not in read.notes
        assert read.hits is not None
        assert {"stage.longest", "stage.reversed"} <= set(read.hits[-1].why.factors)


def test_the_first_message_carries_configuration_router_and_stages() -> None:
    for config in (ROUTED, RetrievalConfig(window=2), STAGED):
        assert received(json.loads(json.dumps(sent(config)))) == config
    assert received(sent(None)) == RetrievalConfig()
