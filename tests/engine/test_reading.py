"""Reading: hits, filters, limits, and the context an agent is given."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.bank import Bank, Filter, MemoryUnit, UnitStatus, Value
from memgene.core import Hit, Why
from memgene.embed.hashing import HashingEmbedder
from memgene.engine import MemoryEngine, Retrieval, compose
from memgene.retrieval import signals
from memgene.retrieval.bm25 import bm25
from memgene.retrieval.config import RetrievalConfig

Talk = Callable[..., list[MemoryUnit]]


@pytest.fixture
def engine(bank: Bank) -> MemoryEngine:
    return MemoryEngine(bank, HashingEmbedder())


def refs(found: Retrieval) -> list[str]:
    return [hit.refs[0] for hit in found.hits]


def test_a_hit_carries_its_unit(engine: MemoryEngine) -> None:
    when = datetime(2024, 5, 1)
    (receipt,) = engine.write(
        [
            MemoryUnit(
                "a red boat",
                speaker="Anna",
                source="talk",
                turn_start=0,
                refs=("m1", "m2"),
                event_time=when,
                metadata={"k": 1},
            )
        ]
    )
    (hit,) = engine.retrieve("boat").hits
    assert (hit.id, hit.text, hit.source) == (receipt.id, "a red boat", "talk")
    assert (hit.refs, hit.event_time, hit.speaker) == (("m1", "m2"), when, "Anna")
    assert hit.rendered == "[1 May 2024] Anna: a red boat"
    assert hit.metadata == {"k": 1}


def test_an_empty_memory_finds_nothing(engine: MemoryEngine) -> None:
    found = engine.retrieve("Which boat?")
    assert (found.hits, found.pool) == ((), ())
    assert compose(found) == ("", 0)
    engine.write([MemoryUnit("a boat")])
    assert len(engine.retrieve("Which boat?").hits) == 1


def test_hits_are_cut_at_the_limit_the_pool_is_not(engine: MemoryEngine, talk: Talk) -> None:
    engine.write(talk(*(f"Anna: boat {i}" for i in range(60))))
    assert len(engine.retrieve("boat").hits) == 50
    found = engine.retrieve("boat", limit=3)
    assert len(found.hits) == 3
    assert len(found.pool) == 60
    assert engine.retrieve("boat", limit=0).hits == ()


def test_hits_come_by_falling_score_and_ties_in_the_order_of_adding(
    engine: MemoryEngine, talk: Talk
) -> None:
    engine.write(talk("Anna: tea", "Ben: boat boat", "Anna: boat", "Anna: boat", "Ben: boat"))
    lexical = engine.with_config(RetrievalConfig(fusion="lexical_only"))
    found = lexical.retrieve("boat")
    assert refs(found) == ["talk:1", "talk:2", "talk:3", "talk:4"]
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert scores[1] == scores[2] == scores[3]


def test_reasons_are_given_for_as_many_as_asked(engine: MemoryEngine, talk: Talk) -> None:
    engine.write(talk("Anna: boat", "Ben: boat", "Anna: boat"))
    hits = engine.retrieve("boat", explained=1).hits
    assert [bool(hit.why.views) for hit in hits] == [True, False, False]
    assert all(hit.why.views for hit in engine.retrieve("boat").hits)


def test_the_question_type_chooses_the_configuration(engine: MemoryEngine) -> None:
    engine.write([MemoryUnit("a boat")])
    config = RetrievalConfig(per_type={"when": {"context_k": 1}})
    served = engine.with_config(config)
    when = served.retrieve("When did the boat sink?")
    assert (when.question_type, when.config.context_k) == ("when", 1)
    who = served.retrieve("Who sank the boat?")
    assert (who.question_type, who.config.context_k) == ("who", 10)


def test_another_configuration_reads_the_same_memory(engine: MemoryEngine) -> None:
    other = engine.with_config(RetrievalConfig(fusion="lexical_only"))
    engine.write([MemoryUnit("a boat"), MemoryUnit("a car")])
    assert [hit.text for hit in other.retrieve("boat").hits] == ["a boat"]
    other.write([MemoryUnit("a boathouse boat")])
    assert len(engine.retrieve("boat").hits) == 3
    assert engine.config == RetrievalConfig()


def test_recency_counts_from_the_newest_event_or_from_the_moment_given(
    bank: Bank, talk: Talk
) -> None:
    config = RetrievalConfig(recency_weight=1, half_life_days=10)
    engine = MemoryEngine(bank, None, config)
    engine.write(
        [
            MemoryUnit("old boat", event_time=datetime(2024, 1, 1)),
            MemoryUnit("new boat", event_time=datetime(2024, 1, 11)),
        ]
    )

    def recency(now: datetime | None) -> dict[str, float]:
        found = engine.retrieve("boat", now=now)
        return {hit.text: hit.why.factors["recency"] for hit in found.hits}

    assert recency(None) == {"new boat": 1.0, "old boat": 0.5}
    assert recency(datetime(2024, 1, 21)) == {"new boat": 0.5, "old boat": 0.25}


@pytest.mark.parametrize(("context_k", "joined"), [(1, {2, 4}), (2, {2, 4, 9, 11})])
def test_neighbours_of_as_many_units_as_are_shown_join(
    bank: Bank, talk: Talk, context_k: int, joined: set[int]
) -> None:
    lines = [f"Anna: filler {i}" for i in range(14)]
    lines[3], lines[10], lines[6] = "Anna: boat boat", "Anna: boat", "Anna: a boat or not a boat"
    config = RetrievalConfig(
        fusion="lexical_only", lexical_k=2, temporal_neighbours=1, context_k=context_k
    )
    engine = MemoryEngine(bank, None, config)
    engine.write(talk(*lines))
    found = engine.retrieve("boat")
    assert refs(found)[:2] == ["talk:3", "talk:10"]
    assert set(found.pool) == {f"talk:{i}" for i in {3, 10, *joined}}


def test_signals_of_a_question_are_computed_once_until_something_is_written(
    bank: Bank, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An evolution asks the same questions of many configurations."""
    computed: list[int] = []

    def spy(*given: Any, **more: Any) -> Any:
        computed.append(1)
        return bm25(*given, **more)

    monkeypatch.setattr(signals, "bm25", spy)
    engine = MemoryEngine(bank, HashingEmbedder())
    engine.write(talk("Anna: a boat", "Ben: a red boat"))

    def looked(config: RetrievalConfig) -> tuple[list[float], bool]:
        """Values of a signal, and whether anything was computed for them."""
        computed.clear()
        values = engine.with_config(config).candidates("red boat").raw("bm25").tolist()
        return values, bool(computed)

    first, fresh = looked(RetrievalConfig())
    assert fresh
    assert looked(RetrievalConfig(window=2)) == (first, False)
    engine.write([MemoryUnit("red")])
    after, fresh = looked(RetrievalConfig())
    assert fresh
    assert after[0] != first[0]


