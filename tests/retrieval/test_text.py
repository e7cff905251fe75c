"""Words of a text: the same for a question, a unit and SQLite's full-text index."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.retrieval.text import STOP_WORDS, content_words, fold, stem, stems, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Two Words", ["two", "words"]),
        ("Zoë's café, naïvely", ["zoe", "cafe", "naively"]),
        ("snake_case and-dashes", ["snake", "case", "and", "dashes"]),
        ("room 12b, €30", ["room", "12b", "30"]),
        ("ﬁne print ²", ["fine", "print", "2"]),
        ("привет, Мир", ["привет", "мир"]),
        ("", []),
        ("… — !?", []),
    ],
)
def test_words_are_lower_case_without_marks(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna's boat", ["anna", "boat"]),
        ("Anna’s boat", ["anna", "boat"]),
        ("they're, we've, I'll, I'm, she'd", ["they", "we", "i", "i", "she"]),
        ("the boats' oars", ["the", "boats", "oars"]),
        ("O'Hara", ["o", "hara"]),
        ("ITEM'S", ["item"]),
    ],
)
def test_possessive_and_contracted_endings_are_cut(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京都", ["東京", "京都"]),
        ("猫", ["猫"]),
        ("東京 2024年", ["東京", "2024", "年"]),
        ("私はteaです", ["私は", "tea", "です"]),
        ("มานา", ["มา", "าน", "นา"]),
        ("안녕 하세요", ["안녕", "하세요"]),
    ],
)
def test_scripts_without_spaces_give_pairs_of_characters(text: str, expected: list[str]) -> None:
    assert words(text) == [fold(piece) for piece in expected]


def test_content_words_leave_the_stop_words_out() -> None:
    assert content_words("What did Anna buy at the market?") == ["anna", "buy", "market"]
    assert {"the", "what", "didn", "s"} <= STOP_WORDS
    assert content_words("What is it?") == []


def test_stems_keep_order_repeats_and_stop_words() -> None:
    assert stems("The boats, the boating") == ["the", "boat", "the", "boat"]


@pytest.mark.parametrize("word", ["a", "s", "us", "is", "ty", "ed"])
def test_a_word_of_one_or_two_letters_is_its_own_stem(word: str) -> None:
    assert stem(word) == word


_ROOTS = (
    "cat pony tie agree plaster motor conflat trouble hop tann fall hiss fizz fail fil happy sky "
    "relat condition ration valenc digit conform radic differ vile analog vietnam predic operat "
    "feudal decis hope callous formal sensit sensi triplic form electric good reviv allow infer "
    "airlin gyroscop adjust defens irrit replac adopt commun activ angular effect bowdler prob "
    "rat ceas control roll paint swim run glass"
)
_ENDINGS = (
    "s es ies ed ing eed y ly ational tional enci izer alli entli eli ousli ization ation ator "
    "alism iveness fulness ousness aliti iviti icate ative alize iciti ical ful ness al ance ence "
    "er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize e ll"
)
ROOTS, ENDINGS = _ROOTS.split(), _ENDINGS.split()


@pytest.fixture(scope="module")
def sqlite() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='porter unicode61')")
    connection.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(texts, 'instance')")
    yield connection
    connection.close()


def test_stems_are_those_of_the_full_text_index(sqlite: sqlite3.Connection) -> None:
    """But for two rules that Porter published later, for -bly and -logy, which only SQLite has."""
    listed = sorted({root + ending for root in ROOTS for ending in ("", *ENDINGS)})
    sqlite.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(listed))
    theirs = dict(sqlite.execute("SELECT doc, term FROM terms").fetchall())
    differ = {word: theirs[i] for i, word in enumerate(listed) if theirs[i] != stem(word)}
    assert len(listed) > 2_500
    assert {w: t for w, t in differ.items() if not w.endswith(("bly", "logy", "logies"))} == {}


@given(st.text(max_size=40))
def test_splitting_what_was_split_changes_nothing(text: str) -> None:
    found = words(text)
    assert all(found)
    assert words(" ".join(found)) == found


def test_stemming_from_many_threads_gives_one_answer() -> None:
    """A stemmer object of PyStemmer is not thread-safe."""
    listed = [f"{root}{ending}" for root in ROOTS for ending in ENDINGS]
    expected = [stem(word) for word in listed]
    stem.cache_clear()
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: found.append([stem(word) for word in listed]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
