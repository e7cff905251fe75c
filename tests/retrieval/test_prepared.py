"""A router as a residual on the fusions that join views: `score + ρ·K·Σ_v (π_v − p̄_v)·view_v`;
untrained, absent or without strength it leaves the ranking as it was, to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from memgene.bank import MemoryUnit, SqliteBank
from memgene.core import ConfigError, InputError
from memgene.embed.static import StaticEmbedder
from memgene.engine import MemoryEngine
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.fusion import min_max
from memgene.retrieval.observing import features_of
from memgene.retrieval.prepared import Prepared
from memgene.retrieval.ranker import Ranker
from memgene.retrieval.ranking import Ranking
from memgene.retrieval.router.router import Router

QUESTIONS = ("Which red boat did Anna buy?", "When did Ben paint the canoe?", "tea")
VIEWS = ("lexical", "window", "episode", "dense", "structured")
RANKER = Ranker({"bm25": 1.0, "speaker": 0.5, "dense": 2.0},
                {"bm25": 0.1, "speaker": 0.0, "dense": 0.1},
                {"bm25": 1.0, "speaker": 1.0, "dense": 1.0})  # fmt: skip
FUSIONS = {
    "sum": RetrievalConfig(fusion="sum"),
    "weighted_sum": RetrievalConfig(temporal_neighbours=1, mmr_lambda=0.2),
    "learned": RetrievalConfig(fusion="learned", ranker=RANKER),
}


@pytest.fixture(scope="module")
def engine(static: StaticEmbedder) -> Iterator[MemoryEngine]:
    bank = SqliteBank(":memory:")
    engine = MemoryEngine(bank, static)
    lines = (
        "Anna: I bought a red boat at the market.",
        "Ben: Which boat, the red one?",
        "Anna: Yes, and Ben can paint the canoe in May.",
        "Ben: I painted it blue on Sunday.",
        "Mira: Tea for all, then the dog.",
        "Anna: The dog loves boats.",
        "Ben: My brother sells boats and oars in Graz.",
    )
    units = []
    for turn, line in enumerate(lines):
        speaker, said = line.split(": ", 1)
        units.append(MemoryUnit(said, speaker=speaker, source="talk", turn_start=turn))
    engine.write(units)
    yield engine
    bank.close()


def router(routes: tuple[str, ...] = VIEWS, strength: float = 1.0, **bias: float) -> Router:
    """A router that says the same of every question: Δ of the named routes, 0 of the others."""
    fresh = Router.fresh(routes, features_of(routes), bound=None, strength=strength)
    deltas = np.array([bias.get(route, 0.0) for route in routes])
    return replace(fresh, arrays={**fresh.arrays, "head_bias": deltas})


def told(ranking: Ranking) -> tuple[object, ...]:
    """Everything of a ranking that a reader could see, as bytes."""
    return (
        ranking.rows.tobytes(),
        ranking.scores.tobytes(),
        ranking.fused.tobytes(),
        {name: values.tobytes() for name, values in ranking.contributions.items()},
        {name: values.tobytes() for name, values in ranking.factors.items()},
    )


def prepared(engine: MemoryEngine, config: RetrievalConfig, question: str) -> Prepared:
    return engine.with_config(config).prepare(question)


# -- nothing changes


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.parametrize(
    "change",
    [
        lambda config: config.changed(router=router()),
        lambda config: config.changed(router=router(lexical=2.0), router_strength=0),
        lambda config: config.changed(router=router(strength=0, lexical=2.0)),
    ],
    ids=["untrained", "lever 0", "strength 0"],
)
def test_the_ranking_is_the_base_to_the_last_bit(
    engine: MemoryEngine,
    fusion: str,
    question: str,
    change: Callable[[RetrievalConfig], RetrievalConfig],
) -> None:
    base = prepared(engine, FUSIONS[fusion], question).rank()
    assert told(prepared(engine, change(FUSIONS[fusion]), question).rank()) == told(base)


@pytest.mark.parametrize("fusion", FUSIONS)
def test_ranking_by_the_prior_is_ranking_without_a_router(
    engine: MemoryEngine, fusion: str
) -> None:
    asked = prepared(engine, FUSIONS[fusion], QUESTIONS[0])
    assert told(asked.rank(asked.prior)) == told(asked.rank())


def test_an_untrained_router_of_two_routes_is_the_prior(engine: MemoryEngine) -> None:
    plain = RetrievalConfig(fusion="q_rrf", self_routing="rules", graph_expansion=True)
    routed = plain.changed(router=router(("dense", "sparse")))
    for question in QUESTIONS:
        base = prepared(engine, plain, question).rank()
        assert told(prepared(engine, routed, question).rank()) == told(base)


# -- what a router changes


@pytest.mark.parametrize("fusion", FUSIONS)
def test_the_residual_is_added_to_the_fused_score(engine: MemoryEngine, fusion: str) -> None:
    config = FUSIONS[fusion].changed(temporal_neighbours=0, mmr_lambda=0)
    base = prepared(engine, config, QUESTIONS[0]).rank()
    before = dict(zip(base.rows.tolist(), base.fused.tolist(), strict=True))
    chosen = config.changed(router=router(strength=0.5, dense=1.0), router_strength=2.0)
    ranking = prepared(engine, chosen, QUESTIONS[0]).rank()
    pi = np.exp([0, 0, 0, 1.0, 0]) / np.exp([0, 0, 0, 1.0, 0]).sum()
    assert list(ranking.weights) == list(VIEWS)
    assert list(ranking.weights.values()) == pytest.approx(pi.tolist())
    pool = np.sort(ranking.rows)
    moved = np.zeros(len(pool))
    for share, view in zip(pi, ranking.views, strict=True):
        moved += 0.5 * 2.0 * 5 * (share - 0.2) * min_max(view.score_at(pool))
    expected = {row: before[row] + by for row, by in zip(pool.tolist(), moved, strict=True)}
    found = dict(zip(ranking.rows.tolist(), ranking.fused.tolist(), strict=True))
    assert found == pytest.approx(expected, abs=1e-5)
    assert [expected[row] for row in ranking.rows.tolist()] == pytest.approx(
        sorted(expected.values(), reverse=True)
    )


@pytest.mark.parametrize("fusion", FUSIONS)
def test_a_trainer_reads_the_same_scores_from_the_table(engine: MemoryEngine, fusion: str) -> None:
    config = FUSIONS[fusion].changed(temporal_neighbours=0, mmr_lambda=0, router=router())
    asked = prepared(engine, config.changed(router_strength=0.7), QUESTIONS[0])
    weights = np.array([0.1, 0.2, 0.3, 0.35, 0.05])
    rows, scores, base = asked.route_table()
    assert scores.shape == (len(rows), 5)
    fused = dict(zip(rows.tolist(), (base + scores @ weights).tolist(), strict=True))
    ranking = asked.rank(weights)
    found = dict(zip(ranking.rows.tolist(), ranking.fused.tolist(), strict=True))
    assert found == pytest.approx(fused, abs=1e-5)


def test_the_residual_is_explained_by_view(engine: MemoryEngine) -> None:
    config = RetrievalConfig(router=router(dense=1.0))
    base = engine.with_config(RetrievalConfig()).retrieve(QUESTIONS[0]).hits
    before = {hit.id: hit.why.fused for hit in base}
    for hit in engine.with_config(config).retrieve(QUESTIONS[0]).hits:
        assert set(hit.why.features) <= {f"router.{view}" for view in VIEWS}
        moved = sum(hit.why.features.values())
        assert hit.why.fused == pytest.approx(before[hit.id] + moved, abs=1e-5)
        assert sum(hit.why.weights.values()) == pytest.approx(1, abs=1e-5)
    assert all(hit.why.weights == {} for hit in base)


def test_a_view_that_a_question_type_switches_off_is_weighed_as_nothing(
    engine: MemoryEngine,
) -> None:
    when = {"when": {"dense_k": 0}}
    config = RetrievalConfig(per_type=when, router=router(dense=1.0))
    asked = prepared(engine, config, "When did Ben paint the canoe?")
    assert asked.routes == VIEWS
    assert [view.name for view in asked.rank().views] == [v for v in VIEWS if v != "dense"]
    assert not asked.route_table().scores[:, 3].any()


def test_other_weights_give_other_rankings_of_one_question(engine: MemoryEngine) -> None:
    asked = prepared(engine, RetrievalConfig(weight_length=0), QUESTIONS[0])
    one, other = np.eye(5)[0], np.eye(5)[3]
    assert told(asked.rank(one)) != told(asked.rank(other))
    assert told(asked.rank(one)) == told(asked.rank(one))


# -- what cannot be weighed


@pytest.mark.parametrize("fusion", ["rrf", "lexical_only", "dense_only"])
def test_fusions_without_weights_have_no_routes(engine: MemoryEngine, fusion: str) -> None:
    asked = prepared(engine, RetrievalConfig(fusion=fusion), QUESTIONS[0])
    assert asked.routes == ()
    with pytest.raises(InputError, match="no routes to weigh"):
        asked.rank(np.ones(1))


@pytest.mark.parametrize(
    ("fusion", "routes"),
    [
        ("q_rrf", ("lexical", "dense")),
        ("q_rrf", ("sparse", "dense")),
        ("weighted_sum", ("dense", "sparse")),
        ("rrf", ("lexical", "dense")),
        ("lexical_only", ("lexical", "dense")),
    ],
)
def test_a_router_of_other_routes_is_refused(fusion: str, routes: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match=f"nothing to weigh in fusion '{fusion}'"):
        RetrievalConfig(fusion=fusion, router=router(routes))
    with pytest.raises(ConfigError, match="nothing to weigh"):
        RetrievalConfig(router=router(("lexical", "dense")), per_type={"when": {"fusion": "q_rrf"}})


def test_a_router_that_saw_other_features_is_refused(engine: MemoryEngine) -> None:
    other = Router.fresh(VIEWS, ("length",))
    asked = prepared(engine, RetrievalConfig(router=other), QUESTIONS[0])
    with pytest.raises(InputError, match="sees 1 features"):
        asked.rank()
