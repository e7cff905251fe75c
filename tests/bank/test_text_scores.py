"""Full-text scores against BM25 worked out by hand, and the scripts the trigram index takes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from memgene.bank import MemoryUnit, SqliteBank
from memgene.bank.scripts import is_unspaced
from memgene.core import Scope

TEXTS = ("apple pie", "apple apple tart with cream", "cherry tart", "plain bread", "rye bread loaf")


@pytest.fixture
def bank() -> Iterator[SqliteBank]:
    with SqliteBank(":memory:") as bank:
        yield bank


def bm25(counts: dict[str, int], length: int) -> float:
    """Okapi BM25 with FTS5's k1 = 1.2, b = 0.75; each unit's owner token counts one word."""
    total, average = len(TEXTS), sum(len(t.split()) + 1 for t in TEXTS) / len(TEXTS)
    holders = {"apple": 2, "tart": 2, "cherry": 1}
    score = 0.0
    for term, count in counts.items():
        idf = math.log((total - holders[term] + 0.5) / (holders[term] + 0.5))
        score += idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * (length + 1) / average))
    return score


@pytest.mark.parametrize("scope", [None, Scope("me")])
def test_scores_are_bm25(bank: SqliteBank, scope: Scope | None) -> None:
    ids = [r.id for r in bank.add([MemoryUnit(t, scope=Scope("me")) for t in TEXTS])]
    matches = bank.search_text(["apple", "tart", "cherry"], scope, 10)
    expected = {
        ids[0]: bm25({"apple": 1}, 2),
        ids[1]: bm25({"apple": 2, "tart": 1}, 5),
        ids[2]: bm25({"cherry": 1, "tart": 1}, 2),
    }
    assert {m.id: m.score for m in matches} == pytest.approx(expected)
    assert [m.id for m in matches] == sorted(expected, key=lambda i: -expected[i])


def test_the_owner_token_restricts_but_does_not_score(bank: SqliteBank) -> None:
    ids = [r.id for r in bank.add([MemoryUnit(t, scope=Scope("me")) for t in TEXTS])]
    alone = bank.search_text(["apple"], Scope("me"), 10)
    (other,) = bank.add([MemoryUnit("apple", scope=Scope("you"))])
    together = {m.id: m.score for m in bank.search_text(["apple"], None, 10)}
    mine = bank.search_text(["apple"], Scope("me"), 10)
    assert [m.id for m in mine] == [m.id for m in alone]
    assert {m.id: m.score for m in mine} == {i: together[i] for i in ids if i in together}
    assert [m.id for m in bank.search_text(["apple"], Scope("you"), 10)] == [other.id]


def test_only_unspaced_texts_enter_the_trigram_index(bank: SqliteBank) -> None:
    bank.add([MemoryUnit(t) for t in ("plain English", "naïve Ελληνικά русский", "猫")])
    with bank._connections.reading() as connection:
        assert connection.execute("SELECT count(*) FROM grams_docsize").fetchone() == (1,)


@pytest.mark.parametrize(
    "text", ["猫", "ねこ", "ネコ", "แมว", "ແມວ", "ឆ្មា", "ကြောင်", "고양이", "𠮷", "a猫"]
)
def test_scripts_written_without_spaces(text: str) -> None:
    assert is_unspaced(text)


@pytest.mark.parametrize(
    "text", ["", "cat", "gatto è", "кошка", "γάτα", "قطة", "חתול", "बिल्ली", "🐈"]
)
def test_scripts_written_with_spaces(text: str) -> None:
    assert not is_unspaced(text)
