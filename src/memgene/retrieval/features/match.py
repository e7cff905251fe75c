"""How well a unit's own words, and its source as a whole, fit the question."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from memgene.retrieval.features.candidates import Candidates, Floats, floats, ranks
from memgene.retrieval.features.registry import Compute, Feature
from memgene.retrieval.signals import SIGNALS


def features() -> Iterable[Feature]:
    """Every signal as a share of the best, in absolute size, as rank, against its source."""
    for signal in SIGNALS:
        yield Feature(f"{signal}", _share(signal), f"{signal} / best in the pool", (signal,))
        yield Feature(f"{signal}.rank", _log_rank(signal), f"−log rank by {signal}", (signal,))
        yield Feature(f"{signal}.size", _size(signal), f"log(1 + {signal})", (signal,))
        yield Feature(f"{signal}.span", _span(signal), f"{signal}, min-max", (signal,))
        if signal != "episode":
            yield Feature(
                f"{signal}.source_best", _source_best(signal), f"best {signal} in source", (signal,)
            )
            yield Feature(
                f"{signal}.source_rank",
                _source_rank(signal),
                f"−log rank of the source by its best {signal}",
                (signal,),
            )
            yield Feature(
                f"{signal}.in_source",
                _in_source(signal),
                f"{signal} / best in its source",
                (signal,),
            )
    yield Feature("bigrams", _bigrams, "word pairs of the question that stand side by side")
    yield Feature("quotes", _quotes, "quoted phrases of the question")
    yield Feature("proper", lambda c: c.holds(c.query.proper), "proper names of the question")
    yield Feature("numbers", lambda c: c.holds(c.query.numbers), "numbers of the question")
    yield Feature("matched_terms", lambda c: c.matched, "how many content words occur")
    yield Feature("all_terms", _all_terms, "all content words occur")
    yield Feature("rarest_term", _rarest, "the rarest word of the question occurs")
    yield Feature("density", _density, "matched words / words of the unit")
    yield Feature("agreement", _agreement, "mean reciprocal rank over bm25, window, dense or soft")


def _share(signal: str) -> Compute:
    return lambda c: c.value(signal)


def _log_rank(signal: str) -> Compute:
    return lambda c: c.log_rank(signal)


def _size(signal: str) -> Compute:
    return lambda c: np.log1p(np.maximum(c.raw(signal), 0))


def _span(signal: str) -> Compute:
    return lambda c: c.span(signal)


def _source_best(signal: str) -> Compute:
    return lambda c: c.source_best(signal)


def _source_rank(signal: str) -> Compute:
    return lambda c: c.source_rank(signal)


def _in_source(signal: str) -> Compute:
    def compute(c: Candidates) -> Floats:
        best = c.source_best(signal)
        return floats(np.maximum(c.value(signal), 0) / np.where(best > 0, best, 1))

    return compute


def _bigrams(c: Candidates) -> Floats:
    found = np.zeros(len(c), np.float32)
    terms, owner = c.reading
    if len(terms) > 1 and c.query.bigrams:
        same = owner[:-1] == owner[1:]
        for first, second in sorted(c.query.bigrams):
            hit = same & (terms[:-1] == first) & (terms[1:] == second)
            found[np.unique(owner[:-1][hit])] += 1
    return found


def _quotes(c: Candidates) -> Floats:
    found = np.zeros(len(c), np.float32)
    for quote in c.query.quotes:
        terms, owner = c.reading
        starts = len(terms) - len(quote) + 1
        if starts > 0:
            hit = owner[len(quote) - 1 :] == owner[:starts]
            for i, term in enumerate(quote):
                hit &= terms[i : i + starts] == term
            found[np.unique(owner[:starts][hit])] += 1
    return found


def _all_terms(c: Candidates) -> Floats:
    return floats((c.matched == len(c.content_ids)) & bool(c.content_ids))


def _rarest(c: Candidates) -> Floats:
    known = [(t.idf, t.term) for t in c.query.content(names=False) if t.term is not None]
    if not known:
        return np.zeros(len(c), np.float32)
    return c.holds((max(known, key=lambda item: item[0])[1],))


def _density(c: Candidates) -> Floats:
    return floats(c.matched / np.maximum(c.index.length[c.rows], 1))


def _agreement(c: Candidates) -> Floats:
    views = [s for s in ("bm25", "window1", "soft", "dense") if s in c.signals.names]
    return floats(np.mean([1 / ranks(c.raw(s)) for s in views], axis=0))
