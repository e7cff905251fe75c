"""Learned values in a search: additive, for the kind of query, and nothing while nothing was
learned."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.bank import Bank, MemoryUnit, UnitStatus
from memgene.bank.protocol import Value
from memgene.embed.static import StaticEmbedder
from memgene.engine import MemoryEngine
from memgene.engine.reading import Retrieval
from memgene.retrieval.clusters import STATE, QueryClusters, query_vectors
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.ranker import Ranker

Talk = Callable[..., list[MemoryUnit]]
CLEAN, HEAT = "clean the plate in the sink", "heat the soup in the oven"
RANKER = Ranker({"bm25": 1.0}, {"bm25": 0.0}, {"bm25": 1.0})


@pytest.fixture
def engine(bank: Bank, static: StaticEmbedder, talk: Talk) -> MemoryEngine:
    engine = MemoryEngine(bank, static, RetrievalConfig(utility_weight=1, value_shrink=1))
    engine.write(
        talk(
            "Anna: the sink is full of plates",
            "Ben: the oven is hot, the soup is on",
            "Anna: a towel beside the sink",
            "Ben: the plate is in the oven",
        )
    )
    return engine


def kinds(engine: MemoryEngine) -> dict[str, str]:
    """Two kinds of query in the bank; their names by an example."""
    assert engine.embedder is not None
    vectors = query_vectors([CLEAN, HEAT], engine.embedder)
    found = QueryClusters.fit(vectors, 2, seed=0, embedder=engine.embedder.name)
    engine.bank.set_state(STATE, found.to_bytes())
    return {CLEAN: found.assign(vectors[0]), HEAT: found.assign(vectors[1])}


def told(found: Retrieval) -> dict[str, float]:
    """The value term of each hit, by its place in the talk."""
    return {hit.refs[0]: hit.why.factors.get("utility", 0.0) for hit in found.hits}


def unit(engine: MemoryEngine, ref: str) -> str:
    return next(u.id for u in engine.bank.scan(None) if u.refs == (ref,))


# -- nothing learned, nothing changed


@pytest.mark.parametrize("fusion", ["weighted_sum", "sum", "rrf", "lexical_only", "learned"])
def test_without_feedback_no_weight_of_values_changes_anything(
    engine: MemoryEngine, fusion: str
) -> None:
    @settings(max_examples=15, deadline=None)
    @given(st.floats(0, 2), st.floats(0, 50), st.sampled_from([CLEAN, HEAT, "towel"]))
    def check(weight: float, shrink: float, question: str) -> None:
        plain = RetrievalConfig(fusion=fusion, ranker=RANKER, utility_weight=0)
        valued = plain.changed(utility_weight=weight, value_shrink=shrink)
        base = engine.with_config(plain).retrieve(question)
        assert engine.with_config(valued).retrieve(question).hits == base.hits

    check()


def test_clusters_without_values_change_nothing(engine: MemoryEngine) -> None:
    before = engine.retrieve(CLEAN).hits
    kinds(engine)
    assert engine.retrieve(CLEAN).hits == before


# -- additive


def test_a_value_adds_its_distance_from_the_neutral_one(engine: MemoryEngine) -> None:
    base = {hit.refs[0]: hit.score for hit in engine.retrieve(CLEAN).hits}
    engine.bank.set_values([Value(unit(engine, "talk:2"), "", 0.9)])
    found = engine.retrieve(CLEAN)
    scores = {hit.refs[0]: hit.score for hit in found.hits}
    assert scores == pytest.approx({**base, "talk:2": base["talk:2"] + 0.4})
    assert told(found)["talk:2"] == pytest.approx(0.4)


# -- by kind of query


def test_a_value_for_a_kind_of_query_counts_for_that_kind(engine: MemoryEngine) -> None:
    named = kinds(engine)
    towel = unit(engine, "talk:2")
    engine.bank.set_values(
        [Value(towel, "", 0.6, 4), Value(towel, named[CLEAN], 0.9, 3), Value(towel, "zz", 0.1, 9)]
    )
    assert told(engine.retrieve(CLEAN))["talk:2"] == pytest.approx((3 * 0.9 + 0.6) / 4 - 0.5)
    assert told(engine.retrieve(HEAT))["talk:2"] == pytest.approx(0.1)


def test_the_rank_by_value_is_that_for_the_kind_of_query(engine: MemoryEngine) -> None:
    named = kinds(engine)
    towel = unit(engine, "talk:2")
    engine.bank.set_values([Value(towel, named[CLEAN], 0.9, 3)])
    routed = engine.with_config(RetrievalConfig(fusion="q_rrf", utility_weight=0))
    by_kind = {}
    for question in (CLEAN, HEAT):
        hits = routed.retrieve(question).hits
        by_kind[question] = {h.refs[0]: h.why.features["value_rank"] for h in hits}
    assert by_kind[CLEAN]["talk:2"] == pytest.approx(0.5 / 61, abs=1e-6)
    assert by_kind[CLEAN]["talk:0"] == pytest.approx(0.5 / 62, abs=1e-6)
    assert set(by_kind[HEAT].values()) == {round(0.5 / 61, 6)}


def test_kinds_of_another_embedder_say_nothing(engine: MemoryEngine) -> None:
    assert engine.embedder is not None
    vectors = query_vectors([CLEAN, HEAT], engine.embedder)
    foreign = QueryClusters.fit(vectors, 1, seed=0, embedder="another")
    engine.bank.set_state(STATE, foreign.to_bytes())
    engine.bank.set_values([Value(unit(engine, "talk:2"), foreign.names[0], 0.9, 9)])
    assert told(engine.retrieve(CLEAN))["talk:2"] == 0


# -- the index follows the bank


def test_values_of_kinds_are_followed_and_can_go_again(engine: MemoryEngine) -> None:
    towel = unit(engine, "talk:2")
    engine.retrieve(CLEAN)
    with engine.bank.lesson("feedback"):
        named = kinds(engine)
        engine.bank.set_values([Value(towel, named[CLEAN], 0.9, 1)])
    assert told(engine.retrieve(CLEAN))["talk:2"] == pytest.approx((0.9 + 0.5) / 2 - 0.5)
    engine.bank.set_values([Value(towel, named[CLEAN], 0.1, 3)])
    assert told(engine.retrieve(CLEAN))["talk:2"] == pytest.approx((0.3 + 0.5) / 4 - 0.5)
    again = MemoryEngine(engine.bank, engine.embedder, engine.config)
    assert again.retrieve(CLEAN).hits == engine.retrieve(CLEAN).hits


def test_a_value_is_taken_over_beside_what_else_changed(engine: MemoryEngine) -> None:
    engine.retrieve(CLEAN)
    towel, others = unit(engine, "talk:2"), [u.id for u in engine.bank.scan(None)]
    engine.bank.set_values([Value(i, "", 0.7, 1) for i in others])
    engine.bank.set_status([next(i for i in others if i != towel)], UnitStatus.ARCHIVED)
    again = MemoryEngine(engine.bank, engine.embedder, engine.config)
    assert engine.retrieve(CLEAN).hits == again.retrieve(CLEAN).hits
    assert told(engine.retrieve(CLEAN))["talk:2"] == pytest.approx(0.2)


def test_a_lesson_that_is_taken_back_leaves_no_value(engine: MemoryEngine) -> None:
    before = engine.retrieve(CLEAN).hits
    with engine.bank.lesson("feedback"):
        named = kinds(engine)
        engine.bank.set_values([Value(unit(engine, "talk:2"), named[CLEAN], 0.9, 1)])
    assert engine.retrieve(CLEAN).hits != before
    (lesson,) = engine.bank.lessons()
    engine.bank.undo(lesson)
    assert engine.retrieve(CLEAN).hits == before


def test_a_unit_that_gets_another_text_keeps_its_values(engine: MemoryEngine) -> None:
    named = kinds(engine)
    towel = unit(engine, "talk:2")
    engine.bank.set_values([Value(towel, named[CLEAN], 0.9, 1)])
    engine.retrieve(CLEAN)
    (old,) = engine.bank.get([towel])
    engine.rewrite(old, "a dry towel beside the sink")
    assert told(engine.retrieve(CLEAN))["talk:2"] == pytest.approx(0.2)
