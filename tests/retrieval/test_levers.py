"""Every lever does something: flipping it changes what one rich memory returns.

Each row of the table is a question, the configuration around the lever, and the lever's two
values; only the lever differs between the two reads. A lever without a row fails the test. The
levers that decide what is stored have their tests with extraction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from memgene.bank import MemoryUnit, SqliteBank
from memgene.bank.protocol import Relation, RelationKind, Value
from memgene.core import AnswerPlan
from memgene.embed.static import StaticEmbedder
from memgene.engine import MemoryEngine, compose
from memgene.engine.models import EngineModels
from memgene.llm.protocol import Request
from memgene.retrieval.action_space import FUSIONS, SWITCH
from memgene.retrieval.clusters import QueryClusters, query_vector
from memgene.retrieval.config import RetrievalConfig, levers
from memgene.retrieval.observing import features_of
from memgene.retrieval.ranker import Ranker
from memgene.retrieval.router.router import Router
from memgene.testing import ScriptedLLM

TALK = {
    "market": (
        datetime(2024, 3, 1),
        "Anna: I bought a red canoe at the harbour market.",
        "Ben: Lovely! What did it cost?",
        "Anna: Four hundred, and the paddles were free.",
        "Ben: My brother sells paddles and oars as well.",
    ),
    "river": (
        datetime(2024, 5, 10),
        "Ben: Anna, shall we paddle down the river on Sunday?",
        "Anna: Yes, the canoe is ready, I painted it blue.",
        "Ben: Great, I will bring lunch and the dog.",
        "Anna: Rex loves boats more than bones.",
    ),
    "roof": (
        datetime(2024, 6, 20),
        "Mira: I sold my kayak to a neighbour of the mill, for less than a canoe costs.",
        "Anna: A pity, kayaks are fast.",
        "Mira: I need the money for a new roof.",
        "Ben: The roof of our canoe shed leaks as well.",
    ),
}
VALUES: dict[str, dict[str, Any]] = {
    "river:2": {"importance": 0.0, "utility": 0.2},
    "river:4": {"entities": ("Rex", "dog")},
    "roof:1": {"importance": 1.0, "reinforcement": 9, "utility": 1.0, "locations": ("Graz",)},
    "roof:3": {"topics": ("money",)},
}
NOTES = 110
"""Units that all hold one frequent word; below 100 nothing is worth dropping."""
QUESTION = "Which canoe did Anna paint?"
DEFAULT = RetrievalConfig()
OFF = RetrievalConfig.minimal().changed(lexical_k=0, context_k=10, fusion="weighted_sum")
WORDS = OFF.changed(lexical_k=60)
"""The full-text view alone, weight 1."""
DENSE = OFF.changed(dense_k=60, weight_dense=1, dense_drop_names=True)
ROUTES = RetrievalConfig(fusion="q_rrf")
VIEWS = ("lexical", "dense")
ROUTER = Router.fresh(VIEWS, features_of(VIEWS))
ROUTER = replace(ROUTER, arrays={**ROUTER.arrays, "head_bias": np.array([1.0, -1.0])})
"""Whatever the question, the lexical view counts more than the dense one."""


@dataclass(frozen=True)
class Flip:
    before: Any
    after: Any
    around: RetrievalConfig = DEFAULT
    question: str = QUESTION


FLIPS = {
    "lexical_k": Flip(60, 1, WORDS),
    "window_k": Flip(60, 1, OFF.changed(window=1)),
    "episode_k": Flip(20, 4, OFF),
    "dense_k": Flip(60, 3, OFF),
    "soft_k": Flip(0, 3, OFF),
    "structured_k": Flip(20, 1, OFF),
    "window": Flip(1, 2, OFF.changed(window_k=60, weight_window=1)),
    "lexical_drop_names": Flip(True, False, WORDS),
    "dense_drop_names": Flip(True, False, DENSE),
    "dense_center": Flip("auto", "off", DENSE),
    "dense_content_words": Flip("auto", "off", DENSE),
    "max_df": Flip(1.0, 0.5, WORDS, "Which note tells of the canoe?"),
    "fusion": Flip("weighted_sum", "rrf"),
    "weight_lexical": Flip(1.0, 0.0),
    "weight_window": Flip(1.0, 0.0),
    "weight_episode": Flip(1.0, 0.0),
    "weight_dense": Flip(1.0, 0.0),
    "weight_soft": Flip(1.0, 0.0, RetrievalConfig(soft_k=20)),
    "weight_structured": Flip(0.0, 1.0),
    "weight_speaker": Flip(1.0, 0.0),
    "weight_length": Flip(1.0, 0.0),
    "route_pool": Flip(30, 5, ROUTES),
    "route_prior": Flip(0.5, 0.9, ROUTES),
    "q_rank_weight": Flip(0.5, 0.0, ROUTES.changed(utility_weight=0)),
    "self_routing": Flip("off", "rules", ROUTES, 'Which canoe did Mira sell to "a neighbour"?'),
    "router_strength": Flip(1.0, 0.0, RetrievalConfig(router=ROUTER)),
    "neighbour_bonus": Flip(0.0, 0.5),
    "importance_weight": Flip(0.0, 2.0),
    "recency_weight": Flip(0.0, 1.0),
    "half_life_days": Flip(30.0, 300.0, RetrievalConfig(recency_weight=1)),
    "reinforcement_weight": Flip(0.0, 2.0),
    "utility_weight": Flip(0.0, 1.0),
    "value_shrink": Flip(2.0, 0.0),
    "temporal_neighbours": Flip(0, 1, WORDS),
    "graph_expansion": Flip(False, True, WORDS),
    "entity_swap": Flip(
        False, True, WORDS.changed(lexical_drop_names=False), "Which canoe did Mira paint?"
    ),
    "entity_swap_k": Flip(
        10, 1, WORDS.changed(lexical_k=1, lexical_drop_names=False, entity_swap=True)
    ),
    "mmr_lambda": Flip(0.0, 0.7),
    "context_k": Flip(10, 2),
    "context_chars": Flip(6000, 200),
    "decomposition": Flip(False, True),
    "decomposition_max": Flip(3, 1, RetrievalConfig(decomposition=True)),
    "intent_planning": Flip(False, True),
    "rerank": Flip("off", "llm"),
    "rerank_k": Flip(20, 2, RetrievalConfig(rerank="llm")),
    "answer_style": Flip("concise", "list"),
    "verification": Flip("off", "strict"),
    "verification_threshold": Flip(0.5, 0.9, RetrievalConfig(verification="strict")),
}
STORED = {
    "extraction", "extraction_window", "extraction_tail", "extraction_chunk", "coverage_pass",
    "extraction_focus",
}  # fmt: skip
REPLIES = {
    "questions": ["Who sold a kayak?", "What did Anna sell?", "What did the paddles cost?"],
    "facts": ["leak of the roof"],
    "order": [3, 1],
}


def reply(request: Request) -> str:
    """What the model says, by the field it is asked for."""
    (field,) = (name for name in REPLIES if f'"{name}"' in request.messages[-1].content)
    return json.dumps({field: REPLIES[field]})


@pytest.fixture(scope="module")
def engine(static: StaticEmbedder) -> Iterator[MemoryEngine]:
    bank = SqliteBank(":memory:")
    engine = MemoryEngine(bank, static, models=EngineModels(rewrite=ScriptedLLM(reply)))
    for source, (date, *lines) in TALK.items():
        engine.write(
            [
                replace(
                    MemoryUnit(
                        said,
                        speaker=speaker,
                        source=source,
                        turn_start=turn,
                        refs=(f"{source}:{turn}",),
                        event_time=date,
                    ),
                    **VALUES.get(f"{source}:{turn}", {}),
                )
                for turn, (speaker, said) in enumerate((x.split(": ", 1) for x in lines), 1)
            ]
        )
    engine.write([MemoryUnit(f"note {number}") for number in range(NOTES)])
    learn(bank, static)
    yield engine
    bank.close()


def learn(bank: SqliteBank, embedder: StaticEmbedder) -> None:
    """An edge in time from the unit the question finds, and a value of it for such questions."""
    ids = {unit.refs[0]: unit.id for unit in bank.scan(None) if unit.refs}
    edge = Relation(RelationKind.TIME, ids["river:2"], ids["roof:3"])
    bank.relate([edge])
    vector = query_vector(QUESTION, embedder)
    kinds = QueryClusters.fit(vector[None], 1, seed=0, embedder=embedder.name)
    bank.set_state("clusters", kinds.to_bytes())
    bank.set_values([Value(ids["river:2"], kinds.names[0], 0.9, exposures=2)])


@dataclass(frozen=True)
class Outcome:
    """What a reader can see of one read, reasons aside."""

    ranking: tuple[tuple[str, ...], ...]
    scores: tuple[float, ...]
    pool: frozenset[str]
    context: str
    plan: AnswerPlan


def outcome(engine: MemoryEngine, config: RetrievalConfig, question: str = QUESTION) -> Outcome:
    found = engine.with_config(config).retrieve(question)
    return Outcome(
        ranking=tuple(hit.refs for hit in found.hits),
        scores=tuple(round(hit.score, 5) for hit in found.hits),
        pool=frozenset(found.pool),
        context=compose(found)[0],
        plan=found.plan,
    )


def test_every_lever_has_its_row() -> None:
    assert set(FLIPS) == set(levers()) - STORED


@pytest.mark.parametrize("name", FLIPS)
def test_flipping_the_lever_changes_the_result(engine: MemoryEngine, name: str) -> None:
    flip = FLIPS[name]
    before = outcome(engine, flip.around.changed(**{name: flip.before}), flip.question)
    after = outcome(engine, flip.around.changed(**{name: flip.after}), flip.question)
    assert before != after
    again = outcome(engine, flip.around.changed(**{name: flip.before}), flip.question)
    assert again == before


@pytest.mark.parametrize("name", [n for n in FLIPS if n.endswith("_k")])
def test_candidates_change_the_pool_or_what_is_shown(engine: MemoryEngine, name: str) -> None:
    flip = FLIPS[name]
    before = outcome(engine, flip.around.changed(**{name: flip.before}), flip.question)
    after = outcome(engine, flip.around.changed(**{name: flip.after}), flip.question)
    assert (before.pool != after.pool) != (name in ("context_k", "rerank_k"))


@pytest.mark.parametrize(
    "name", [n for n in FLIPS if n.startswith("weight_") or n.endswith(("_weight", "_bonus"))]
)
def test_weights_change_the_ranking_and_not_the_pool(engine: MemoryEngine, name: str) -> None:
    flip = FLIPS[name]
    before = outcome(engine, flip.around.changed(**{name: flip.before}), flip.question)
    after = outcome(engine, flip.around.changed(**{name: flip.after}), flip.question)
    assert before.scores != after.scores
    assert before.pool == after.pool


def test_no_two_fusions_give_the_same_scores(engine: MemoryEngine) -> None:
    ranker = Ranker({"bm25": 1.0, "speaker": 0.5}, {"bm25": 0.0, "speaker": 0.0},
                    {"bm25": 1.0, "speaker": 1.0})  # fmt: skip
    around = RetrievalConfig(weight_lexical=0.4, weight_dense=0.7, ranker=ranker)
    found = [outcome(engine, around.changed(fusion=name)).scores for name in FUSIONS]
    assert len(set(found)) == len(FUSIONS)


@pytest.mark.parametrize("name", ["dense_center", "dense_content_words"])
def test_a_switch_on_auto_is_one_of_on_and_off(engine: MemoryEngine, name: str) -> None:
    found = {v: outcome(engine, DENSE.changed(**{name: v})) for v in SWITCH}
    assert found["on"] != found["off"]
    assert found["auto"] == found["on"]


def test_an_override_changes_questions_of_its_type_only(engine: MemoryEngine) -> None:
    plain = RetrievalConfig()
    when = plain.changed(per_type={"when": {"context_k": 1}})
    asked = "When did Anna paint the canoe?"
    assert outcome(engine, when, asked).context != outcome(engine, plain, asked).context
    assert outcome(engine, when, asked) == outcome(engine, plain.changed(context_k=1), asked)
    assert outcome(engine, when) == outcome(engine, plain)


@pytest.mark.parametrize(
    ("lever", "value"),
    [
        ("decomposition", True),
        ("intent_planning", True),
        ("rerank", "llm"),
        ("answer_style", "date"),
        ("verification", "multi"),
    ],
)
def test_levers_that_need_a_model_can_be_overridden_too(
    engine: MemoryEngine, lever: str, value: Any
) -> None:
    plain = RetrievalConfig()
    when = plain.changed(per_type={"when": {lever: value}})
    asked = "When did Anna paint the canoe?"
    assert outcome(engine, when, asked) != outcome(engine, plain, asked)
    assert outcome(engine, when, asked) == outcome(engine, plain.changed(**{lever: value}), asked)
    assert outcome(engine, when) == outcome(engine, plain)
