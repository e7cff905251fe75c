"""What a router is shown of a question: numbers of its words and of what the routes returned."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgene.retrieval.question_type import QUESTION_TYPES
from memgene.retrieval.router.observation import TWO_ROUTES, Observation, SelfRouting, smoothed
from memgene.retrieval.text import STOP_WORDS, words

TOP = 10
"""So many of each route's best rows are compared."""
_LEAST = 0.02  # priors are cut here before their logit is taken, as smoothed priors are
_TOKEN = re.compile(r"[^\W_]+(?:['’]\w+)?", re.UNICODE)
_COMMON = ("prior_logit", "confidence", "length", "entities", "digits", "rewrites_overlap")
Floats = NDArray[np.float32]
Wide = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Returned:
    """What one route returned: rows and their scores, best first."""

    rows: Rows
    scores: Floats


def features_of(routes: Sequence[str]) -> tuple[str, ...]:
    """Names of an observation's features, in order.

    `prior_logit` of the dense share p⁰, `confidence` ξ; logarithms of the question's words
    (`length`), capitalised words inside (`entities`) and words with digits (`digits`); Jaccard
    overlap of the rewrites' words; per route `margin.…`, by how much of its scores' span the best
    row leads, and `overlap.…`, the share of its first ten rows that another route has in its
    first ten, on average; `type.…` is 1 for the predicted question type.
    """
    return (
        *_COMMON,
        *(f"margin.{route}" for route in routes),
        *(f"overlap.{route}" for route in routes),
        *(f"type.{kind}" for kind in QUESTION_TYPES),
    )


def prior_over(routes: Sequence[str], routing: SelfRouting) -> Wide:
    """The smoothed prior p̄: over the two routes what the routing says, over views uniform."""
    if tuple(routes) == TWO_ROUTES:
        share = np.asarray([routing.prior, 1 - routing.prior])
        return smoothed(share, routing.confidence)
    return np.full(len(routes), 1 / max(len(routes), 1))


def observe(
    text: str,
    kind: str,
    routing: SelfRouting,
    routes: Sequence[str],
    prior: Wide,
    returned: Mapping[str, Returned],
    vector: Floats,
) -> Observation:
    """The observation of a question of a predicted type; a route that returned nothing (or is not
    among `returned`) has margin and overlap 0."""
    tops = [_top(returned.get(route)) for route in routes]
    features = [
        *_of_text(text, routing),
        *(_margin(returned.get(route)) for route in routes),
        *(_overlap(place, tops) for place in range(len(tops))),
        *(float(kind == each) for each in QUESTION_TYPES),
    ]
    return Observation(
        tuple(routes), prior, np.asarray(vector, np.float64), np.asarray(features, np.float64)
    )


def _of_text(text: str, routing: SelfRouting) -> list[float]:
    share = min(max(routing.prior, _LEAST), 1 - _LEAST)
    said = words(text)
    dense, sparse = frozenset(words(routing.dense)), frozenset(words(routing.sparse))
    union = len(dense | sparse)
    return [
        math.log(share / (1 - share)),
        routing.confidence,
        math.log1p(len(said)),
        math.log1p(_entities(text)),
        math.log1p(sum(any(c.isdigit() for c in word) for word in said)),
        len(dense & sparse) / union if union else 0.0,
    ]


def _entities(text: str) -> int:
    """Capitalised words after the first that carry meaning."""
    tokens = [match.group() for match in _TOKEN.finditer(text)]
    return sum(t[0].isupper() and t.lower() not in STOP_WORDS for t in tokens[1:])


def _margin(found: Returned | None) -> float:
    if found is None or len(found.scores) < 2:
        return 0.0
    best, second, last = (float(found.scores[at]) for at in (0, 1, -1))
    return (best - second) / (best - last) if best > last else 0.0


def _top(found: Returned | None) -> frozenset[int]:
    return frozenset() if found is None else frozenset(found.rows[:TOP].tolist())


def _overlap(place: int, tops: Sequence[frozenset[int]]) -> float:
    own = tops[place]
    others = [top for at, top in enumerate(tops) if at != place]
    if not own or not others:
        return 0.0
    return sum(len(own & other) for other in others) / (len(own) * len(others))
