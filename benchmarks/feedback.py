"""How long `Memory.feedback` takes for ten hits on a large bank with edges.

    python benchmarks/feedback.py

Logged only (`apply=False`), applied with the default credit (values over all queries and for the
query's kind), and applied with the published credit, which follows the edges. Each reward is one
committed transaction; its query is new, so it is embedded each time. Edges are random, about as
many as `learn` makes: one in time and two of nearness for each unit. Processor time stands beside
the time that passed, for machines that do other things meanwhile.
"""

from __future__ import annotations

import argparse
import itertools
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import Latency, finish, note, table, timed
from dialogue import Corpus, made

import memgene
from memgene.bank import open_bank
from memgene.bank.protocol import Bank, EmbedderInfo, Relation, RelationKind
from memgene.embed import load_embedder
from memgene.engine import MemoryEngine
from memgene.engine.credit.give import give_credit
from memgene.engine.credit.interaction import Exposure, Interaction
from memgene.engine.credit.settings import CreditSettings

_BATCH = 10_000
_WARM_UP = 20
_LOG_BAR_MS, _APPLY_BAR_MS = 5.0, 50.0


@dataclass(frozen=True, slots=True)
class Taken:
    """Time that passed, and time that the process computed."""

    passed: Latency
    busy: Latency


def main() -> None:
    options = _options()
    corpus = made(options.units, options.rewards + _WARM_UP)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bank.db"
        note(f"{options.units} units: writing")
        with timed() as built:
            ids, edges = _fill(path, corpus, options.embedder)
        draw = random.Random(0)
        shown = [draw.sample(ids, options.hits) for _ in corpus.questions]
        found = {}
        with memgene.Memory(path, embedder=options.embedder) as memory:
            for name, apply in (("logged only", False), ("applied", True)):
                note(name)

                def give(hits: Sequence[str], query: str, apply: bool = apply) -> None:
                    memory.feedback(hits, draw.random(), query, apply=apply)

                found[name] = _latency(give, shown, corpus.questions)
        note("applied along the edges")
        found["applied along the edges"] = _published(path, shown, corpus, options.embedder)
        with timed() as undone, memgene.Memory(path, embedder=options.embedder) as memory:
            memory.undo()
    bars = {"logged only": _LOG_BAR_MS, "applied": _APPLY_BAR_MS}
    rows = [
        (
            name,
            f"{taken.passed.p50:.2f}",
            f"{taken.passed.p95:.2f}",
            f"{taken.passed.p99:.2f}",
            f"{taken.busy.p95:.2f}",
            f"{bars[name]:g}" if name in bars else "",
        )
        for name, taken in found.items()
    ]
    table(
        f"feedback for {options.hits} hits, {options.units} units, {edges} edges",
        ("what", "p50 ms", "p95 ms", "p99 ms", "processor p95 ms", "bar for p95"),
        rows,
    )
    finish(
        "feedback",
        {
            "units": options.units,
            "edges": edges,
            "hits": options.hits,
            "embedder": options.embedder,
            "build_s": round(built.seconds, 1),
            "undo_ms": round(1000 * undone.seconds, 2),
            "feedback": {
                name: {"passed": taken.passed.to_json(), "processor": taken.busy.to_json()}
                for name, taken in found.items()
            },
        },
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--units", type=int, default=100_000)
    parser.add_argument("--rewards", type=int, default=300, help="measured, after a warm-up")
    parser.add_argument("--hits", type=int, default=10, help="memories a reward is for")
    parser.add_argument("--embedder", default="static")
    return parser.parse_args()


def _fill(path: Path, corpus: Corpus, embedder: str) -> tuple[list[str], int]:
    """Units with random vectors (rewards never look at them), and their edges."""
    made_by = load_embedder(embedder)
    rng = np.random.default_rng(0)
    bank = open_bank(path)
    try:
        bank.set_embedder(EmbedderInfo(made_by.name, made_by.dimension))
        ids: list[str] = []
        for start in range(0, len(corpus.units), _BATCH):
            units = corpus.units[start : start + _BATCH]
            vectors = rng.standard_normal((len(units), made_by.dimension)).astype(np.float32)
            ids += [receipt.id for receipt in bank.add(units, vectors)]
        return ids, _relate(bank, ids)
    finally:
        bank.close()


def _relate(bank: Bank, ids: Sequence[str]) -> int:
    draw = random.Random(0)
    edges = [Relation(RelationKind.TIME, a, b) for a, b in itertools.pairwise(ids)]
    for kind in (RelationKind.DENSE, RelationKind.SPARSE):
        for one in ids:
            other = draw.choice(ids)
            if other != one:
                first, second = sorted((one, other))
                edges.append(Relation(kind, first, second, draw.random()))
    return sum(bank.relate(edges[start : start + _BATCH]) for start in range(0, len(edges), _BATCH))


def _latency(
    give: Callable[[Sequence[str], str], None],
    shown: Sequence[Sequence[str]],
    queries: Sequence[str],
) -> Taken:
    passed, busy = [], []
    for number, (hits, query) in enumerate(zip(shown, queries, strict=True)):
        before = time.process_time()
        with timed() as watch:
            give(hits, query)
        if number >= _WARM_UP:
            passed.append(watch.seconds)
            busy.append(time.process_time() - before)
    return Taken(Latency.of(passed), Latency.of(busy))


def _published(path: Path, shown: Sequence[Sequence[str]], corpus: Corpus, embedder: str) -> Taken:
    """With CreditSettings.paper(): two hops along the edges."""
    bank = open_bank(path)
    draw = random.Random(1)
    try:
        engine = MemoryEngine(bank, load_embedder(embedder))

        def give(hits: Sequence[str], query: str) -> None:
            exposed = tuple(Exposure(one) for one in hits)
            about = Interaction(query, exposed, draw.random())
            with bank.lesson("feedback"):
                give_credit(engine, about, CreditSettings.paper())
                bank.touch(hits, about.reward, query)

        return _latency(give, shown, corpus.questions)
    finally:
        bank.close()


if __name__ == "__main__":
    main()
