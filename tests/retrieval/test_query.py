"""What a question asks for, read against a memory: words, names, phrases, numbers, dates."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from memgene.bank.unit import MemoryUnit
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.query import DateMention, Query, analyse, idf

Make = Callable[..., UnitIndex]


@pytest.fixture
def talk(index_of: Make) -> UnitIndex:
    return index_of(
        "Anna: I bought a red boat in Graz.",
        "Ben: The red boat needs 12 oars.",
        "Anna: Oars are dear.",
        MemoryUnit("They met Mira Lind.", persons=("Mira Lind",)),
    )


def words_of(query: Query, *, names: bool = True) -> list[str]:
    return [t.word for t in query.content(names=names)]


def stems_of(index: UnitIndex, terms: object) -> set[str]:
    names = {number: stem for stem, number in index.postings.vocabulary.items()}
    return {names[t] for t in terms}  # type: ignore[attr-defined]


def test_content_words_come_once_in_order_with_their_idf(talk: UnitIndex) -> None:
    query = analyse("Which boats, or boat, or oars does the sailor have?", talk)
    assert [(t.word, t.stem) for t in query.terms] == [
        ("boats", "boat"),
        ("oars", "oar"),
        ("sailor", "sailor"),
    ]
    two_of_four = math.log(1 + (4 - 2 + 0.5) / 2.5)
    assert query.terms[0].idf == query.terms[1].idf == pytest.approx(two_of_four)
    assert query.terms[2].term is None
    assert query.terms[2].idf == pytest.approx(math.log(1 + 4.5 / 0.5))


def test_idf_is_never_negative_and_falls_with_frequency(index_of: Make) -> None:
    index = index_of("tea", "tea", "tea cup")
    tea, cup = index.postings.term("tea"), index.postings.term("cup")
    assert 0 < idf(index, tea) == pytest.approx(math.log(1 + 0.5 / 3.5))
    assert idf(index, tea) < idf(index, cup) < idf(index, None)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What did Anna buy?", {"anna"}),
        ("What is Anna's boat?", {"anna"}),
        ("Did ANNA meet Mira Lind?", {"anna", "mira", "lind"}),
        ("what did anna buy?", {"anna"}),
        ("What does anna mean in Greek?", set()),
        ("What did Carla buy?", set()),
    ],
)
def test_names_are_capitalised_words_that_somebody_in_memory_bears(
    talk: UnitIndex, question: str, names: set[str]
) -> None:
    assert {t.word for t in analyse(question, talk).terms if t.is_name} == names


def test_named_persons_are_speakers_by_number(talk: UnitIndex) -> None:
    anna, ben = talk.speaker[0], talk.speaker[1]
    assert analyse("What did Anna tell Ben?", talk).speakers == {anna, ben}
    assert analyse("What was told?", talk).speakers == frozenset()


def test_names_are_left_out_unless_nothing_else_is_left(talk: UnitIndex) -> None:
    query = analyse("Which boat did Anna buy?", talk)
    assert words_of(query) == ["boat", "anna", "buy"]
    assert words_of(query, names=False) == ["boat", "buy"]
    assert query.words(names=False) == "boat buy"
    assert words_of(analyse("Who is Anna?", talk), names=False) == ["anna"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did Anna's boat cost, Ben?", "What did boat cost,"),
        ("Anna", "Anna"),
        ("What now?", "What now?"),
    ],
)
def test_the_question_without_names_keeps_its_other_words_as_written(
    talk: UnitIndex, question: str, expected: str
) -> None:
    assert analyse(question, talk).without_names() == expected


def test_a_question_of_stop_words_is_taken_as_it_is(talk: UnitIndex) -> None:
    query = analyse("What is it?", talk)
    assert query.terms == ()
    assert query.words(names=False) == "What is it?"


def test_bigrams_are_neighbouring_content_words_that_memory_knows(talk: UnitIndex) -> None:
    query = analyse("Is the red boat or red canoe in need of oars?", talk)
    pairs = [stems_of(talk, pair) for pair in query.bigrams]
    assert pairs == [{"red", "boat"}]


@pytest.mark.parametrize(
    "question",
    [
        'Who said "red boat"?',
        "Who said “red boat”?",
        "Who said 'red boat'?",
        "Who said «red boat»?",
    ],
)
def test_quoted_phrases_are_found_in_any_quotes(talk: UnitIndex, question: str) -> None:
    (quote,) = analyse(question, talk).quotes
    names = {number: stem for stem, number in talk.postings.vocabulary.items()}
    assert [names[t] for t in quote] == ["red", "boat"]


def test_a_quote_with_an_unknown_word_and_an_apostrophe_are_no_quotes(talk: UnitIndex) -> None:
    assert analyse('Who said "red canoe"?', talk).quotes == ()
    assert analyse("Isn't Anna's boat red, or Ben's?", talk).quotes == ()


def test_proper_names_are_known_capitalised_words_inside_that_are_nobody(talk: UnitIndex) -> None:
    query = analyse("Boat trips: did Anna go to Graz or Vienna?", talk)
    assert stems_of(talk, query.proper) == {"graz"}


def test_numbers_are_digits_that_memory_knows(talk: UnitIndex) -> None:
    assert stems_of(talk, analyse("Are 12 or 13 oars needed?", talk).numbers) == {"12"}


@pytest.mark.parametrize(
    ("question", "year", "month", "day"),
    [
        ("What happened in 2023?", 2023, None, None),
        ("What happened in June 2023?", 2023, 6, None),
        ("What happened on 8 June, 2023?", 2023, 6, 8),
        ("What happened on June 8th?", None, 6, 8),
        ("What happened on the 21st of Sep?", None, 9, 21),
        ("what happened in october?", None, 10, None),
        ("Which 3 books did she read in June?", None, 6, None),
        ("What happened on 45 June?", None, 6, None),
        ("What happened on May 8th?", None, 5, 8),
        ("What happened in May?", None, 5, None),
        ("What happened in March 2024?", 2024, 3, None),
        ("what happened in may 2024?", 2024, 5, None),
    ],
)
def test_dates_are_read_part_by_part(
    talk: UnitIndex, question: str, year: int | None, month: int | None, day: int | None
) -> None:
    assert analyse(question, talk).date == DateMention(year, month, day)


@pytest.mark.parametrize(
    "question",
    [
        "What did she buy?",
        "What may she buy?",
        "Did they march for peace?",
        "Does room 1234 have 31 chairs?",
        "Who is May Brown?",
    ],
)
def test_words_that_are_no_dates(talk: UnitIndex, question: str) -> None:
    assert analyse(question, talk).date is None


def test_a_verb_beside_a_year_is_no_month(talk: UnitIndex) -> None:
    assert analyse("What may Ben have bought in 2023?", talk).date == DateMention(2023)
    assert analyse("What may Ben have bought in June?", talk).date == DateMention(None, 6)


def test_an_empty_memory_can_be_asked() -> None:
    query = analyse('What did Anna say on 8 May about "boats"?', UnitIndex())
    assert (query.speakers, query.quotes, query.proper) == (frozenset(), (), frozenset())
    assert [t.term for t in query.terms] == [None] * 4
    assert all(math.isfinite(t.idf) for t in query.terms)
