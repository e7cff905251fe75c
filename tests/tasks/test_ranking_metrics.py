from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.core import Hit
from memgene.tasks.metrics import evidence_in_text, get_metric, mrr, ndcg_at_k, recall_at_k
from memgene.tasks.metrics.rankings import hit_at_k


def hits(*refs, source="s"):
    return [
        Hit(id=f"u{i}", text="", score=0, refs=(ref,), source=source) for i, ref in enumerate(refs)
    ]


def test_recall_counts_unique_gold_units():
    ranking = hits("a", "x", "b", "a", "c")
    assert recall_at_k(["a", "b", "c", "d"], ranking, 3) == 2 / 4
    assert recall_at_k(["a", "a", "b"], ranking, 3) == 1
    assert recall_at_k(["d"], ranking, 5) == 0
    assert recall_at_k(["a"], [], 5) == 0


def test_gold_is_found_by_ref_source_or_id():
    hit = Hit(id="unit", text="", score=0, refs=("m1", "m2"), source="episode")
    for ref in ("m1", "m2", "episode", "unit"):
        assert recall_at_k([ref], [hit], 1) == 1
    assert recall_at_k(["text"], [hit], 1) == 0


def test_a_hit_is_any_gold_unit_among_the_first():
    ranking = hits("x", "a", "b")
    assert hit_at_k(["a", "b"], ranking, 1) == 0
    assert hit_at_k(["a", "b"], ranking, 2) == 1
    assert hit_at_k(["a"], [], 5) == 0
    assert get_metric("hit@1").name == "hit@1"


def test_ndcg_by_hand():
    # gold a at rank 1 and b at rank 3; ideal: ranks 1 and 2
    ranking = hits("a", "x", "b")
    expected = (1 + 1 / log2(4)) / (1 + 1 / log2(3))
    assert ndcg_at_k(["a", "b"], ranking, 10) == pytest.approx(expected)
    assert ndcg_at_k(["a", "b"], ranking, 1) == 1
    assert ndcg_at_k(["z"], ranking, 10) == 0


def test_ndcg_counts_a_gold_unit_once_and_never_exceeds_one():
    assert ndcg_at_k(["a", "b"], hits("a", "a", "a"), 3) == pytest.approx(1 / (1 + 1 / log2(3)))
    both = Hit(id="u", text="", score=0, refs=("a", "b"))
    assert ndcg_at_k(["a", "b"], [both], 3) == 1


def test_mrr_is_one_over_the_first_rank():
    assert mrr(["b"], hits("a", "x", "b", "b")) == pytest.approx(1 / 3)
    assert mrr(["b"], hits("a")) == 0


refs = st.lists(st.sampled_from("abcdefgh"), max_size=8)
gold = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=4)


@given(gold, refs, st.integers(1, 8))
def test_recall_grows_with_k_and_all_are_bounded(evidence, found, k):
    ranking = hits(*found)
    assert recall_at_k(evidence, ranking, k) <= recall_at_k(evidence, ranking, k + 1)
    for score in (recall_at_k(evidence, ranking, k), ndcg_at_k(evidence, ranking, k)):
        assert 0 <= score <= 1
    assert (mrr(evidence, ranking) > 0) == (recall_at_k(evidence, ranking, 8) > 0)


def test_evidence_in_text_wants_every_message_of_a_unit():
    context = "[1 May] Ann: I bought\n a boat. Bob: nice"
    assert evidence_in_text([("I bought a boat.",), ("red",)], context) == 0.5
    assert evidence_in_text([("I bought a boat.", "nice")], context) == 1
    assert evidence_in_text([("I bought a boat.", "gone")], context) == 0
    assert evidence_in_text([()], context) == 0
