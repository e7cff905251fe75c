"""A model says which consecutive units belong together; what it says is kept."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memgene.bank import Bank, MemoryUnit, RelationKind
from memgene.core import BudgetExhaustedError, ModelError
from memgene.embed.hashing import HashingEmbedder
from memgene.engine import MemoryEngine
from memgene.engine.linking import LinkSettings, TimeCheck, model_check
from memgene.testing import ScriptedLLM

Talk = Callable[..., list[MemoryUnit]]
Edges = Callable[..., set[tuple[str, str]]]
TIME = RelationKind.TIME
LINES = ("Ann: the boat", "Ben: a boat too", "Ann: tea")
YES, NO = '{"together": true}', '{"together": false}'


@pytest.fixture
def engine(bank: Bank, talk: Talk) -> MemoryEngine:
    engine = MemoryEngine(bank, HashingEmbedder())
    engine.write(talk(*LINES))
    return engine


def fresh(engine: MemoryEngine) -> MemoryEngine:
    return MemoryEngine(engine.bank, engine.embedder)


def test_each_pair_is_one_call(engine: MemoryEngine, edges: Edges) -> None:
    llm = ScriptedLLM([YES, NO])
    report = engine.link(check=model_check(llm))
    assert (report.checks, report.added[TIME], report.degraded) == (2, 1, ())
    assert edges(TIME) == {("the boat", "a boat too")}
    first = llm.requests[0].messages[-1].content
    assert "Earlier: Ann: the boat" in first
    assert "Later: Ben: a boat too" in first


def test_a_pair_without_a_verdict_is_linked_and_told_of(engine: MemoryEngine, edges: Edges) -> None:
    llm = ScriptedLLM([NO, ModelError("no reply")])
    report = engine.link(check=model_check(llm))
    assert edges(TIME) == {("a boat too", "tea")}
    assert report.checks == 2
    (told,) = report.degraded
    assert "1 of 2 pairs" in told
    assert "no reply" in told


def test_a_budget_that_ends_changes_nothing(engine: MemoryEngine, edges: Edges) -> None:
    llm = ScriptedLLM([YES, BudgetExhaustedError("calls")])
    with pytest.raises(BudgetExhaustedError):
        engine.link(check=model_check(llm))
    assert edges() == set()


def test_long_units_are_cut() -> None:
    llm = ScriptedLLM([YES])
    long = MemoryUnit("word " * 1000)
    assert model_check(llm)(long, MemoryUnit("short"))
    assert len(llm.requests[0].messages[-1].content) < 2000


@pytest.mark.parametrize("warm", [True, False])
def test_only_new_neighbours_are_asked_about(
    engine: MemoryEngine, talk: Talk, edges: Edges, same_word: TimeCheck, warm: bool
) -> None:
    engine.link(check=same_word)
    engine.write(talk(*LINES, "Ben: green tea")[3:])
    linking = engine if warm else fresh(engine)
    assert linking.link(check=same_word).checks == 1
    assert edges(TIME) == {("the boat", "a boat too"), ("tea", "green tea")}


@pytest.mark.parametrize("warm", [True, False])
def test_what_was_refused_stays_so_without_a_model(
    engine: MemoryEngine, talk: Talk, edges: Edges, same_word: TimeCheck, warm: bool
) -> None:
    """Pairs that are new are linked, as nobody says otherwise."""
    engine.link(check=same_word)
    engine.write(talk(*LINES, "Ben: opera")[3:])
    (engine if warm else fresh(engine)).link()
    assert edges(TIME) == {("the boat", "a boat too"), ("tea", "opera")}


@pytest.mark.parametrize("warm", [True, False])
def test_units_that_meet_by_a_deletion_are_asked_about(
    engine: MemoryEngine, talk: Talk, edges: Edges, same_word: TimeCheck, warm: bool
) -> None:
    engine.write(talk(*LINES, "Ben: boat ahoy")[3:])
    engine.link(check=same_word)
    (tea,) = (unit.id for unit in engine.bank.scan() if unit.content == "tea")
    engine.bank.delete([tea])
    (engine if warm else fresh(engine)).link(check=same_word)
    assert edges(TIME) == {("the boat", "a boat too"), ("a boat too", "boat ahoy")}


def test_a_check_that_comes_later_is_asked_about_all(
    engine: MemoryEngine, edges: Edges, same_word: TimeCheck
) -> None:
    engine.link()
    assert len(edges(TIME)) == 2
    report = engine.link(check=same_word)
    assert (report.checks, report.removed) == (2, {TIME: 1})
    assert engine.link(check=same_word).checks == 0


def test_a_rebuild_asks_again_and_without_a_check_forgets(
    engine: MemoryEngine, edges: Edges, same_word: TimeCheck
) -> None:
    engine.link(check=same_word)
    assert engine.link(check=same_word, rebuild=True).checks == 2
    assert len(edges(TIME)) == 1
    engine.link(rebuild=True)
    assert len(edges(TIME)) == 2


def test_a_new_calibration_asks_nothing_again(
    engine: MemoryEngine, edges: Edges, same_word: TimeCheck
) -> None:
    engine.link(check=same_word)
    report = engine.link(check=same_word, settings=LinkSettings(dense_cosine=0.9))
    assert (report.recalibrated, report.checks) == (True, 0)
    assert len(edges(TIME)) == 1


def test_without_time_edges_nothing_is_asked(engine: MemoryEngine, same_word: TimeCheck) -> None:
    settings = LinkSettings(kinds=(RelationKind.SPARSE,))
    assert engine.link(check=same_word, settings=settings).checks == 0


def test_several_are_asked_at_once_and_answers_keep_their_places(
    bank: Bank, talk: Talk, edges: Edges
) -> None:
    engine = MemoryEngine(bank, HashingEmbedder())
    engine.write(talk(*(f"Ann: line {n}" for n in range(30))))

    def reply(request: object) -> str:
        text = request.messages[-1].content  # type: ignore[attr-defined]
        return YES if any(f"Earlier: Ann: line {n}\n" in text for n in range(10)) else NO

    llm = ScriptedLLM(reply, concurrency=8)
    engine.link(check=model_check(llm))
    assert edges(TIME) == {(f"line {n}", f"line {n + 1}") for n in range(10)}
