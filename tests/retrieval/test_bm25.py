"""BM25 over units, windows and episodes, against a plain implementation in Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.bank.unit import MemoryUnit
from memgene.retrieval.bm25 import bm25, source_bm25
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.query import analyse

Make = Callable[..., UnitIndex]
K1, B = 1.2, 0.75


def idf(many: int, holders: int) -> float:
    return math.log(1 + (many - holders + 0.5) / (holders + 0.5))


def reference(documents: Sequence[Sequence[str]], weights: dict[str, float]) -> list[float]:
    """Okapi BM25 of each document, the words' idf given."""
    mean = max(sum(map(len, documents)) / max(len(documents), 1), 1.0)
    scores = []
    for words in documents:
        counts = Counter(words)
        norm = K1 * (1 - B + B * len(words) / mean)
        scores.append(
            sum(w * (K1 + 1) * counts[t] / (counts[t] + norm) for t, w in weights.items())
        )
    return scores


def test_by_hand(index_of: Make) -> None:
    index = index_of("tea tea pot", "pot", "cup")
    scores = bm25(index, analyse("tea", index).terms)
    # idf ln(1 + 2.5/1.5) = 0.98083; norm 1.2 · (0.25 + 0.75 · 3 / (5/3)) = 1.92
    assert scores.tolist() == pytest.approx([0.980829 * 2.2 * 2 / (2 + 1.92), 0, 0])


def test_words_add_up_and_unknown_words_add_nothing(index_of: Make) -> None:
    index = index_of("tea pot", "pot", "cup")

    def score(question: str) -> float:
        return float(bm25(index, analyse(question, index).terms)[0])

    assert score("tea pot") == pytest.approx(score("tea") + score("pot"))
    assert score("tea samovar") == score("tea")
    assert score("samovar") == 0


def test_a_window_is_the_text_of_its_units_joined(index_of: Make) -> None:
    index = index_of("tea", "pot pot", "cup tea")
    query = analyse("pot", index)
    windows = ["tea pot pot", "tea pot pot cup tea", "pot pot cup tea"]
    # the word is as rare as among units: idf ln(1 + 2.5/1.5)
    expected = reference([w.split() for w in windows], {"pot": 0.980829})
    assert bm25(index, query.terms, offsets=(-1, 0, 1)).tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("offsets", "reached"),
    [
        ((0,), {1}),
        ((-1, 0), {1, 2}),
        ((0, 1), {0, 1}),
        ((-1, 0, 1), {0, 1, 2}),
        ((-2, -1, 0, 1, 2), {0, 1, 2, 3}),
    ],
)
def test_offsets_say_whose_words_count(
    index_of: Make, offsets: tuple[int, ...], reached: set[int]
) -> None:
    index = index_of("a1", "tea", "a2", "a3", "a4")
    scores = bm25(index, analyse("tea", index).terms, offsets=offsets)
    assert {row for row, score in enumerate(scores) if score > 0} == reached


def test_windows_do_not_cross_sources(units_of: Callable[..., list[MemoryUnit]]) -> None:
    index = UnitIndex()
    index.append(units_of("tea"))
    index.append(
        [MemoryUnit("cup", id="x", seq=2, source="other", turn_start=2), MemoryUnit("mug", id="y")]
    )
    scores = bm25(index, analyse("tea", index).terms, offsets=(-1, 0, 1))
    assert [score > 0 for score in scores] == [True, False, False]


def test_removed_rows_score_nothing_in_any_view(index_of: Make) -> None:
    index = index_of("tea", "tea pot", "tea")
    index.remove("u2")
    terms = analyse("tea pot", index).terms
    for scores in (
        bm25(index, terms),
        bm25(index, terms, offsets=(-1, 0, 1)),
        source_bm25(index, terms),
    ):
        assert scores[1] == 0
        assert scores[0] > 0


