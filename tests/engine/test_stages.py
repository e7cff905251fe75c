"""Stages at work in a read: each kind has its place, `why` tells, a failing one is left out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from memgene.bank import Bank, MemoryUnit
from memgene.core import ConfigError
from memgene.embed.hashing import HashingEmbedder
from memgene.engine import MemoryEngine
from memgene.engine.models import EngineModels
from memgene.engine.reading import Retrieval
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.stages.host import StageError
from memgene.retrieval.stages.stage import Stage

Talk = Callable[..., list[MemoryUnit]]
LINES = (
    "Ana: My boat is red and it is new",
    "Ben: A boat was seen in the harbour",
    "Ana: We sold the old boat",
    "Ben: Lunch was good",
    "Ana: The harbour was closed on Sunday",
)
BOAT = "Who has a boat?"


class ByHand:
    """A host that answers as it is told, and notes what it was asked."""

    def __init__(self, answer: Callable[[str, Mapping[str, Any]], Any]) -> None:
        self._answer = answer
        self.asked: list[tuple[str, Mapping[str, Any]]] = []

    def call(self, stage: Stage, method: str, params: Mapping[str, Any]) -> Any:
        self.asked.append((method, json.loads(json.dumps(params))))
        return self._answer(method, params)


def stage(kind: str, name: str = "mine") -> Stage:
    return Stage(name, f'KIND = "{kind}"\nABOUT = "a test"\n')


def placed(kind: str, strength: float = 1.0, **levers: Any) -> RetrievalConfig:
    return RetrievalConfig.minimal().changed(**levers).with_stage(stage(kind), strength)


@pytest.fixture
def engine(bank: Bank, talk: Talk) -> MemoryEngine:
    made = MemoryEngine(bank, HashingEmbedder(64), RetrievalConfig.minimal())
    made.write(talk(*LINES))
    return made


def read(
    engine: MemoryEngine, config: RetrievalConfig, host: ByHand, question: str = BOAT, **asked: Any
) -> Retrieval:
    return engine.with_config(config, EngineModels(stages=host)).retrieve(question, **asked)


def said(found: Retrieval) -> list[str]:
    return [hit.text for hit in found.hits]


def test_a_query_stage_adds_searches(engine: MemoryEngine) -> None:
    host = ByHand(lambda *_: ["harbour closed", "HARBOUR CLOSED?", " ", "Sunday"])
    found = read(engine, placed("query"), host)
    assert found.queries == (BOAT, "harbour closed", "Sunday")
    assert LINES[4][5:] in said(found)
    assert host.asked == [("queries", {"question": BOAT})]


@pytest.mark.parametrize("fusion", ["sum", "weighted_sum", "rrf", "q_rrf", "lexical_only"])
def test_a_view_brings_candidates_of_its_own(engine: MemoryEngine, fusion: str) -> None:
    def last(_: str, params: Mapping[str, Any]) -> Any:
        return [[params["units"][3]["id"], 2.0]]

    config = placed("view", 2.0, fusion=fusion)
    without = said(read(engine, config, ByHand(lambda *_: [])))
    assert ("Lunch was good" in without) == (fusion == "q_rrf"), "its dense route returns all"
    host = ByHand(last)
    found = read(engine, config, host)
    hit = next(hit for hit in found.hits if hit.text == "Lunch was good")
    assert hit.why.features["stage.mine"] == pytest.approx(
        2 / 61 if fusion in ("rrf", "q_rrf") else 2.0, abs=1e-6
    )
    assert hit.why.views["stage.mine"].rank == 1
    ((method, params),) = host.asked
    assert method == "candidates"
    assert [unit["text"] for unit in params["units"]] == [line[5:] for line in LINES]
    assert set(params["units"][0]) == {"id", "text", "speaker", "time", "source", "metadata"}


def test_a_rescorer_adds_strength_times_what_it_says(engine: MemoryEngine) -> None:
    plain = engine.retrieve(BOAT)

    def lift_last(_: str, params: Mapping[str, Any]) -> Any:
        return [0.0] * (len(params["hits"]) - 1) + [7.0]  # clipped to 1

    host = ByHand(lift_last)
    found = read(engine, placed("rescorer", 1.5), host)
    assert said(found)[0] == said(plain)[-1]
    assert found.hits[0].why.factors["stage.mine"] == 1.5
    assert found.hits[0].score == pytest.approx(plain.hits[-1].score + 1.5)
    ((_, params),) = host.asked
    assert [hit["text"] for hit in params["hits"]] == said(plain)
    assert params["hits"][0]["score"] == 1.0
    assert params["hits"][-1]["score"] == 0.0


def test_a_rescorer_is_called_once_also_where_the_pool_grows(engine: MemoryEngine) -> None:
    host = ByHand(lambda _, params: [0.0] * len(params["hits"]))
    found = read(engine, placed("rescorer", temporal_neighbours=1), host)
    assert len(host.asked) == 1
    assert len(host.asked[0][1]["hits"]) == len(found.hits) > 3


def test_a_filter_orders_and_drops(engine: MemoryEngine) -> None:
    plain = engine.retrieve(BOAT)
    found = read(engine, placed("filter"), ByHand(lambda *_: [2, 0]))
    assert said(found) == [said(plain)[2], said(plain)[0]]
    assert [hit.why.factors["stage.mine"] for hit in found.hits] == [3.0, 1.0]
    assert [hit.score for hit in found.hits] == [hit.score for hit in plain.hits[:2]]


def test_a_filter_sees_the_same_hits_whatever_the_limit(engine: MemoryEngine) -> None:
    found = read(engine, placed("filter"), ByHand(lambda *_: [2, 1, 0]), limit=1)
    assert said(found) == [said(engine.retrieve(BOAT))[2]]


def test_filters_act_one_after_the_other(engine: MemoryEngine) -> None:
    config = placed("filter").with_stage(stage("filter", "second"), 1)
    answers = iter([[2, 1], [1]])
    found = read(engine, config, ByHand(lambda *_: next(answers)))
    assert said(found) == [said(engine.retrieve(BOAT))[1]]


def test_an_answer_stage_tells_the_agent_and_checks_its_draft(engine: MemoryEngine) -> None:
    def answer(method: str, params: Mapping[str, Any]) -> Any:
        return "Name  one person." if method == "instruction" else params["answer"] != "nobody"

    plan = read(engine, placed("answer"), ByHand(answer)).plan
    assert plan.instruction == "Name one person."
    assert plan.check.startswith("mine:")
    assert plan.accepts is not None
    assert plan.accepts("context", "Ana")
    assert not plan.accepts("context", "nobody")


@pytest.mark.parametrize(
    ("kind", "returned"),
    [
        ("query", "one text"),
        ("query", [1]),
        ("view", [["unknown", 1.0]]),
        ("view", [[["list"], 1.0]]),
        ("view", [["no pair"]]),
        ("view", 7),
        ("rescorer", [1.0]),
        ("rescorer", ["a", "b", "c"]),
        ("rescorer", [True, True, True]),
        ("rescorer", [float("nan")] * 3),
        ("rescorer", [10**400] * 3),
        ("rescorer", None),
        ("filter", [0, 0]),
        ("filter", [3]),
        ("filter", [-1]),
        ("filter", [True]),
        ("filter", "012"),
        ("answer", 3),
    ],
)
def test_what_breaks_the_contract_is_left_out_and_told(
    engine: MemoryEngine, kind: str, returned: Any
) -> None:
    plain = engine.retrieve(BOAT)
    assert len(plain.hits) == 3
    found = read(engine, placed(kind), ByHand(lambda *_: returned))
    assert [(h.id, h.score, h.why) for h in found.hits] == [
        (h.id, h.score, h.why) for h in plain.hits
    ]
    (told,) = found.degraded
    assert told.startswith("stage.mine: stage mine, ")
    assert found.notes["degraded"] == [told]


def test_a_stage_that_fails_is_told_and_the_others_go_on(engine: MemoryEngine) -> None:
    def fail(method: str, _: Mapping[str, Any]) -> Any:
        if method == "scores":
            raise StageError("stage mine, scores: it hung")
        return [1]

    config = placed("rescorer").with_stage(stage("filter", "second"), 1)
    found = read(engine, config, ByHand(fail))
    assert said(found) == [said(engine.retrieve(BOAT))[1]]
    assert found.degraded == ("stage.mine: stage mine, scores: it hung",)


def test_a_stage_of_strength_zero_is_off(engine: MemoryEngine) -> None:
    host = ByHand(lambda *_: pytest.fail("it was called"))
    found = read(engine, placed("filter", 0.0), host)
    plain = engine.retrieve(BOAT)
    assert [(h.id, h.score, h.why) for h in found.hits] == [
        (h.id, h.score, h.why) for h in plain.hits
    ]
    assert engine.with_config(placed("filter", 0.0)).retrieve(BOAT).hits == found.hits


def test_a_stage_that_nobody_may_run_is_refused(engine: MemoryEngine) -> None:
    with pytest.raises(ConfigError, match="stage mine is code"):
        engine.with_config(placed("rescorer"))


def test_without_stages_no_host_is_asked(engine: MemoryEngine) -> None:
    host = ByHand(lambda *_: pytest.fail("it was called"))
    config = RetrievalConfig.minimal()
    assert read(engine, config, host) == engine.retrieve(BOAT)


def test_a_prepared_question_is_read_with_the_same_stages(engine: MemoryEngine) -> None:
    host = ByHand(lambda _, params: [0.0] * (len(params["hits"]) - 1) + [1.0])
    staged = engine.with_config(placed("rescorer"), EngineModels(stages=host))
    assert staged.read(staged.prepare(BOAT)).hits == staged.retrieve(BOAT).hits


def test_an_empty_memory_asks_no_ranking_stage(bank: Bank) -> None:
    host = ByHand(lambda *_: [])
    config = placed("rescorer").with_stage(stage("filter", "second"), 1)
    config = config.with_stage(stage("view", "third"), 1)
    engine = MemoryEngine(bank, HashingEmbedder(64), config, models=EngineModels(stages=host))
    assert engine.retrieve(BOAT).hits == ()
    assert host.asked == [("candidates", {"query": BOAT, "units": []})]
