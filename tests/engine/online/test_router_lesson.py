"""A router is learned from feedback where it ranks better, and only there.

In the made world every query has a good memory that only the dense view finds and a bad one that
only the lexical view finds, stored before it: with equal weights they tie, and the bad one leads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from memgene.bank import MemoryUnit
from memgene.bank.protocol import Bank
from memgene.core import BankError, Scope
from memgene.embed.protocol import Vectors
from memgene.engine import MemoryEngine
from memgene.engine.online import LOG, learn
from memgene.engine.online.routing import LEAST_QUERIES
from memgene.engine.served_router import STATE, LearnedRouter
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.router.router import Router

ANN = Scope(user_id="ann")
CONFIG = RetrievalConfig(
    fusion="sum",
    window_k=0,
    episode_k=0,
    structured_k=0,
    soft_k=0,
    weight_speaker=0,
    weight_length=0,
    dense_center="off",
    dense_content_words="off",
)
TOPICS = 120


class TopicEmbedder:
    """`ask12` and `good12` mean the same; every other text means something of its own."""

    name = "topics"
    dimension = 256

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._one(text) for text in texts])

    def _one(self, text: str) -> Vectors:
        (word,) = [w for w in text.replace(":", " ").split() if w[-1].isdigit()][:1]
        meaning = word.replace("ask", "good")
        seed = int.from_bytes(hashlib.sha256(meaning.encode()).digest()[:4], "big")
        vector = np.random.default_rng(seed).standard_normal(self.dimension)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


@pytest.fixture
def engine(bank: Bank) -> MemoryEngine:
    engine = MemoryEngine(bank, TopicEmbedder(), CONFIG)
    units = [
        unit
        for topic in range(TOPICS)
        for unit in (
            MemoryUnit(f"bad{topic} of ask{topic}", ANN),
            MemoryUnit(f"good{topic}", ANN),
        )
    ]
    engine.write(units)
    return engine


def query(topic: int) -> str:
    return f"ask{topic}"


def first(engine: MemoryEngine, topic: int) -> str:
    return engine.retrieve(query(topic), ANN, limit=1).hits[0].text


def reward(engine: MemoryEngine, topics: Sequence[int], word: str = "good") -> None:
    ids = {unit.content.split()[0]: unit.id for unit in engine.bank.scan()}
    for topic in topics:
        with engine.bank.lesson(LOG):
            engine.bank.touch([ids[f"{word}{topic}"]], 1.0, query(topic))


def router_step(engine: MemoryEngine, scope: Scope | None = None) -> tuple[int, str]:
    (step,) = [s for s in learn(engine, scope).steps if s.name == "router"]
    return step.changed, step.reason


def test_a_router_that_ranks_better_is_kept_and_serves_later_searches(engine: MemoryEngine) -> None:
    taught, fresh = range(100), range(100, TOPICS)
    assert all(first(engine, topic).startswith("bad") for topic in range(TOPICS))
    reward(engine, taught)
    changed, said = router_step(engine)
    assert (changed, "kept" in said) == (1, True)
    # no reward was ever given for these
    assert all(first(engine, topic) == f"good{topic}" for topic in fresh)
    why = engine.retrieve(query(fresh[0]), ANN, limit=1).hits[0].why
    assert why.weights["dense"] > why.weights["lexical"]


def test_another_engine_on_the_same_bank_uses_it(engine: MemoryEngine) -> None:
    reader = MemoryEngine(engine.bank, TopicEmbedder(), CONFIG)
    assert first(reader, 110).startswith("bad")
    reward(engine, range(100))
    learn(engine)
    assert first(reader, 110) == "good110"
    engine.bank.undo(engine.bank.lessons(1)[0])
    assert first(reader, 110).startswith("bad")
    assert engine.bank.state(STATE) is None


def test_it_serves_the_configuration_and_embedder_it_was_trained_with(engine: MemoryEngine) -> None:
    reward(engine, range(100))
    learn(engine)
    other = engine.with_config(CONFIG.changed(weight_length=0.5))
    assert not other.retrieve(query(110), ANN, limit=1).hits[0].why.weights
    learned = LearnedRouter.read(engine.bank)
    assert learned is not None
    assert learned.serves(CONFIG, TopicEmbedder())
    assert not learned.serves(CONFIG, None)
    assert not learned.serves(CONFIG.changed(router=learned.router), TopicEmbedder())
    assert LearnedRouter.read(engine.bank) == learned


def test_a_configuration_with_a_router_of_its_own_keeps_it(engine: MemoryEngine) -> None:
    reward(engine, range(100))
    learn(engine)
    learned = LearnedRouter.read(engine.bank)
    assert learned is not None
    blank = Router.fresh(learned.router.routes, learned.router.features)
    own = engine.with_config(CONFIG.changed(router=blank))
    assert first(own, 110).startswith("bad")
    assert router_step(own) == (0, "the configuration has its own")
    assert LearnedRouter.read(engine.bank) == learned


def test_what_does_not_rank_better_is_not_kept(engine: MemoryEngine) -> None:
    reward(engine, range(100), "bad")  # these lead already
    changed, said = router_step(engine)
    assert (changed, "not kept" in said) == (0, True)
    assert engine.bank.state(STATE) is None


def test_a_router_that_became_worse_than_none_goes(engine: MemoryEngine) -> None:
    reward(engine, range(100))
    learn(engine)
    assert engine.bank.state(STATE) is not None
    ids = {unit.content.split()[0]: unit.id for unit in engine.bank.scan()}
    for _ in range(3):
        reward(engine, range(100), "bad")
        for topic in range(100):
            with engine.bank.lesson(LOG):
                engine.bank.touch([ids[f"good{topic}"]], 0.0, query(topic))
    changed, said = router_step(engine)
    assert (changed, "worse than none" in said) == (1, True)
    assert engine.bank.state(STATE) is None


def test_learning_again_from_the_same_log_keeps_the_same_router(engine: MemoryEngine) -> None:
    reward(engine, range(100))
    learn(engine)
    learned = engine.bank.state(STATE)
    assert learn(engine).lesson is None
    assert engine.bank.state(STATE) == learned
    engine.bank.undo(engine.bank.lessons(1)[0])
    learn(engine)
    assert engine.bank.state(STATE) == learned


def test_too_few_queries_teach_nothing_and_it_says_so(engine: MemoryEngine) -> None:
    reward(engine, range(LEAST_QUERIES - 1))
    said = f"{LEAST_QUERIES - 1} of the {LEAST_QUERIES}"
    assert router_step(engine)[1].startswith(said)


def test_a_fusion_without_routes_says_so(engine: MemoryEngine) -> None:
    reward(engine, range(60))
    ranks = engine.with_config(CONFIG.changed(fusion="rrf"))
    assert "rrf has nothing to weigh" in router_step(ranks)[1]
    typed = engine.with_config(CONFIG.changed(per_type={"when": {"fusion": "rrf"}}))
    assert "nothing to weigh in fusion 'rrf'" in router_step(typed)[1]


def test_one_owners_lesson_trains_none(engine: MemoryEngine) -> None:
    reward(engine, range(100))
    assert "serves every owner" in router_step(engine, ANN)[1]
    assert engine.bank.state(STATE) is None


def test_values_do_not_teach_the_router(engine: MemoryEngine) -> None:
    """What feedback made of values would tell the held-back answers."""
    reward(engine, range(100))
    learn(engine)
    without = LearnedRouter.read(engine.bank)
    for lesson in engine.bank.lessons(1):
        engine.bank.undo(lesson)
    weighted = replace(CONFIG, utility_weight=2.0)
    learn(engine.with_config(weighted))
    with_values = LearnedRouter.read(engine.bank)
    assert without is not None
    assert with_values is not None
    assert with_values.router == without.router


def test_what_cannot_be_read_is_named(engine: MemoryEngine) -> None:
    for content in (b"", b"nonsense", b'{"format": 9}\n', b'{"format": 1}\nxyz'):
        engine.bank.set_state(STATE, content)
        with pytest.raises(BankError, match="learned router"):
            engine.retrieve("ask1", ANN)
