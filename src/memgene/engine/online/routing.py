"""A router for one bank, trained from its logged feedback and kept only if it ranks better.

It learns by the supervised listwise loss, which reaches what policy gradients only approach. Values
are switched off meanwhile: they already know the rewards, and the router shall learn what they do
not say, for memories that nobody rewarded yet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgene.core import ConfigError, Scope
from memgene.engine.engine import MemoryEngine
from memgene.engine.online.examples import Example, examples
from memgene.engine.online.log import read_log
from memgene.engine.online.step import Progress, Step
from memgene.engine.served_router import LearnedRouter
from memgene.retrieval.observing import features_of
from memgene.retrieval.prepared import Prepared
from memgene.retrieval.router.observation import Observation
from memgene.retrieval.router.router import Router
from memgene.retrieval.router.settings import RouterSettings
from memgene.retrieval.router.training import RouterTrainer

LEAST_QUERIES = 50
"""A router needs so many queries with a good memory among their candidates."""
LEAST_HELD = 10
"""… of which so many must be held back, to tell whether it ranks better."""
LEAST_ERRORS = 1.0
"""The gain on the held-back queries must exceed so many of its standard errors."""
EPOCHS = 5
SETTINGS = RouterSettings(rate=1e-2)
"""Bounded linear head on what is observed of a query."""
SPREAD = 1.5
"""Standard deviation of a query's scores in the loss: what one fusion adds in hundredths and
another in units shall teach alike."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RouterVerdict:
    """What training came to: the router to keep from now on (None: none), and what to tell."""

    kept: LearnedRouter | None
    step: Step


@dataclass(frozen=True, slots=True)
class _Table:
    """A query as the loss sees it: candidates by routes, without the router, and which are good."""

    observation: Observation
    scores: Floats
    base: Floats
    target: Floats


def train_router(
    engine: MemoryEngine, scope: Scope | None, progress: Progress | None = None
) -> RouterVerdict:
    """Train a router from the log of feedback and judge it on the queries held back.

    Reads only; the bank is not locked. What serves now stays, unless the new one ranks the good
    memories higher by more than a standard error; it goes where none is so much better.
    """
    present = LearnedRouter.read(engine.bank)
    if scope is not None:
        return _same(present, "serves every owner; learn without an owner's ids to train one")
    if engine.config.router is not None:
        return _same(present, "the configuration has its own")
    known = examples(engine.bank, read_log(engine.bank))
    if len(known) < LEAST_QUERIES:
        return _same(present, f"{len(known)} of the {LEAST_QUERIES} rewarded queries it takes")
    try:
        blank = _blank(engine, known[0])
    except ConfigError as error:
        return _same(present, str(error))
    usable, tables = _tables(_reading(engine, blank), known, progress)
    held = [example for example in usable if example.held]
    if len(usable) < LEAST_QUERIES or len(held) < LEAST_HELD:
        return _same(
            present,
            f"{len(usable)} of the {LEAST_QUERIES} queries it takes whose good memory is found "
            f"among others, {len(held)} of the {LEAST_HELD} held back",
        )
    trained = _trained(
        blank, [table for table, one in zip(tables, usable, strict=True) if not one.held]
    )
    return _judged(engine, present, trained, usable)


def _judged(
    engine: MemoryEngine,
    present: LearnedRouter | None,
    trained: Router,
    usable: Sequence[Example],
) -> RouterVerdict:
    """Which of none, the present router and the new one ranks best what was held back."""
    held = [example for example in usable if example.held]
    fresh = LearnedRouter.of(trained, engine.config, engine.embedder)
    serving = present if present and present.serves(engine.config, engine.embedder) else None
    present_too = [serving.router] if serving else []
    without, new, *now = _ranks(engine, held, [None, trained, *present_too])
    stands, kept, said = (now[0] if now else without), present, ""
    if now and _better(without, now[0]):
        stands, kept, said = without, None, "the present one is worse than none and goes; "
    better = _better(new, stands) and fresh != serving
    if better:
        kept = fresh
    said += f"nDCG of {len(held)} held-back queries {stands.mean():.3f}"
    said += f", {new.mean():.3f} with the new router: {'kept' if better else 'not kept'}"
    figures = {
        "queries": float(len(usable)),
        "held": float(len(held)),
        "before": float(stands.mean()),
        "after": float(new.mean()),
    }
    return RouterVerdict(kept, Step("router", int(kept != present), said, figures))