# -- filters


@pytest.fixture
def filtered(bank: Bank) -> MemoryEngine:
    engine = MemoryEngine(bank, HashingEmbedder(), RetrievalConfig(temporal_neighbours=1))
    engine.write(
        [
            MemoryUnit(
                f"boat {i}",
                source="even" if i % 2 == 0 else "odd",
                turn_start=i,
                refs=(str(i),),
                metadata={"n": i % 3},
                event_time=datetime(2024, 1, 1 + i),
            )
            for i in range(9)
        ]
    )
    return engine


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Filter(), set("012345678")),
        (Filter(sources=("odd",)), set("1357")),
        (Filter(metadata={"n": 0}), set("036")),
        (Filter(metadata={"n": 0}, sources=("odd",)), {"3"}),
        (Filter(since=datetime(2024, 1, 7)), set("678")),
        (Filter(until=datetime(2024, 1, 2)), set("01")),
        (Filter(types=("semantic",)), set()),
        (Filter(sources=("none",)), set()),
    ],
)
def test_a_filter_holds_for_hits_pool_and_neighbours(
    filtered: MemoryEngine, where: Filter, expected: set[str]
) -> None:
    found = filtered.retrieve("boat", where=where)
    assert set(refs(found)) == set(found.pool) == expected


def test_a_filter_follows_what_is_written(filtered: MemoryEngine) -> None:
    odd = Filter(sources=("odd",))
    assert len(filtered.retrieve("boat", where=odd).hits) == 4
    filtered.write([MemoryUnit("boat 9", source="odd", turn_start=9, refs=("9",))])
    assert set(refs(filtered.retrieve("boat", where=odd))) == set("13579")


