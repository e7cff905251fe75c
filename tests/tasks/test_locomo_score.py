from __future__ import annotations

import re
from importlib import resources

import pytest

from memgene.tasks.metrics import official_locomo_f1
from memgene.tasks.metrics.locomo import stems
from memgene.tasks.metrics.porter import stem

nltk_porter = pytest.importorskip("nltk.stem.porter", reason="nltk is a development extra")


SUFFIXES = ("s", "es", "ed", "ing", "ly", "y", "ies", "ied", "ness", "ation", "ational", "alli")
SUFFIXES += ("logi", "fulli", "izer", "iviti", "ement")


def vocabulary() -> list[str]:
    data = resources.files("memgene.tasks.demo") / "data"
    text = " ".join(
        (data / name).read_text(encoding="utf-8") for name in ("episodes.jsonl", "questions.jsonl")
    )
    words = sorted(set(re.findall(r"[a-z]+", text.lower())))
    return words + [word + suffix for word in words[::5] for suffix in SUFFIXES]


def test_stems_agree_with_nltk():
    theirs = nltk_porter.PorterStemmer()
    words = vocabulary()
    assert len(words) > 10_000
    assert [w for w in words if stem(w) != theirs.stem(w)] == []


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("ponies", "poni"),
        ("dies", "die"),
        ("dying", "die"),
        ("enjoy", "enjoy"),
        ("happy", "happi"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("falling", "fall"),
        ("feed", "feed"),
        ("agreed", "agre"),
        ("relational", "relat"),
        ("geology", "geolog"),
        ("controlling", "control"),
        ("at", "at"),
        ("2023", "2023"),
        ("", ""),
    ],
)
def test_stems_by_hand(word, expected):
    assert stem(word) == expected


def test_normalisation_drops_and_but_not_or():
    assert stems("The cats, and a dog or two.") == ["cat", "dog", "or", "two"]


def test_plain_categories_are_stem_f1():
    # stems: bought boat yesterday / buy boat
    assert official_locomo_f1("bought a boat yesterday", "boats", "temporal") == pytest.approx(0.5)
    assert official_locomo_f1("", "", "single-hop") == 0


def test_multi_hop_is_the_mean_over_gold_parts_of_the_best_answer_part():
    # 'he runs' meets 'running' at 2/3, 'tea' meets 'green tea' at 2/3, nothing meets 'chess'
    score = official_locomo_f1("he runs, tea", "running, green tea, chess", "multi-hop")
    assert score == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)


def test_open_domain_gold_ends_at_the_semicolon():
    assert official_locomo_f1("likely no", "Likely no; she is tired", "open-domain") == 1
    assert official_locomo_f1("likely no", "Likely no; she is tired", "single-hop") < 1


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ("No information available.", 1),
        ("This is not mentioned anywhere", 1),
        ("I do not know", 0),
        ("In Paris", 0),
    ],
)
def test_adversarial_wants_an_abstention(said, score):
    assert official_locomo_f1(said, "", "adversarial") == score


def test_an_agents_own_abstention_counts():
    assert official_locomo_f1("I do not know", "", "adversarial", abstained=True) == 1
