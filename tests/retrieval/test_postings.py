"""Which rows hold a stem, how often: the same before and after compaction."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.retrieval import postings as module
from memgene.retrieval.postings import Postings

TALK = [["tea", "pot", "tea"], ["pot"], [], ["cup", "tea"]]


def found(postings: Postings, stem: str) -> list[tuple[int, float]]:
    """(row, count) pairs of a stem."""
    term = postings.term(stem)
    assert term is not None
    rows, counts = postings.rows(term)
    return list(zip(rows.tolist(), counts.tolist(), strict=True))


def test_rows_ascend_with_their_counts() -> None:
    postings = Postings()
    postings.append(TALK)
    assert found(postings, "tea") == [(0, 2.0), (3, 1.0)]
    assert found(postings, "pot") == [(0, 1.0), (1, 1.0)]
    assert found(postings, "cup") == [(3, 1.0)]
    assert postings.term("milk") is None
    assert len(postings) == 4


def test_a_row_can_be_read_back() -> None:
    postings = Postings()
    postings.append(TALK)
    tea, pot = postings.term("tea"), postings.term("pot")
    assert postings.reading(0).tolist() == [tea, pot, tea]
    assert postings.terms_of(0).tolist() == [tea, pot]
    assert postings.reading(2).tolist() == []


def test_a_removed_row_leaves_the_document_frequency_at_once() -> None:
    postings = Postings()
    postings.append(TALK)
    tea, pot = postings.term("tea"), postings.term("pot")
    assert tea is not None
    assert pot is not None
    assert (postings.df(tea), postings.df(pot)) == (2, 2)
    postings.remove(0)
    assert (postings.df(tea), postings.df(pot)) == (1, 1)


rows_of_stems = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=5), max_size=12)


@settings(max_examples=60)
@given(st.lists(rows_of_stems, max_size=4), st.integers(0, 8))
def test_the_tail_and_the_compacted_main_part_give_the_same_rows(
    batches: list[list[list[str]]], tail: int
) -> None:
    """Compaction after any number of rows changes nothing that can be seen."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_TAIL_LEAST", tail)
        compacted = Postings()
        for batch in batches:
            compacted.append(batch)
    plain = Postings()
    rows = [row for batch in batches for row in batch]
    plain.append(rows)
    assert compacted.vocabulary == plain.vocabulary
    for stem in "abcdefg":
        expected = [(i, float(Counter(row)[stem])) for i, row in enumerate(rows) if stem in row]
        if not expected:
            assert compacted.term(stem) is None
            continue
        assert found(compacted, stem) == found(plain, stem) == expected
        term = compacted.term(stem)
        assert term is not None
        assert compacted.df(term) == len(expected)


def test_more_terms_than_the_first_buffer_holds() -> None:
    postings = Postings()
    postings.append([[f"w{i}" for i in range(3_000)], ["w2999"]])
    term = postings.term("w2999")
    assert term == 2_999
    assert postings.df(term) == 2