def test_an_episode_scores_as_one_text(index_of: Make) -> None:
    index = UnitIndex()
    for source, texts in {"one": ["tea", "pot tea"], "two": ["cup"], "three": ["pot"]}.items():
        index.append(
            [
                MemoryUnit(t, id=f"{source}{i}", seq=len(index) + i, source=source, turn_start=i)
                for i, t in enumerate(texts)
            ]
        )
    index.append([MemoryUnit("tea alone", id="alone", seq=99)])
    scores = source_bm25(index, analyse("tea", index).terms)
    (one,) = reference([["tea", "pot", "tea"], ["cup"], ["pot"]], {"tea": idf(3, 1)})[:1]
    assert scores.tolist() == pytest.approx([one, one, 0, 0, 0])


def test_an_episode_that_is_gone_counts_no_more() -> None:
    texts = [("a", "tea"), ("a", "tea pot"), ("b", "pot cup"), ("c", "tea cup")]
    units = [
        MemoryUnit(t, source=s, turn_start=i, id=f"u{i}", seq=i) for i, (s, t) in enumerate(texts)
    ]
    followed, built = UnitIndex(), UnitIndex()
    followed.append(units)
    followed.remove("u3")
    built.append(units[:3])
    expected = source_bm25(built, analyse("tea", built).terms)
    assert source_bm25(followed, analyse("tea", followed).terms)[:3].tolist() == pytest.approx(
        expected.tolist()
    )


def test_a_memory_without_episodes_or_without_units() -> None:
    index = UnitIndex()
    assert bm25(index, analyse("tea", index).terms).tolist() == []
    assert source_bm25(index, analyse("tea", index).terms).tolist() == []
    index.append([MemoryUnit("tea", id="u", seq=1)])
    assert source_bm25(index, analyse("tea", index).terms).tolist() == [0.0]


@dataclass(frozen=True)
class Turn:
    source: str
    words: tuple[str, ...]
    gone: bool


turns = st.builds(
    Turn,
    st.sampled_from("ab"),
    st.lists(st.sampled_from(["tea", "pot", "cup", "mug"]), max_size=6).map(tuple),
    st.booleans(),
)


@settings(max_examples=80)
@given(
    st.lists(turns, max_size=12),
    st.lists(st.sampled_from(["tea", "pot", "samovar"]), min_size=1, max_size=3, unique=True),
    st.sampled_from([(0,), (-1, 0), (0, 1), (-1, 0, 1), (-2, -1, 0, 1, 2)]),
)
def test_units_windows_and_episodes_equal_the_plain_implementation(
    talk: list[Turn], question: list[str], offsets: tuple[int, ...]
) -> None:
    index = UnitIndex()
    index.append(
        [
            MemoryUnit(" ".join(t.words), source=t.source, turn_start=i, id=f"u{i}", seq=i)
            for i, t in enumerate(talk)
        ]
    )
    for i, turn in enumerate(talk):
        if turn.gone:
            index.remove(f"u{i}")
    living = [t for t in talk if not t.gone]
    terms = analyse(" ".join(question), index).terms
    weights = {w: idf(len(living), sum(w in t.words for t in living)) for w in question}
    assert {t.word: t.idf for t in terms} == pytest.approx(weights)

    sources: dict[str, list[Turn]] = {}
    for turn in living:
        sources.setdefault(turn.source, []).append(turn)
    windows = []
    for turn in living:
        own = sources[turn.source]
        at = next(i for i, other in enumerate(own) if other is turn)
        reached = [own[at + o].words for o in offsets if 0 <= at + o < len(own)]
        windows.append([word for words in reached for word in words])
    found = bm25(index, terms, offsets=offsets)
    assert found[index.alive].tolist() == pytest.approx(reference(windows, weights), abs=1e-5)

    episodes = [[w for t in own for w in t.words] for own in sources.values()]
    weights = {w: idf(len(episodes), sum(w in e for e in episodes)) for w in question}
    scores = dict(zip(sources, reference(episodes, weights), strict=True))
    found = source_bm25(index, terms)
    assert found[index.alive].tolist() == pytest.approx(
        [scores[t.source] for t in living], abs=1e-5
    )
    assert not found[~index.alive].any()
