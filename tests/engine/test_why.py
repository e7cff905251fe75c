"""Every hit says why it stands where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

import pytest

from memgene.bank import Bank, MemoryUnit, SqliteBank
from memgene.bank.protocol import Value
from memgene.core import Hit
from memgene.embed.hashing import HashingEmbedder
from memgene.embed.static import StaticEmbedder
from memgene.engine import MemoryEngine
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.ranker import Ranker

Talk = Callable[..., list[MemoryUnit]]
VIEWS = ("lexical", "window", "episode", "dense", "soft", "structured")
FACTORS = {
    "importance_weight": "importance",
    "recency_weight": "recency",
    "reinforcement_weight": "reinforcement",
    "utility_weight": "utility",
    "neighbour_bonus": "neighbours",
}


@pytest.fixture(scope="module")
def engine(static: StaticEmbedder, talk: Talk) -> Iterator[MemoryEngine]:
    bank = SqliteBank(":memory:")
    engine = MemoryEngine(bank, static)
    engine.write(talk("Anna: a red boat", "Ben: which boat?", "Anna: the red one", "Ben: tea"))
    engine.write(
        [
            MemoryUnit(
                "a canoe in May", utility=0.8, event_time=datetime(2024, 5, 1), refs=("canoe",)
            )
        ]
    )
    yield engine
    bank.close()


def hits(engine: MemoryEngine, question: str, config: RetrievalConfig) -> dict[str, Hit]:
    return {hit.refs[0]: hit for hit in engine.with_config(config).retrieve(question).hits}


def test_the_rank_and_score_of_every_view_are_told(engine: MemoryEngine) -> None:
    found = hits(engine, "Which red boat did Anna buy in May?", RetrievalConfig(soft_k=20))
    assert all(set(hit.why.views) == set(VIEWS) for hit in found.values())
    for name in VIEWS:
        ranked = [h.why.views[name] for h in found.values() if h.why.views[name].rank is not None]
        ranked.sort(key=lambda v: v.rank or 0)
        assert [v.rank for v in ranked] == list(range(1, len(ranked) + 1)), name
        scores = [v.score for v in ranked]
        assert scores == sorted(scores, reverse=True), name


def test_a_view_that_did_not_return_a_unit_gives_no_rank(engine: MemoryEngine) -> None:
    config = RetrievalConfig(lexical_k=1, window_k=60, episode_k=0, dense_k=0, structured_k=0)
    found = hits(engine, "red boat", config)
    assert found["talk:0"].why.views["lexical"].rank == 1
    assert found["talk:3"].why.views["lexical"].rank is None
    assert found["talk:3"].why.views["lexical"].score == 0
    assert found["talk:3"].why.views["window"].rank is not None


def test_views_that_are_off_are_not_told_of(engine: MemoryEngine) -> None:
    plain = RetrievalConfig(fusion="lexical_only", utility_weight=0)
    (hit,) = hits(engine, "canoe", plain).values()
    assert set(hit.why.views) == {"lexical"}
    assert hit.why.fused == pytest.approx(hit.why.views["lexical"].score)
    assert hit.why.factors == hit.why.features == {}


@pytest.mark.parametrize("lever", FACTORS)
def test_a_factor_is_told_exactly_when_its_lever_is_on(engine: MemoryEngine, lever: str) -> None:
    plain = RetrievalConfig(utility_weight=0)
    on = hits(engine, "red boat", plain.changed(**{lever: 0.5}))
    assert all(set(hit.why.factors) == {FACTORS[lever]} for hit in on.values())
    off = hits(engine, "red boat", plain)
    assert all(hit.why.factors == {} for hit in off.values())


def test_a_value_is_told_of_only_where_one_was_learned(bank: Bank, talk: Talk) -> None:
    engine = MemoryEngine(bank, None)
    receipts = engine.write(talk("Anna: a red boat", "Ben: a blue boat"))
    assert all(hit.why.factors == {} for hit in engine.retrieve("boat").hits)
    bank.set_values([Value(receipts[0].id, "", 0.75)])
    told = {hit.id: hit.why.factors for hit in engine.retrieve("boat").hits}
    assert told == {receipts[0].id: {"utility": 0.15}, receipts[1].id: {"utility": 0.0}}


def test_fused_score_and_factors_explain_the_score(engine: MemoryEngine) -> None:
    config = RetrievalConfig(importance_weight=1, recency_weight=1, utility_weight=1)
    found = hits(engine, "red boat in May", config)
    fused = {ref: hit.why.fused for ref, hit in found.items()}
    low, high = min(fused.values()), max(fused.values())
    for ref, hit in found.items():
        factors = hit.why.factors
        base = (fused[ref] - low) / (high - low)
        expected = base * (1 + factors["importance"] + factors["recency"]) + factors["utility"]
        assert hit.score == pytest.approx(expected, abs=1e-5)


# -- learned


def learned(**weights: float) -> RetrievalConfig:
    ranker = Ranker(weights, dict.fromkeys(weights, 0.0), dict.fromkeys(weights, 1.0))
    return RetrievalConfig(fusion="learned", ranker=ranker)


def test_a_learned_hit_lists_what_each_feature_contributed(engine: MemoryEngine) -> None:
    config = learned(matched_terms=2.0, speaker=0.5, length=0.0)
    found = hits(engine, "Which red boat has Anna?", config)
    assert found["talk:0"].why.features == {"matched_terms": 4.0, "speaker": 0.5}
    assert found["talk:1"].why.features == {"matched_terms": 2.0}
    assert found["talk:3"].why.features == {}
    for hit in found.values():
        assert hit.why.fused == pytest.approx(sum(hit.why.features.values()), abs=1e-5)


def test_the_strongest_features_come_first_and_eight_are_told(engine: MemoryEngine) -> None:
    names = "matched_terms bm25 coverage density length short source_start first order.late"
    config = learned(**{name: -1.0 - i for i, name in enumerate([*names.split(), "has_speaker"])})
    told = hits(engine, "red boat", config)["talk:0"].why.features
    sizes = [abs(value) for value in told.values()]
    assert len(told) == 8
    assert sizes == sorted(sizes, reverse=True)


def test_a_ranker_of_features_this_memory_lacks_still_ranks(bank: Bank, talk: Talk) -> None:
    engine = MemoryEngine(bank, HashingEmbedder(), learned(matched_terms=1.0, soft=3.0))
    engine.write(talk("Anna: a boat", "Ben: a red boat"))
    found = engine.retrieve("red boat").hits
    assert [hit.refs[0] for hit in found] == ["talk:1", "talk:0"]
    assert found[0].why.features == {"matched_terms": 2.0}
