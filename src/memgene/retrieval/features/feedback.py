"""Pseudo-relevance feedback: nearness to the best three units of the first stage."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from memgene.retrieval.features.candidates import Candidates, Floats, floats
from memgene.retrieval.features.registry import Feature
from memgene.retrieval.index import NONE


def features() -> Iterable[Feature]:
    """How a candidate stands to what an untrained fusion would return."""
    yield Feature("first", _first, "score of the untrained fusion, min-max")
    yield Feature("first.rank", lambda c: -np.log1p(c.places), "−log rank of the first stage")
    yield Feature("first.source_best", _source_best, "best first-stage score in its source")
    yield Feature("first.source_share", _source_share, "its source's share of the top 20")
    yield Feature("feedback.dense", _dense, "mean cosine with the top three", ("dense",))
    yield Feature("feedback.dense_best", _dense_best, "best cosine with the top three", ("dense",))
    yield Feature("feedback.words", _words, "share of its words that the top three hold")
    yield Feature("feedback.near", _near, "nearness in the source to one of the top three")
    yield Feature("feedback.same_source", _same, "from the source of one of the top three")


def _first(c: Candidates) -> Floats:
    low, high = c.first_stage.min(initial=0), c.first_stage.max(initial=0)
    if high <= low:
        return np.zeros(len(c), np.float32)
    scaled: Floats = (c.first_stage - low) / (high - low)
    return scaled


def _source_best(c: Candidates) -> Floats:
    return c.group_max(_first(c))


def _source_share(c: Candidates) -> Floats:
    return floats(np.bincount(c.source_groups, c.places < 20)[c.source_groups] / 20)


def _cosines(c: Candidates) -> Floats:
    """Cosine of each candidate with each of the top three, itself left out."""
    assert c.signals.dense is not None
    vectors = c.signals.dense.rows(c.rows)
    cosines: Floats = vectors @ vectors[c.top].T
    cosines[c.top, np.arange(len(c.top))] = np.nan
    return cosines


def _dense(c: Candidates) -> Floats:
    cosines = _cosines(c)
    known = (~np.isnan(cosines)).sum(axis=1)
    return floats(np.nansum(cosines, axis=1) / np.maximum(known, 1))


def _dense_best(c: Candidates) -> Floats:
    best: Floats = np.nan_to_num(_cosines(c), nan=-1.0).max(axis=1, initial=-1.0)
    return best


def _words(c: Candidates) -> Floats:
    held: set[int] = set()
    for place in c.top:
        held.update(c.index.postings.terms_of(int(c.rows[place])).tolist())
    terms, owner = c.reading
    common = np.isin(terms, sorted(held))
    count = np.bincount(owner, common, len(c))
    return (count / np.maximum(c.index.length[c.rows], 1)).astype(np.float32)


def _near(c: Candidates) -> Floats:
    best = np.zeros(len(c), np.float32)
    top = c.rows[c.top]
    for distance in (1, 2, 3):
        for direction in (-1, 1):
            hit = np.isin(c.at(direction * distance), top)
            best[hit] = np.maximum(best[hit], 1 / distance)
    return best


def _same(c: Candidates) -> Floats:
    sources = c.source[c.top]
    same = np.isin(c.source, sources[sources != NONE])
    same[c.top] = np.bincount(c.source_groups)[c.source_groups[c.top]] > 1
    return same.astype(np.float32)
