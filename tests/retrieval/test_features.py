"""Features of the learned fusion: by hand on one talk, finite on any, 0 for what is absent."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.bank.unit import MemoryUnit
from memgene.core import ConfigError
from memgene.embed.hashing import HashingEmbedder
from memgene.embed.static import StaticEmbedder
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.features.candidates import Candidates
from memgene.retrieval.features.registry import available, features, matrix
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.signals import DENSE_SIGNALS, WORD_SIGNALS, Signals

Make = Callable[..., UnitIndex]
MakeSignals = Callable[..., Signals]


def candidates(signals: Signals, first_stage: list[float] | None = None) -> Candidates:
    """All living rows as the pool."""
    rows = np.flatnonzero(signals.index.alive)
    stage = first_stage or [0.0] * len(rows)
    return Candidates(signals, rows, np.asarray(stage, np.float32))


def values(pool: Candidates, name: str) -> list[float]:
    return matrix(pool, (name,))[:, 0].tolist()


# -- the registry


def test_every_feature_is_named_once_described_and_needs_known_signals() -> None:
    assert len(features()) > 150
    for name, feature in features().items():
        assert feature.name == name
        assert feature.about
        assert set(feature.needs) <= {*WORD_SIGNALS, *DENSE_SIGNALS}


def test_what_an_index_lacks_is_not_available_and_0_in_the_matrix(
    index_of: Make, signals_of: MakeSignals, static: StaticEmbedder
) -> None:
    index = index_of("Anna: a red boat", "Ben: which boat?")
    bare = candidates(signals_of(index, "red boats"))
    rich = candidates(signals_of(index, "red boats", embedder=static, words=static))
    assert set(available(rich)) == set(features())
    absent = set(features()) - set(available(bare))
    needs = {need for name in absent for need in features()[name].needs}
    assert needs >= {"soft", *DENSE_SIGNALS}
    assert not matrix(bare, tuple(sorted(absent))).any()
    assert matrix(rich, tuple(sorted(absent))).any()


def test_columns_come_in_the_order_asked(index_of: Make, signals_of: MakeSignals) -> None:
    pool = candidates(signals_of(index_of("Anna: a red boat", "x"), "red boats"))
    one, other = (
        matrix(pool, ("length", "matched_terms")),
        matrix(pool, ("matched_terms", "length")),
    )
    assert one[:, ::-1].tolist() == other.tolist()


def test_a_feature_of_another_version_is_refused(index_of: Make, signals_of: MakeSignals) -> None:
    pool = candidates(signals_of(index_of("a red boat"), "boat"))
    with pytest.raises(ConfigError, match="no feature 'moon_phase'"):
        matrix(pool, ("length", "moon_phase"))


# -- by hand


@pytest.fixture
def pool(index_of: Make, signals_of: MakeSignals) -> Candidates:
    index = index_of(
        "Anna: Which boat did you buy?",
        "Ben: I bought a red canoe for 12 crowns",
        "Anna: Nice!",
        MemoryUnit("The boat of Ben sank", speaker="Mira", source="other", turn_start=1),
    )
    return candidates(signals_of(index, "Which boat did Ben buy?"), [3.0, 1.0, 2.0, 0.0])


def bm25_share(pool: Candidates) -> list[float]:
    raw = pool.raw("bm25")
    return (raw / raw.max()).tolist()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("has_speaker", [1, 1, 1, 1]),
        ("speaker", [0, 1, 0, 0]),
        ("other_speaker", [1, 0, 1, 1]),
        ("addressed", [0, 0, 1, 0]),
        ("name_in_text", [0, 0, 0, 1]),
        ("previous_is_question", [0, 1, 0, 0]),
        ("next_is_question", [0, 0, 0, 0]),
        ("names_in_question", [0, 1, 0, 0]),
        ("speaker.first_person", [0, 1, 0, 0]),
        ("other.second_person", [1, 0, 0, 0]),
        ("has_previous", [0, 1, 1, 0]),
        ("has_next", [1, 1, 0, 0]),
        ("matched_terms", [2, 0, 0, 1]),
        ("all_terms", [1, 0, 0, 0]),
        ("rarest_term", [1, 0, 0, 0]),
        ("density", [2 / 6, 0, 0, 1 / 6]),
        ("length", [math.log(7), math.log(10), math.log(3), math.log(7)]),
        ("length@-1", [0, math.log(7), math.log(10), 0]),
        ("length@+1", [math.log(10), math.log(3), 0, 0]),
        ("short", [math.exp(-1), math.exp(-1.5), math.exp(-1 / 3), math.exp(-1)]),
        ("trait.question", [math.log(2), 0, 0, 0]),
        ("trait.numbers", [0, math.log(2), 0, 0]),
        ("source_start", [1, 1 / 2, 1 / 3, 1]),
        ("source_end", [1 / 3, 1 / 2, 1, 1]),
        ("order.late", [0, 1 / 3, 2 / 3, 1]),
        ("has_date", [0, 0, 0, 0]),
        ("first", [1, 1 / 3, 2 / 3, 0]),
        ("first.rank", [0, -math.log(3), -math.log(2), -math.log(4)]),
        ("first.source_best", [1, 1, 1, 0]),
        ("first.source_share", [3 / 20, 3 / 20, 3 / 20, 1 / 20]),
        ("feedback.near", [1, 1, 1, 0]),
        ("feedback.same_source", [1, 1, 1, 0]),
    ],
)
def test_by_hand(pool: Candidates, name: str, expected: list[float]) -> None:
    assert values(pool, name) == pytest.approx(expected, abs=1e-6)


def test_a_signal_as_share_rank_size_and_span(pool: Candidates) -> None:
    raw = pool.raw("bm25").tolist()
    first, fourth = raw[0], raw[3]
    assert first > fourth > 0
    assert values(pool, "bm25") == pytest.approx([1, 0, 0, fourth / first])
    # ties share the best of their ranks
    assert values(pool, "bm25.rank") == pytest.approx([0, -math.log(3), -math.log(3), -math.log(2)])
    assert values(pool, "bm25.size") == pytest.approx([math.log1p(v) for v in raw])
    assert values(pool, "bm25.span") == pytest.approx([1, 0, 0, fourth / first])


def test_a_signal_against_its_source(pool: Candidates) -> None:
    share = bm25_share(pool)[3]
    assert values(pool, "bm25.source_best") == pytest.approx([1, 1, 1, share])
    assert values(pool, "bm25.source_rank") == pytest.approx([0, 0, 0, -math.log(2)])
    assert values(pool, "bm25.in_source") == pytest.approx([1, 0, 0, 1])


def test_signals_of_the_turns_around(pool: Candidates) -> None:
    assert values(pool, "bm25@-1") == pytest.approx([0, 1, 0, 0])
    assert values(pool, "bm25@+1") == pytest.approx([0, 0, 0, 0])
    assert values(pool, "bm25@-2") == pytest.approx([0, 0, 1, 0])
    assert values(pool, "bm25.around") == pytest.approx([0, 1, 1, 0])
    assert values(pool, "bm25.peak") == pytest.approx([1, 0, 0, 1])


def test_question_and_answer_pairs(pool: Candidates) -> None:
    assert values(pool, "asks.bm25") == pytest.approx([1, 0, 0, 0])
    assert values(pool, "answer.bm25") == pytest.approx([0, 1, 0, 0])
    assert values(pool, "answer_speaker.bm25") == pytest.approx([0, 1, 0, 0])
    assert values(pool, "speaker.bm25") == pytest.approx([0, 0, 0, 0])


def test_phrases_numbers_and_names_of_the_question(index_of: Make, signals_of: MakeSignals) -> None:
    index = index_of("the red boat in Graz", "a boat, red, 12 oars", "red boat red boat")
    pool = candidates(signals_of(index, 'Was a "red boat" with 12 oars in Graz?'))
    assert values(pool, "quotes") == [1, 0, 1]
    assert values(pool, "bigrams") == [1, 1, 1]  # "12 oars" in the second
    assert values(pool, "numbers") == [0, 1, 0]
    assert values(pool, "proper") == [1, 0, 0]


def test_of_equally_rare_words_the_first_of_the_question_is_the_rarest(
    index_of: Make, signals_of: MakeSignals
) -> None:
    """Not the one that memory happened to hear last."""
    for question, expected in (("oars or mast?", [1, 0]), ("mast or oars?", [0, 1])):
        pool = candidates(signals_of(index_of("oars", "mast"), question))
        assert values(pool, "rarest_term") == expected


def test_phrases_do_not_reach_across_units(index_of: Make, signals_of: MakeSignals) -> None:
    pool = candidates(signals_of(index_of("he is red", "boat ahoy"), 'the "red boat"'))
    assert values(pool, "quotes") == values(pool, "bigrams") == [0, 0]


def test_dates_against_the_date_of_the_question(index_of: Make, signals_of: MakeSignals) -> None:
    index = index_of(
        MemoryUnit("sailed yesterday", event_time=datetime(2023, 5, 8)),
        MemoryUnit("sailed", event_time=datetime(2023, 6, 5)),
        MemoryUnit("sailed", event_time=datetime(2022, 5, 8)),
        MemoryUnit("sailed"),
    )
    pool = candidates(signals_of(index, "When in May 2023 did they sail on 8 May 2023?"))
    assert values(pool, "has_date") == [1, 1, 1, 0]
    assert values(pool, "date.month") == [1, 0, 1, 0]
    assert values(pool, "date.year") == [1, 1, 0, 0]
    assert values(pool, "date.near") == pytest.approx([1, math.exp(-2), 0, 0], abs=1e-6)
    assert values(pool, "date.after") == [1, 1, 0, 0]
    assert values(pool, "when.time_words") == [1, 0, 0, 0]
    assert values(pool, "expected") == [1, 0, 0, 0]


def test_a_month_without_a_year_is_that_of_the_newest_living_unit(
    index_of: Make, signals_of: MakeSignals
) -> None:
    index = index_of(
        MemoryUnit("sailed", event_time=datetime(2022, 6, 15)),
        MemoryUnit("sailed", event_time=datetime(2023, 6, 15)),
    )
    assert values(candidates(signals_of(index, "in June?")), "date.near")[1] == 1
    index.remove("u2")
    assert values(candidates(signals_of(index, "in June?")), "date.near") == [1]


# -- whatever the memory is like


@dataclass(frozen=True)
class Turn:
    speaker: str | None
    text: str
    source: str | None
    time: datetime | None


words = st.lists(
    st.sampled_from(
        ["red", "boat", "boats", "12", "yesterday", "I", "you", "Graz", "東京", "?", "!"]
    ),
    max_size=6,
).map(" ".join)
turns = st.builds(
    Turn,
    st.sampled_from([None, "Anna", "Ben Red"]),
    words,
    st.sampled_from([None, "a", "b"]),
    st.sampled_from([None, datetime(2023, 5, 8), datetime(2024, 1, 1, 9, 30)]),
)
QUESTIONS = (
    "What did Anna buy?",
    'When did Ben Red say "red boat" in May 2023?',
    "How many boats has Graz, 12 or 13?",
    "東京?",
    "is it?",
    "",
)


def units(talk: list[Turn]) -> list[MemoryUnit]:
    return [
        MemoryUnit(
            t.text,
            speaker=t.speaker,
            source=t.source,
            turn_start=None if t.source is None else i,
            event_time=t.time,
        )
        for i, t in enumerate(talk)
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(turns, max_size=7),
    st.sampled_from(QUESTIONS),
    st.sampled_from(["bare", "hashing", "static"]),
    st.sets(st.integers(0, 6), max_size=3),
)
def test_every_feature_is_finite_on_any_memory(
    index_of: Make,
    signals_of: MakeSignals,
    static: StaticEmbedder,
    talk: list[Turn],
    question: str,
    kind: str,
    gone: set[int],
) -> None:
    index = index_of(*units(talk), source=None)
    for place in sorted(gone):
        index.remove(f"u{place + 1}")
    given_vectors = {
        "bare": {},
        "hashing": {"embedder": HashingEmbedder(16)},
        "static": {"embedder": static, "words": static},
    }[kind]
    signals = signals_of(index, question, RetrievalConfig(), **given_vectors)
    rows = index.living
    pool = candidates(signals, [1 / (1 + i) for i in range(rows)])
    table = matrix(pool, tuple(features()))
    assert table.shape == (rows, len(features()))
    assert table.dtype == np.float32
    assert np.isfinite(table).all(), [
        name
        for name, column in zip(features(), table.T, strict=True)
        if not np.isfinite(column).all()
    ]
    assert set(available(pool)) <= set(features())


SPEAKERS = ("has_speaker", "speaker", "other", "addressed", "answer_speaker", "names_in_question")
DATES = ("has_date", "date.")
NEIGHBOURS = (
    "has_previous",
    "has_next",
    "previous_is",
    "next_is",
    "answer",
    "addressed",
    "length@",
)


@pytest.mark.parametrize(
    ("left_out", "starts", "also"),
    [
        ("speaker", SPEAKERS, ()),
        ("event_time", DATES, ()),
        ("source", NEIGHBOURS, ("@", ".around")),
    ],
)
def test_features_of_what_is_absent_are_0(
    index_of: Make,
    signals_of: MakeSignals,
    static: StaticEmbedder,
    left_out: str,
    starts: tuple[str, ...],
    also: tuple[str, ...],
) -> None:
    """With an indicator that says so; and not 0 everywhere where it is there."""
    lines = [
        ("Ben", "Which red boat is it?"),
        ("Anna", "I saw you on the red boat"),
        ("Ben", "Boat!"),
    ]
    tables = []
    for absent in (False, True):
        given_units = [
            MemoryUnit(
                text,
                speaker=None if absent and left_out == "speaker" else speaker,
                source=None if absent and left_out == "source" else "talk",
                turn_start=None if absent and left_out == "source" else i,
                event_time=None if absent and left_out == "event_time" else datetime(2023, 5, 8),
            )
            for i, (speaker, text) in enumerate(lines)
        ]
        index = index_of(*given_units, source=None)
        question = "What did Anna say about the red boat on 8 May 2023?"
        signals = signals_of(index, question, embedder=static, words=static)
        names = tuple(
            n for n in features() if n.startswith(starts) or any(part in n for part in also)
        )
        tables.append(matrix(candidates(signals, [2.0, 1.0, 0.0]), names))
    present, absent_table = tables
    assert not absent_table.any(), [
        n for n, c in zip(names, absent_table.T, strict=True) if c.any()
    ]
    assert present.any(axis=0).mean() > 0.5
