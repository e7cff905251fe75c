"""Fitting the learned fusion: it finds what was planted, and nothing where there is nothing."""

from __future__ import annotations

import numpy as np
import pytest

from memgene.core import RunError
from memgene.retrieval.learning import Example, Fit, fit_ranker
from memgene.retrieval.ranker import Ranker

FEATURES = 24
NAMES = [f"f{i}" for i in range(FEATURES)]
PLANTED = np.zeros(FEATURES, np.float32)
PLANTED[:3] = (2, -1, 0.5)
SCALES = np.where(np.arange(FEATURES) % 2, 100, 0.01).astype(np.float32)
CANDIDATES = 10


def questions(many: int, seed: int) -> list[Example]:
    """Gold is the candidate that the planted weights put first; features differ in scale."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(many):
        x = rng.normal(size=(CANDIDATES, FEATURES)).astype(np.float32)
        target = np.zeros(CANDIDATES, np.float32)
        target[np.argmax(x @ PLANTED)] = 1
        made.append(Example(x * SCALES + 3 * SCALES, target))
    return made


def shuffled(examples: list[Example], seed: int) -> list[Example]:
    rng = np.random.default_rng(seed)
    return [Example(e.matrix, rng.permutation(e.target)) for e in examples]


def found_first(ranker: Ranker, examples: list[Example]) -> float:
    """Share of the questions whose gold candidate comes first."""
    return float(np.mean([e.target[np.argmax(ranker.score(e.matrix))] for e in examples]))


TRAIN, FRESH = questions(150, 0), questions(200, 1)


def test_planted_weights_are_recovered() -> None:
    ranker = fit_ranker(TRAIN, NAMES, target="evidence")
    assert found_first(ranker, FRESH) > 0.75
    weight = np.asarray(list(ranker.weight.values()))
    cosine = weight @ PLANTED / np.linalg.norm(weight) / np.linalg.norm(PLANTED)
    assert cosine > 0.9
    assert set(ranker.weight) == set(NAMES)


def test_shuffled_targets_give_chance() -> None:
    hits = [
        found_first(fit_ranker(shuffled(TRAIN, s), NAMES, target="evidence"), FRESH)
        for s in range(6)
    ]
    assert np.mean(hits) == pytest.approx(1 / CANDIDATES, abs=0.06)


def test_equal_examples_and_seeds_give_equal_weights() -> None:
    fits = [fit_ranker(TRAIN[:40], NAMES, target="evidence", seed=3) for _ in range(2)]
    assert fits[0] == fits[1]
    assert fits[0].digest == fits[1].digest


def test_standardisation_is_that_of_all_candidates() -> None:
    ranker = fit_ranker(TRAIN[:20], NAMES, target="evidence")
    stacked = np.concatenate([e.matrix for e in TRAIN[:20]])
    assert list(ranker.mean.values()) == pytest.approx(stacked.mean(axis=0).tolist(), rel=1e-3)
    assert list(ranker.scale.values()) == pytest.approx(stacked.std(axis=0).tolist(), rel=1e-3)


def test_a_feature_that_never_varies_gets_no_weight() -> None:
    constant = [Example(np.hstack([e.matrix[:, :3], np.full((10, 1), 7.0)]), e.target)
                for e in TRAIN[:30]]  # fmt: skip
    ranker = fit_ranker(constant, ["a", "b", "c", "seven"], target="evidence")
    assert ranker.weight["seven"] == 0
    assert ranker.scale["seven"] == 1


def test_gold_is_shared_out_among_several_candidates() -> None:
    rng = np.random.default_rng(5)
    examples = []
    for _ in range(60):
        x = rng.normal(size=(6, 2)).astype(np.float32)
        examples.append(Example(x, (x[:, 0] > 0).astype(np.float32)))
    ranker = fit_ranker(examples, ["told", "noise"], target="evidence")
    assert ranker.weight["told"] > 5 * abs(ranker.weight["noise"])


def test_shares_of_an_answer_are_targets_too() -> None:
    rng = np.random.default_rng(6)
    examples = []
    for _ in range(60):
        x = rng.uniform(size=(6, 2)).astype(np.float32)
        examples.append(Example(x, np.where(x[:, 1] > 0.5, x[:, 1], 0)))
    ranker = fit_ranker(examples, ["noise", "told"], target="answer_tokens")
    assert ranker.weight["told"] > 3 * abs(ranker.weight["noise"])
    assert ranker.target == "answer_tokens"


def test_questions_that_teach_nothing_are_left_out_and_not_counted() -> None:
    lost = Example(np.ones((3, FEATURES), np.float32), np.zeros(3, np.float32))
    single = Example(np.ones((1, FEATURES), np.float32), np.ones(1, np.float32))
    ranker = fit_ranker([lost, *TRAIN[:10], single], NAMES, target="evidence")
    assert ranker == fit_ranker(TRAIN[:10], NAMES, target="evidence")
    assert ranker.questions == 10


def test_nothing_to_learn_from_is_refused() -> None:
    lost = Example(np.ones((3, FEATURES), np.float32), np.zeros(3, np.float32))
    for examples in ([], [lost]):
        with pytest.raises(RunError, match="nothing to learn from"):
            fit_ranker(examples, NAMES, target="evidence")


def test_stronger_l2_gives_smaller_weights() -> None:
    def size(l2: float) -> float:
        ranker = fit_ranker(TRAIN[:40], NAMES, target="evidence", fit=Fit(l2=l2))
        return float(np.linalg.norm(list(ranker.weight.values())))

    assert size(1.0) < size(0.05) < size(0.0)
