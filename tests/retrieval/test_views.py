"""Views: which are looked at, how many rows each gives, what each is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import numpy as np
import pytest

from memgene.bank.unit import MemoryUnit
from memgene.embed.hashing import HashingEmbedder
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.query import analyse
from memgene.retrieval.signals import Signals
from memgene.retrieval.views import View, best_rows, build_views, frequent_dropped

Make = Callable[..., UnitIndex]
MakeSignals = Callable[..., Signals]
ALL = {"lexical", "window", "episode", "dense", "soft", "structured"}
ON = RetrievalConfig(soft_k=60)


class OneVector:
    dimension = 2

    def words(self, words: Sequence[str]) -> np.ndarray:
        return np.tile(np.asarray([1, 0], np.float32), (len(words), 1))


class FullText:
    """Answers as told, and notes what it was asked."""

    def __init__(self, *found: tuple[int, float]) -> None:
        self.found = found
        self.asked: list[tuple[list[str], int]] = []

    def __call__(self, words: Sequence[str], limit: int) -> list[tuple[int, float]]:
        self.asked.append((list(words), limit))
        return list(self.found[:limit])


@pytest.fixture
def index(index_of: Make) -> UnitIndex:
    return index_of("Anna: red boat", "Ben: red car", "Anna: blue boat", "Ben: tea")


def views(
    signals: Signals, search: FullText | None = None, allowed: Sequence[bool] | None = None
) -> dict[str, View]:
    mask = None if allowed is None else np.asarray(allowed)
    built = build_views(signals, signals.config, search or FullText(), mask)
    return {v.name: v for v in built}


def test_every_view_that_is_on_and_can_be_served(index: UnitIndex, signals_of: MakeSignals) -> None:
    full = signals_of(index, "red boat", ON, embedder=HashingEmbedder(), words=OneVector())
    assert set(views(full)) == ALL
    bare = signals_of(index, "red boat", ON)
    assert set(views(bare)) == ALL - {"dense", "soft"}


@pytest.mark.parametrize("name", sorted(ALL))
def test_no_candidates_switch_a_view_off(
    index: UnitIndex, signals_of: MakeSignals, name: str
) -> None:
    config = ON.changed(**{f"{name}_k": 0})
    signals = signals_of(index, "red", config, embedder=HashingEmbedder(), words=OneVector())
    assert set(views(signals)) == ALL - {name}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"window": 0}, ALL - {"window"}),
        ({"entity_swap": True}, ALL | {"entity_swap"}),
        ({"entity_swap": True, "entity_swap_k": 0}, ALL),
        ({"fusion": "lexical_only"}, {"lexical"}),
        ({"fusion": "lexical_only", "entity_swap": True}, {"lexical", "entity_swap"}),
        ({"fusion": "dense_only", "entity_swap": True}, {"dense"}),
    ],
)
def test_which_views_the_fusion_looks_at(
    index: UnitIndex, signals_of: MakeSignals, changes: dict[str, object], expected: set[str]
) -> None:
    config = ON.changed(**changes)
    signals = signals_of(index, "red", config, embedder=HashingEmbedder(), words=OneVector())
    assert set(views(signals)) == expected


def test_a_view_gives_at_most_its_candidates_best_first(
    index: UnitIndex, signals_of: MakeSignals
) -> None:
    signals = signals_of(index, "red boat", RetrievalConfig(window_k=2, structured_k=1))
    window = views(signals)["window"]
    assert len(window.rows) == 2
    assert window.scores.tolist() == sorted(window.scores.tolist(), reverse=True)
    assert window.score_at(window.rows).tolist() == window.scores.tolist()


def test_the_full_text_view_scores_what_it_returned(
    index: UnitIndex, signals_of: MakeSignals
) -> None:
    search = FullText((2, 2.0), (0, 1.0))
    view = views(signals_of(index, "red boat"), search)["lexical"]
    assert view.rows.tolist() == [2, 0]
    assert view.score_at(np.asarray([0, 1, 2])).tolist() == [1.0, 0.0, 2.0]


def test_names_are_left_out_of_the_full_text_search_or_not(
    index: UnitIndex, signals_of: MakeSignals
) -> None:
    question = "Which boat has Anna?"
    for drop, words in ((True, ["boat"]), (False, ["boat", "anna"])):
        search = FullText()
        views(signals_of(index, question, RetrievalConfig(lexical_drop_names=drop)), search)
        assert [w for w, _ in search.asked] == [words]


def test_the_entity_swap_searches_again_without_names(
    index: UnitIndex, signals_of: MakeSignals
) -> None:
    config = RetrievalConfig(lexical_drop_names=False, entity_swap=True, entity_swap_k=7)
    search = FullText()
    views(signals_of(index, "Which boat has Anna?", config), search)
    assert search.asked == [(["boat", "anna"], 60), (["boat"], 7)]


def test_a_question_of_stop_words_is_not_searched(
    index: UnitIndex, signals_of: MakeSignals
) -> None:
    search = FullText()
    assert views(signals_of(index, "What is it?"), search)["lexical"].rows.tolist() == []
    assert search.asked == []


def test_a_filter_holds_in_every_view(index: UnitIndex, signals_of: MakeSignals) -> None:
    config = ON.changed(entity_swap=True)
    signals = signals_of(
        index, "Which red boat has Ben?", config, embedder=HashingEmbedder(), words=OneVector()
    )
    search = FullText(*((row, 1.0) for row in range(4)))
    found = views(signals, search, [True, False, True, False])
    assert set(found) == ALL | {"entity_swap"}
    for view in found.values():
        assert set(view.rows.tolist()) <= {0, 2}, view.name
        assert len(view.rows) or view.name == "structured", view.name


@pytest.mark.parametrize(
    ("fusion", "weights"),
    [
        ("weighted_sum", {"lexical": 0.5, "window": 2, "entity_swap": 0.5, "structured": 3}),
        ("rrf", {"lexical": 0.5, "window": 2, "entity_swap": 0.5, "structured": 3}),
        ("sum", {"lexical": 1, "window": 1, "entity_swap": 1, "structured": 1}),
    ],
)
def test_weights_are_the_configured_ones_but_for_the_plain_sum(
    index: UnitIndex, signals_of: MakeSignals, fusion: str, weights: dict[str, float]
) -> None:
    config = RetrievalConfig(
        fusion=fusion,
        entity_swap=True,
        weight_lexical=0.5,
        weight_window=2,
        weight_structured=3,
        episode_k=0,
    )
    found = views(signals_of(index, "Which boat has Anna?", config))
    assert {name: view.weight for name, view in found.items()} == weights


def test_best_rows_are_positive_and_ties_go_by_row() -> None:
    scores = np.asarray([0.5, 2, 0, 0.5, -1, 0.5], np.float32)
    assert best_rows(scores, 9).tolist() == [1, 0, 3, 5]
    assert best_rows(scores, 2).tolist() == [1, 0]
    assert best_rows(scores, 1).tolist() == [1]
    assert best_rows(np.zeros(3, np.float32), 5).tolist() == []


def kept(index: UnitIndex, question: str, share: float) -> list[str]:
    terms = analyse(question, index).terms
    return [t.word for t in frequent_dropped(terms, index, share)]


def test_words_of_more_than_a_share_of_the_units_are_dropped(index_of: Make) -> None:
    index = index_of(*["tea pot"] * 150, *["tea"] * 50, "cup")
    assert kept(index, "tea pot cup samovar", 1.0) == ["tea", "pot", "cup", "samovar"]
    assert kept(index, "tea pot cup samovar", 0.9) == ["pot", "cup", "samovar"]
    assert kept(index, "tea pot cup samovar", 0.1) == ["cup", "samovar"]


def test_if_no_word_would_be_left_the_rarest_stays(index_of: Make) -> None:
    index = index_of(*["tea pot"] * 150, *["tea"] * 50)
    assert kept(index, "tea pot", 0.1) == ["pot"]
    assert kept(index, "What is it?", 0.1) == []


def test_a_word_of_a_hundred_units_or_fewer_is_never_dropped(index_of: Make) -> None:
    index = index_of(*["tea"] * 100, "cup")
    assert kept(index, "tea cup", 0.01) == ["tea", "cup"]
    index.append(index_of("tea").units)
    assert kept(index, "tea cup", 0.01) == ["cup"]


def test_a_word_of_the_date_counts_as_the_full_text_holds_it(index_of: Make) -> None:
    dated = MemoryUnit("tea", event_time=datetime(2024, 5, 1))
    index = index_of(*[dated] * 101, "cup")
    assert kept(index, "May 2024 cup", 0.5) == ["cup"]


def test_a_removed_row_takes_no_place_in_any_view(index_of: Make, signals_of: MakeSignals) -> None:
    index = index_of("Anna: red boat", "Anna: red boat", "Ben: red car")
    index.remove("u1")
    config = RetrievalConfig(**{f"{name}_k": 1 for name in ALL})  # type: ignore[arg-type]
    signals = signals_of(
        index, "Which red boat has Anna?", config, embedder=HashingEmbedder(), words=OneVector()
    )
    for view in views(signals, FullText((1, 1.0))).values():
        assert view.rows.tolist() == [1], view.name
