"""Views: ways to look for a question. Each gives its best rows and can score any row.

Lexical (the bank's full-text index), window and episode (BM25 over neighbouring turns and whole
sources), dense, soft word match, structured (persons, entities, places, dates).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.bm25 import bm25, source_bm25
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.dense import dense_query
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.query import QueryTerm
from memgene.retrieval.signals import Signals
from memgene.retrieval.structured import structured_scores

FREQUENT_FLOOR = 100
Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]
TextSearch = Callable[[Sequence[str], int], Sequence[tuple[int, float]]]
"""The bank's full-text search over what the scope and the filter admit: words and a limit →
(row of the index, score), best first. Matches that the index does not hold are left out."""


@dataclass(frozen=True, slots=True)
class View:
    """The rows a view returned, best first, and its scores on request for other rows."""

    name: str
    rows: Rows
    scores: Floats
    weight: float
    score_at: Callable[[Rows], Floats]


def build_views(
    signals: Signals, config: RetrievalConfig, search_text: TextSearch, allowed: Mask | None
) -> list[View]:
    """Every view that the configuration switches on and the index can serve, in a fixed order."""
    makers = (
        ("lexical", config.lexical_k, _lexical),
        ("window", config.window_k if config.window else 0, _window),
        ("episode", config.episode_k, _episode),
        ("dense", config.dense_k if signals.dense is not None else 0, _dense),
        ("soft", config.soft_k if signals.soft is not None else 0, _soft),
        ("structured", config.structured_k, _structured),
        ("entity_swap", config.entity_swap_k if config.entity_swap else 0, _entity_swap),
    )
    views = []
    for name, limit, make in makers:
        if limit and used(name, config):
            views.append(make(_Request(signals, config, search_text, allowed, limit)))
    return views


def used(name: str, config: RetrievalConfig) -> bool:
    """Whether the fusion looks at a view at all."""
    if config.fusion == "lexical_only":
        return name in ("lexical", "entity_swap")
    if config.fusion == "dense_only":
        return name == "dense"
    return True


def weight_of(name: str, config: RetrievalConfig) -> float:
    """Weight of a view; `sum` weighs all alike, the entity swap counts as the lexical view."""
    if config.fusion in ("sum", "lexical_only", "dense_only"):
        return 1.0
    found: float = getattr(config, f"weight_{'lexical' if name == 'entity_swap' else name}")
    return found


@dataclass(frozen=True, slots=True)
class _Request:
    signals: Signals
    config: RetrievalConfig
    search_text: TextSearch
    allowed: Mask | None
    limit: int

    @property
    def index(self) -> UnitIndex:
        return self.signals.index

    def terms(self) -> tuple[QueryTerm, ...]:
        """Words of the lexical, window and episode views: names in or out."""
        return self.signals.query.content(names=not self.config.lexical_drop_names)

    def best(self, name: str, scores: Floats) -> View:
        """A view from the scores of all rows."""
        shown = scores if self.allowed is None else np.where(self.allowed, scores, 0)
        rows = best_rows(shown, self.limit)
        return View(name, rows, shown[rows], weight_of(name, self.config), lambda r: scores[r])


def frequent_dropped(
    terms: tuple[QueryTerm, ...], index: UnitIndex, max_df: float
) -> tuple[QueryTerm, ...]:
    """Terms that occur in at most this share of the units, or in at most 100 of them.

    Common words cost a full-text search its time and tell little; below 100 units there is
    nothing to save. If none would be left, the rarest stays.
    """
    if max_df >= 1:
        return terms
    most = max(max_df * index.living, FREQUENT_FLOOR)
    found = [index.text_df(t.stem) for t in terms]
    kept = tuple(t for t, df in zip(terms, found, strict=True) if df <= most)
    return kept or (terms[:1] and (terms[found.index(min(found))],))


def best_rows(scores: Floats, limit: int) -> Rows:
    """Rows with the highest positive scores, best first, ties by row."""
    rows = np.flatnonzero(scores > 0)
    if len(rows) > limit:
        least = np.partition(scores[rows], len(rows) - limit)[len(rows) - limit]
        rows = rows[scores[rows] >= least]
    return rows[np.argsort(-scores[rows], kind="stable")][:limit]


def pool_of(returned: Sequence[Rows], index: UnitIndex, allowed: Mask | None) -> Rows:
    """Living and allowed rows that anything returned, ascending, each once."""
    if not returned:
        return np.empty(0, np.int64)
    rows = np.sort(np.concatenate(returned))
    kept = index.alive[rows] if allowed is None else index.alive[rows] & allowed[rows]
    kept[1:] &= rows[1:] != rows[:-1]
    return rows[kept]


def _lexical(request: _Request) -> View:
    return _text_view("lexical", request, request.terms())


def _entity_swap(request: _Request) -> View:
    return _text_view("entity_swap", request, request.signals.query.content(names=False))


def _text_view(name: str, request: _Request, terms: tuple[QueryTerm, ...]) -> View:
    kept = frequent_dropped(terms, request.index, request.config.max_df)
    words = [t.word for t in kept]
    found = request.search_text(words, request.limit) if words else ()
    allowed = request.allowed
    pairs = [(r, s) for r, s in found if allowed is None or allowed[r]]
    rows = np.asarray([r for r, _ in pairs], np.int64)
    scores = np.asarray([s for _, s in pairs], np.float32)
    known = dict(pairs)
    return View(
        name,
        rows,
        scores,
        weight_of(name, request.config),
        lambda at: np.asarray([known.get(int(r), 0.0) for r in at], np.float32),
    )


def _window(request: _Request) -> View:
    reach = request.config.window
    offsets = tuple(range(-reach, reach + 1))
    return request.best("window", bm25(request.index, request.terms(), offsets=offsets))


def _episode(request: _Request) -> View:
    return request.best("episode", source_bm25(request.index, request.terms()))


def _soft(request: _Request) -> View:
    scores = request.signals.full("soft")
    return request.best("soft", np.where(request.index.alive, scores, np.float32(0)))


def _structured(request: _Request) -> View:
    return request.best("structured", structured_scores(request.signals.query, request.index))


def _dense(request: _Request) -> View:
    config, dense = request.config, request.signals.dense
    assert dense is not None
    text, centred = dense_query(request.signals.query, config, dense)
    rows, scores = dense.search(text, centred, request.limit, request.allowed)
    return View(
        "dense",
        rows,
        scores,
        weight_of("dense", config),
        lambda at: dense.cosine(text, centred, at),
    )