def _same(present: LearnedRouter | None, reason: str) -> RouterVerdict:
    return RouterVerdict(present, Step("router", 0, reason))


def _better(one: Floats, other: Floats) -> bool:
    """Whether the mean difference exceeds its standard error."""
    gain = one - other
    error = float(gain.std(ddof=1)) / math.sqrt(len(gain))
    return float(gain.mean()) > LEAST_ERRORS * error


def _reading(engine: MemoryEngine, router: Router | None) -> MemoryEngine:
    """The memory read with this router and without values."""
    config = engine.config
    off: dict[str, Any] = {"utility_weight": 0.0, "q_rank_weight": 0.0}
    per_type = {
        kind: {name: value for name, value in overrides.items() if name not in off}
        for kind, overrides in config.per_type.items()
    }
    return engine.with_config(replace(config, **off, per_type=per_type, router=router))


def _blank(engine: MemoryEngine, example: Example) -> Router:
    """An untrained router over the routes of the configuration.

    Raises ConfigError when the fusion has no two routes to weigh.
    """
    config = engine.config
    plain = engine.with_config(replace(config, per_type={}))
    routes = plain.prepare(example.query, example.scope).routes
    if len(routes) < 2:
        raise ConfigError(f"fusion {config.fusion} has nothing to weigh")
    blank = Router.fresh(
        routes,
        features_of(routes),
        hidden=SETTINGS.hidden,
        bound=SETTINGS.bound,
        strength=SETTINGS.strength,
    )
    config.changed(router=blank)  # refuses routes that an override for a type does not have
    return blank


def _tables(
    engine: MemoryEngine, known: Sequence[Example], progress: Progress | None
) -> tuple[list[Example], list[_Table]]:
    """The examples that can teach: a good memory among the candidates, and one that is not."""
    usable: list[Example] = []
    tables: list[_Table] = []
    for done, example in enumerate(known, 1):
        table = _table(engine.prepare(example.query, example.scope), example)
        if table is not None:
            usable.append(example)
            tables.append(table)
        if progress is not None:
            progress(done, len(known), "router")
    return usable, tables


def _table(prepared: Prepared, example: Example) -> _Table | None:
    found = prepared.route_table()
    ids = [prepared.index.units[row].id for row in found.rows.tolist()]
    target = np.array([example.targets.get(unit_id, 0.0) for unit_id in ids])
    if not target.any() or target.all():
        return None
    base = found.base + found.scores @ prepared.prior
    spread = float(base.std())
    scale = SPREAD / spread if spread > 0 else 1.0
    share = SETTINGS.strength * found.scores.shape[1]
    return _Table(prepared.observation, scale / share * found.scores, scale * base, target)


def _trained(blank: Router, tables: Sequence[_Table]) -> Router:
    trainer = RouterTrainer(blank, SETTINGS)
    trainer.fit_features([table.observation for table in tables])
    order = np.random.default_rng(0)
    for _ in range(EPOCHS):
        for place in order.permutation(len(tables)).tolist():
            one = tables[place]
            trainer.learn_listwise(one.observation, one.scores, one.base, one.target)
        trainer.flush()
    return trainer.router


def _ranks(
    engine: MemoryEngine, held: Sequence[Example], routers: Sequence[Router | None]
) -> list[Floats]:
    """For each router how high it ranks the good memories, query by query."""
    found = []
    for router in routers:
        reading = _reading(engine, router)
        found.append(np.array([_gain(reading, example) for example in held]))
    return found


def _gain(engine: MemoryEngine, example: Example) -> float:
    """Normalised discounted cumulative gain: `Σ 1 / log2(1 + rank)` over the good memories, by that
    of the best ranking. In [0, 1]."""
    prepared = engine.prepare(example.query, example.scope)
    ids = [prepared.index.units[row].id for row in prepared.rank().rows.tolist()]
    ranks = [rank for rank, unit_id in enumerate(ids, 1) if unit_id in example.targets]
    best = _discounted(range(1, len(example.targets) + 1))
    return _discounted(ranks) / best


def _discounted(ranks: Iterable[int]) -> float:
    return sum(1 / math.log2(1 + rank) for rank in ranks)
