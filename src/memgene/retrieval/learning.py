"""Fitting the learned fusion: a linear listwise softmax ranker.

For each question every gold candidate goes through a softmax together with the candidates that
are not gold (evidence weighs alike, the answer-token proxy by its share), and the loss is the
cross-entropy. Features are standardised over all candidates and clipped; Adam, minibatches, l2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgene.core import RunError
from memgene.retrieval.ranker import CLIP, Ranker

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Example:
    """One question: features of its candidates (candidates × features) and target weights ≥ 0."""

    matrix: Floats
    target: Floats


@dataclass(frozen=True, slots=True)
class Fit:
    """Settings of the fit."""

    epochs: int = 14
    rate: float = 0.02
    l2: float = 0.05
    batch: int = 16


def fit_ranker(
    examples: Sequence[Example],
    names: Sequence[str],
    *,
    target: str,
    seed: int = 0,
    fit: Fit = Fit(),
) -> Ranker:
    """Weights that put gold candidates first. Deterministic for equal examples and seed.

    Raises:
        RunError: no example has a gold candidate and another one beside it.
    """
    useful = [e for e in examples if e.target.sum() > 0 and len(e.target) > 1]
    if not useful:
        raise RunError("nothing to learn from: no question has gold evidence among its candidates")
    stacked = np.concatenate([e.matrix for e in useful]).astype(np.float32)
    mean = stacked.mean(axis=0, dtype=np.float64).astype(np.float32)
    scale = stacked.std(axis=0, dtype=np.float64).astype(np.float32)
    scale[scale < 1e-6] = 1.0
    standardised = np.clip((stacked - mean) / scale, -CLIP, CLIP)
    sizes = np.asarray([len(e.target) for e in useful])
    gold = np.concatenate([e.target / e.target.sum() for e in useful]).astype(np.float32)
    weight = _descend(standardised, gold, sizes, seed, fit)
    return Ranker(
        weight=dict(zip(names, map(float, weight), strict=True)),
        mean=dict(zip(names, map(float, mean), strict=True)),
        scale=dict(zip(names, map(float, scale), strict=True)),
        target=target,
        questions=len(useful),
    )


def _descend(x: Floats, gold: Floats, sizes: NDArray[np.int64], seed: int, fit: Fit) -> Floats:
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rng = np.random.default_rng(seed)
    weight = np.zeros(x.shape[1], np.float32)
    first, second = np.zeros_like(weight), np.zeros_like(weight)
    step = 0
    steps = fit.epochs * -(-len(sizes) // fit.batch)
    for _ in range(fit.epochs):
        order = rng.permutation(len(sizes))
        for at in range(0, len(order), fit.batch):
            gradient = np.zeros_like(weight)
            chosen = order[at : at + fit.batch]
            for i in chosen:
                rows = slice(starts[i], starts[i + 1])
                gradient += _loss_gradient(x[rows] @ weight, gold[rows]) @ x[rows]
            gradient = gradient / len(chosen) + fit.l2 * weight
            step += 1
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            rate = fit.rate * (1 - (step - 1) / steps)
            weight = weight - rate * (first / (1 - 0.9**step)) / (
                np.sqrt(second / (1 - 0.999**step)) + 1e-8
            )
    return weight


def _loss_gradient(scores: Floats, gold: Floats) -> Floats:
    """d loss / d scores of one question (`gold` sums to 1).

    Each gold candidate k, with weight g_k, competes with the candidates that are not gold, never
    with another gold one: loss = −Σ_k g_k · log(e^{s_k} / (e^{s_k} + Σ_{j not gold} e^{s_j})).
    """
    exponential = np.exp(scores - scores.max())
    is_gold = gold > 0
    beside = exponential + exponential[~is_gold].sum()
    ratio = np.where(is_gold, gold / beside, 0)
    inside = exponential * ratio - gold
    gradient: Floats = np.where(is_gold, inside, exponential * ratio.sum()).astype(np.float32)
    return gradient
