"""An engine that followed along answers like one that was opened just now."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memgene.bank import Bank, Filter, MemoryUnit, SqliteBank, UnitStatus, Value
from memgene.core import InputError, Scope
from memgene.embed import Embedder
from memgene.embed.hashing import HashingEmbedder
from memgene.embed.static import StaticEmbedder
from memgene.engine import MemoryEngine, Retrieval
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.ranker import Ranker

Talk = Callable[..., list[MemoryUnit]]
QUESTIONS = (
    "Which red boat did Anna buy in May 2023?",
    "When was the roof repaired?",
    'Did Ben say "blue canoe" to Mira?',
)
ALL_VIEWS = RetrievalConfig(
    soft_k=5,
    lexical_k=5,
    window_k=5,
    episode_k=5,
    dense_k=5,
    structured_k=5,
    weight_structured=1,
    neighbour_bonus=0.3,
    recency_weight=0.5,
    importance_weight=0.5,
    utility_weight=0.5,
    temporal_neighbours=1,
)
_FEATURES = (
    "bm25 window2 with_previous episode coverage prefix dense soft matched_terms all_terms "
    "rarest_term bigrams speaker answer.bm25 date.near order.late trait.caption feedback.words"
)
FEATURES = _FEATURES.split()
LEARNED = ALL_VIEWS.changed(
    fusion="learned",
    ranker=Ranker(
        {name: 1 + 0.1 * i for i, name in enumerate(FEATURES)},
        dict.fromkeys(FEATURES, 0.0),
        dict.fromkeys(FEATURES, 1.0),
    ),
)
CONFIGS = {
    "default": RetrievalConfig(),
    "few candidates of all views": ALL_VIEWS,
    "rrf": ALL_VIEWS.changed(fusion="rrf"),
    "learned": LEARNED,
}
AS_FOUND = (Phase.explicit, Phase.reuse, Phase.generate)
"""A failure is shown as it was found: to shrink it takes minutes."""
IN_PLACE = ("rewrite", "restore")
"""Changes to an old unit give it a new row; places that are shared out by row may then differ."""


def ranking(found: Retrieval) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in found.hits]


def assert_same(followed: MemoryEngine, fresh: MemoryEngine, config: RetrievalConfig) -> None:
    for question in QUESTIONS:
        here = followed.with_config(config).retrieve(question)
        there = fresh.with_config(config).retrieve(question)
        assert [i for i, _ in ranking(here)] == [i for i, _ in ranking(there)]
        scores = [score for _, score in ranking(here)]
        assert scores == pytest.approx([score for _, score in ranking(there)], abs=1e-6)
        assert here.pool == there.pool


lines = st.tuples(
    st.sampled_from(["Anna", "Ben", "Mira", None]),
    st.lists(
        st.sampled_from(
            ["I", "repaired", "the", "roof", "red", "boat", "blue", "canoe", "bought", "?"]
        ),
        min_size=1,
        max_size=6,
    ).map(" ".join),
    st.sampled_from(["one", "two", None]),
    st.sampled_from([None, datetime(2023, 5, 8), datetime(2024, 6, 1)]),
)
changes = st.one_of(
    st.tuples(st.just("add"), st.lists(lines, min_size=1, max_size=3)),
    st.tuples(st.just("rewrite"), st.integers(0, 30), lines),
    st.tuples(st.just("metadata"), st.integers(0, 30)),
    st.tuples(st.just("value"), st.integers(0, 30), st.sampled_from([0.0, 0.3, 1.0])),
    st.tuples(st.just("delete"), st.integers(0, 30)),
    st.tuples(st.just("archive"), st.integers(0, 30)),
    st.tuples(st.just("restore"), st.integers(0, 30)),
)


def units(told: list[tuple[Any, ...]], turn: int) -> list[MemoryUnit]:
    return [
        MemoryUnit(
            text,
            speaker=speaker,
            source=source,
            turn_start=None if source is None else turn + i,
            refs=(f"m{turn + i}",),
            event_time=time,
        )
        for i, (speaker, text, source, time) in enumerate(told)
    ]


def carry_out(engine: MemoryEngine, change: tuple[Any, ...], turn: int) -> None:
    """One change of any kind, through the bank."""
    bank = engine.bank
    kind, *details = change
    if kind == "add":
        engine.write(units(details[0], turn))
        return
    ids = [u.id for u in bank.scan(None, Filter(statuses=tuple(UnitStatus)))]
    if not ids:
        return
    chosen = ids[details[0] % len(ids)]
    (unit,) = bank.get([chosen])
    if kind == "rewrite":
        speaker, text, _, time = details[1]
        changed = replace(unit, speaker=speaker, event_time=time)
        with suppress(InputError):  # an equal unit is stored already
            engine.rewrite(changed, text)
    elif kind == "metadata":
        bank.update(replace(unit, metadata={"caption": "a red boat"}, importance=1.0))
    elif kind == "value":
        bank.set_values([Value(chosen, "", details[1])])
    elif kind == "delete":
        bank.delete([chosen])
    elif kind == "archive":
        bank.set_status([chosen], UnitStatus.ARCHIVED)
    else:
        bank.set_status([chosen], UnitStatus.ACTIVE)


@pytest.mark.parametrize("embedder", ["hashing", "static"])
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=AS_FOUND
)
@given(
    start=st.lists(lines, min_size=6, max_size=14),
    steps=st.lists(st.tuples(changes, st.booleans()), min_size=1, max_size=6),
)
def test_following_equals_opening_anew(
    static: StaticEmbedder,
    embedder: str,
    start: list[tuple[Any, ...]],
    steps: list[tuple[tuple[Any, ...], bool]],
) -> None:
    """After any changes, read in between or not, ids and scores are the same to 1e-6."""
    used: Embedder = static if embedder == "static" else HashingEmbedder()
    bank = SqliteBank(":memory:")
    try:
        followed = MemoryEngine(bank, used, words=static)
        followed.write(units(start, 0))
        followed.retrieve(QUESTIONS[0])
        in_place = False
        for number, (change, read) in enumerate(steps, 1):
            carry_out(followed, change, 100 * number)
            in_place |= change[0] in IN_PLACE
            if read:
                followed.retrieve(QUESTIONS[0])
        fresh = MemoryEngine(bank, used, words=static)
        for config in [CONFIGS["default"]] if in_place else CONFIGS.values():
            assert_same(followed, fresh, config)
    finally:
        bank.close()


# -- one change at a time


@pytest.fixture
def followed(bank: Bank, talk: Talk) -> MemoryEngine:
    engine = MemoryEngine(bank, HashingEmbedder())
    engine.write(talk("Anna: a red boat", "Ben: a roof", "Mira: tea", "Ben: a canoe", "Anna: hm"))
    engine.write(talk(*(f"Ben: filler {i}" for i in range(20)), source="filler"))
    engine.retrieve("boat")
    return engine


def first(engine: MemoryEngine, question: str = "boat") -> str:
    return engine.retrieve(question).hits[0].text


def test_a_unit_added_later_is_found(followed: MemoryEngine) -> None:
    followed.write([MemoryUnit("the opera house")])
    assert first(followed, "opera") == "the opera house"


def test_a_rewritten_unit_is_found_by_its_new_words_only(followed: MemoryEngine) -> None:
    (unit,) = followed.bank.get([followed.retrieve("boat").hits[0].id])
    followed.rewrite(unit, "a blue car")
    assert first(followed, "blue car") == "a blue car"
    assert all(hit.text != "a red boat" for hit in followed.retrieve("red boat").hits)


def test_a_deleted_unit_is_gone_and_its_neighbours_meet(followed: MemoryEngine) -> None:
    config = RetrievalConfig(fusion="lexical_only", temporal_neighbours=1)
    lexical = followed.with_config(config)
    assert set(lexical.retrieve("roof").pool) == {"talk:0", "talk:1", "talk:2"}
    followed.bank.delete([lexical.retrieve("boat", limit=1).hits[0].id])
    assert set(lexical.retrieve("roof").pool) == {"talk:1", "talk:2"}
    assert lexical.retrieve("boat").hits == ()


def test_a_speaker_who_is_gone_is_a_name_no_more(followed: MemoryEngine) -> None:
    mira = next(u for u in followed.bank.scan() if u.speaker == "Mira")
    followed.write([MemoryUnit("the opera Mira")])
    lexical = followed.with_config(RetrievalConfig(fusion="lexical_only"))
    assert lexical.retrieve("Where was Mira sung?").hits == ()
    followed.bank.delete([mira.id])
    assert first(lexical, "Where was Mira sung?") == "the opera Mira"


def test_a_vector_that_comes_later_counts(bank: Bank) -> None:
    MemoryEngine(bank, None).write([MemoryUnit(f"boat {i}") for i in range(12)])
    dense = RetrievalConfig(fusion="dense_only")
    followed = MemoryEngine(bank, HashingEmbedder(), dense)
    followed.write([MemoryUnit("a car")])
    assert followed.retrieve("boat 3").hits[0].why.fused == 0
    followed.write([MemoryUnit("boat 3")])
    assert first(followed, "boat 3") == "boat 3"
    fresh = MemoryEngine(bank, HashingEmbedder(), dense)
    assert ranking(followed.retrieve("boat 3")) == ranking(fresh.retrieve("boat 3"))


def test_what_another_connection_writes_is_seen(tmp_path: Path) -> None:
    here, there = (SqliteBank(tmp_path / "agent.db") for _ in range(2))
    try:
        reader = MemoryEngine(here, HashingEmbedder())
        writer = MemoryEngine(there, HashingEmbedder())
        assert reader.retrieve("boat").hits == ()
        (receipt,) = writer.write([MemoryUnit("a red boat")])
        assert first(reader) == "a red boat"
        writer.rewrite(there.get([receipt.id])[0], "a blue boat")
        assert first(reader) == "a blue boat"
        there.set_values([Value(receipt.id, "", 0.9)])
        valued = reader.with_config(RetrievalConfig(utility_weight=1))
        assert valued.retrieve("boat").hits[0].why.factors["utility"] == pytest.approx(0.4)
        there.delete([receipt.id])
        assert reader.retrieve("boat").hits == ()
    finally:
        here.close()
        there.close()


def test_what_another_connection_writes_is_seen_in_every_scope(tmp_path: Path) -> None:
    here, there = (SqliteBank(tmp_path / "agent.db") for _ in range(2))
    try:
        reader = MemoryEngine(here, HashingEmbedder())
        ann, bob = Scope("ann"), Scope("bob")
        assert reader.retrieve("boat", ann).hits == reader.retrieve("boat", bob).hits == ()
        MemoryEngine(there, HashingEmbedder()).write([MemoryUnit("a boat", scope=ann)])
        assert len(reader.retrieve("boat", ann).hits) == 1
        assert reader.retrieve("boat", bob).hits == ()
    finally:
        here.close()
        there.close()