@pytest.mark.parametrize("fusion", ["lexical_only", "dense_only", "weighted_sum"])
def test_a_filter_that_few_pass_still_finds_them_among_many_better_matches(
    bank: Bank, fusion: str
) -> None:
    config = RetrievalConfig(fusion=fusion, lexical_k=2, dense_k=2, window_k=0, episode_k=0)
    engine = MemoryEngine(bank, HashingEmbedder(), config)
    engine.write([MemoryUnit("boat", source="many", turn_start=i) for i in range(40)])
    engine.write([MemoryUnit("one more boat and a lot of other words", source="few")])
    found = engine.retrieve("boat", where=Filter(sources=("few",)))
    assert [hit.source for hit in found.hits] == ["few"]


def test_only_active_units_are_found(bank: Bank, talk: Talk) -> None:
    engine = MemoryEngine(bank, HashingEmbedder())
    first, second, third = engine.write(talk("Anna: boat", "Ben: boat", "Anna: boat"))
    bank.set_status([first.id], UnitStatus.ARCHIVED)
    bank.set_status([second.id], UnitStatus.SUPERSEDED, third.id)
    assert refs(engine.retrieve("boat")) == ["talk:2"]
    bank.set_status([first.id], UnitStatus.ACTIVE)
    assert set(refs(engine.retrieve("boat"))) == {"talk:0", "talk:2"}


def test_learned_values_are_read_at_once(bank: Bank, talk: Talk) -> None:
    engine = MemoryEngine(bank, None, RetrievalConfig(fusion="lexical_only", utility_weight=1))
    _, second = engine.write(talk("Anna: boat", "Anna: boat"))
    assert refs(engine.retrieve("boat")) == ["talk:0", "talk:1"]
    bank.set_values([Value(second.id, "", 0.9)])
    assert refs(engine.retrieve("boat")) == ["talk:1", "talk:0"]


# -- the context


def retrieval(*lines: str, context_k: int = 10, context_chars: int = 6000) -> Retrieval:
    hits = tuple(Hit(str(i), line, 1.0, Why(), rendered=line) for i, line in enumerate(lines))
    config = RetrievalConfig(context_k=context_k, context_chars=context_chars)
    return Retrieval(hits, (), "single", config)


def test_the_context_is_one_line_a_hit_best_first() -> None:
    assert compose(retrieval("one", "two", "three")) == ("one\ntwo\nthree", 3)


def test_the_context_holds_so_many_units() -> None:
    assert compose(retrieval("one", "two", "three", context_k=2)) == ("one\ntwo", 2)


def test_the_context_holds_so_many_characters_line_breaks_included() -> None:
    hundred = "x" * 100
    just = retrieval(hundred, "y" * 99, "z", context_chars=200)
    assert compose(just) == (hundred + "\n" + "y" * 99, 2)
    over = retrieval(hundred, "y" * 100, "z", context_chars=200)
    assert compose(over) == (hundred, 1)


def test_a_later_line_that_does_not_fit_ends_the_context() -> None:
    assert compose(retrieval("x", "y" * 200, "z", context_chars=200)) == ("x", 1)


def test_a_first_line_that_is_too_long_is_cut_and_never_leaves_the_context_empty() -> None:
    assert compose(retrieval("x" * 200, context_chars=200)) == ("x" * 200, 1)
    assert compose(retrieval("x" * 201, "y", context_chars=200)) == ("x" * 199 + "…", 1)
    spaced = "x" * 190 + " " * 9 + "y" * 50
    assert compose(retrieval(spaced, "z", context_chars=200)) == ("x" * 190 + "…\nz", 2)


@given(st.lists(st.text(min_size=1, max_size=500), min_size=1, max_size=5))
def test_the_context_is_within_its_limit_and_not_empty_while_there_is_a_hit(
    lines: list[str],
) -> None:
    text, shown = compose(retrieval(*lines, context_chars=200))
    assert 0 < len(text) <= 200
    assert shown >= 1


def test_a_hit_without_a_rendered_line_is_shown_by_its_text() -> None:
    hit = Hit("a", "text", 1.0)
    assert compose(Retrieval((hit,), (), "single", RetrievalConfig())) == ("text", 1)
