"""How long a search takes by the size of the bank, and what dropping frequent words costs.

    python benchmarks/search.py --sizes 1000,10000,100000
    python benchmarks/search.py --recall --data PATH

A search is `Memory.search` on a file, the embedding of the query included; every query is asked
once. Beside it stand two bounds of the same run: one numpy product of the bank's vectors with one
query, and reading those vectors once at the machine's copying speed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from common import (
    RECALL,
    Latency,
    add_data_option,
    best_of,
    cell,
    copy_bandwidth,
    difference,
    finish,
    interval_of,
    note,
    points,
    ranked,
    read_genome,
    read_task,
    table,
    timed,
)
from dialogue import SCOPE, Corpus, made, repeated

import memgene
from memgene.bank import open_bank
from memgene.embed import load_embedder
from memgene.engine import MemoryEngine
from memgene.evaluation import Case, MemoryPool
from memgene.retrieval.config import RetrievalConfig
from memgene.tasks.part import counted
from memgene.tasks.task import Task

WARM_UP = 30
_BATCH = 5_000
_ADDS = 20
_LEARNED = "learned:"


@dataclass(frozen=True, slots=True)
class Cold:
    """Seconds of a new process: importing memgene, opening the file, its first two searches."""

    imported: float
    opened: float
    first: float
    second: float

    @property
    def total(self) -> float:
        """Until the first answer is there."""
        return self.imported + self.opened + self.first


@dataclass(frozen=True, slots=True)
class Bounds:
    """Seconds that nothing which looks at every vector can beat by much."""

    product: float
    reading: float
    bandwidth: float


def main() -> None:
    options = _options()
    config, embedder = _recipe(options.config, options.embedder)
    if options.recall:
        _recall(options, config, embedder)
        return
    task = None if options.data is None else read_task("locomo", options.data)
    results = []
    for size in options.sizes:
        asked = options.queries + WARM_UP
        corpus = made(size, asked) if task is None else repeated(task, size, asked)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bank.db"
            note(f"{size} units: writing")
            _fill(path, corpus, embedder)
            results.append(_measured(path, corpus, config, embedder, options))
    origin = "made" if task is None else task.name
    rows = [_row(result, level) for result in results for level in result["searches"]]
    header = ("units", "max_df", "p50 ms", "p95 ms", "p99 ms", "product ms", "p50/product")
    table(f"search, {options.config} configuration, {embedder}, text: {origin}", header, rows)
    table(
        "a new process in seconds, the first search after an add, bounds",
        (
            "units",
            "import s",
            "open s",
            "first search s",
            "second s",
            "after an add p50 ms",
            "reading ms",
            "copy GB/s",
        ),
        [_cold_row(result) for result in results],
    )
    finish(
        "search",
        {"config": options.config, "embedder": embedder, "text": origin, "sizes": results},
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", type=_whole_numbers, default=[1_000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, default=400, help="distinct, after the warm-up")
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--config", default="default", help="default, or learned:GENOME")
    parser.add_argument("--max-df", type=_shares, default=[1.0, 0.1, 0.05, 0.02])
    parser.add_argument("--limit", type=int, default=10, help="memories a search returns")
    parser.add_argument("--recall", action="store_true", help="what max_df costs on LoCoMo")
    parser.add_argument("--questions", type=int, help="with --recall: so many of them only")
    add_data_option(parser)
    return parser.parse_args()


def _whole_numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _shares(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def _recipe(name: str, embedder: str) -> tuple[RetrievalConfig, str]:
    """The configuration asked for and the embedder it needs."""
    if name == "default":
        return RetrievalConfig(), embedder
    if not name.startswith(_LEARNED):
        raise SystemExit(f"--config is default or {_LEARNED}GENOME, not {name}")
    genome = read_genome(Path(name.removeprefix(_LEARNED)))
    return genome.config, genome.embedder


def _fill(path: Path, corpus: Corpus, embedder: str) -> None:
    bank = open_bank(path)
    try:
        engine = MemoryEngine(bank, load_embedder(embedder))
        for start in range(0, len(corpus.units), _BATCH):
            engine.write(corpus.units[start : start + _BATCH])
    finally:
        bank.close()


# -- latency
def _measured(
    path: Path, corpus: Corpus, config: RetrievalConfig, embedder: str, options: argparse.Namespace
) -> dict[str, Any]:
    size = len(corpus.units)
    note(f"{size} units: opening in a new process")
    cold = _cold(path, config, embedder, corpus.questions[:2])
    searches = {}
    for level in options.max_df:
        note(f"{size} units: searching, max_df {level:g}")
        chosen = config.changed(max_df=level)
        searches[f"{level:g}"] = _latency(path, chosen, embedder, corpus.questions, options.limit)
    note(f"{size} units: searching after adds")
    after_add = _after_add(path, config, embedder, corpus.questions)
    bounds = _bounds(path)
    whole = searches[max(searches, key=float)]
    return {
        "units": size,
        "searches": {level: found.to_json() for level, found in searches.items()},
        "after_add": after_add.to_json(),
        "product_ms": round(1000 * bounds.product, 3),
        "read_bound_ms": round(1000 * bounds.reading, 3),
        "copy_gb_s": round(bounds.bandwidth / 1e9, 2),
        "p50_to_product": round(whole.p50 / (1000 * bounds.product), 2),
        "p50_to_read_bound": round(whole.p50 / (1000 * bounds.reading), 2),
        "cold": {
            "import_s": round(cold.imported, 3),
            "open_s": round(cold.opened, 3),
            "first_s": round(cold.first, 3),
            "second_s": round(cold.second, 4),
            "total_s": round(cold.total, 3),
        },
    }


def _latency(
    path: Path, config: RetrievalConfig, embedder: str, questions: Sequence[str], limit: int
) -> Latency:
    """Every question once, after a warm-up with others."""
    with memgene.Memory(path, config=config, embedder=embedder) as memory:
        for question in questions[:WARM_UP]:
            memory.search(question, user_id=SCOPE.user_id, limit=limit)
        seconds = []
        for question in questions[WARM_UP:]:
            with timed() as watch:
                memory.search(question, user_id=SCOPE.user_id, limit=limit)
            seconds.append(watch.seconds)
    return Latency.of(seconds)


def _after_add(
    path: Path, config: RetrievalConfig, embedder: str, questions: Sequence[str]
) -> Latency:
    """The first search after each of some additions: it must see what was added."""
    seconds = []
    with memgene.Memory(path, config=config, embedder=embedder) as memory:
        for question in questions[:WARM_UP]:
            memory.search(question, user_id=SCOPE.user_id)
        for number, question in enumerate(questions[WARM_UP : WARM_UP + _ADDS]):
            memory.add(f"Added as number {number}: {question}", user_id=SCOPE.user_id)
            with timed() as watch:
                memory.search(question, user_id=SCOPE.user_id)
            seconds.append(watch.seconds)
    return Latency.of(seconds)


def _bounds(path: Path) -> Bounds:
    """The vectors of the bank against one query: a numpy product, and reading them once."""
    bank = open_bank(path)
    try:
        _, matrix = bank.all_vectors(SCOPE)
    finally:
        bank.close()
    matrix = np.ascontiguousarray(matrix)
    query = np.ascontiguousarray(matrix[0])
    bandwidth = copy_bandwidth(matrix.nbytes)
    return Bounds(best_of(20, np.dot, matrix, query), matrix.nbytes / bandwidth, bandwidth)


def _cold(path: Path, config: RetrievalConfig, embedder: str, questions: Sequence[str]) -> Cold:
    """Measured in a process that has loaded nothing yet (the file is in the system's cache)."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(
        target=_open_cold, args=(sender, str(path), config.to_toml(), embedder, tuple(questions))
    )
    process.start()
    sender.close()
    try:
        found = Cold(*receiver.recv())
    except EOFError:
        raise SystemExit("the process that opens the bank failed; see above") from None
    finally:
        process.join()
    return found


def _open_cold(sender: Any, path: str, config: str, embedder: str, questions: list[str]) -> None:
    """The other process. What this module imports is loaded already, so memgene's import is timed
    in an interpreter of its own."""
    imported = _import_seconds()
    with timed() as opening:
        memory = memgene.Memory(path, config=RetrievalConfig.from_toml(config), embedder=embedder)
    with memory:
        seconds = []
        for question in questions:
            started = time.perf_counter()
            memory.search(question, user_id=SCOPE.user_id)
            seconds.append(time.perf_counter() - started)
    sender.send((imported, opening.seconds, *seconds))
    sender.close()


def _import_seconds() -> float:
    import subprocess
    import sys

    code = (
        "import time; t = time.perf_counter(); import memgene; memgene.Memory;"
        " print(time.perf_counter() - t)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(told.stdout)


def _row(result: dict[str, Any], level: str) -> tuple[str, ...]:
    found = result["searches"][level]
    return (
        str(result["units"]),
        level,
        f"{found['p50_ms']:.2f}",
        f"{found['p95_ms']:.2f}",
        f"{found['p99_ms']:.2f}",
        f"{result['product_ms']:.2f}",
        f"{found['p50_ms'] / result['product_ms']:.1f}",
    )


def _cold_row(result: dict[str, Any]) -> tuple[str, ...]:
    cold = result["cold"]
    return (
        str(result["units"]),
        f"{cold['import_s']:.2f}",
        f"{cold['open_s']:.2f}",
        f"{cold['first_s']:.2f}",
        f"{cold['second_s']:.3f}",
        f"{result['after_add']['p50_ms']:.2f}",
        f"{result['read_bound_ms']:.2f}",
        f"{result['copy_gb_s']:.1f}",
    )


# -- what dropping costs
def _recall(options: argparse.Namespace, config: RetrievalConfig, embedder: str) -> None:
    """recall@10 by max_df: inside each conversation, and in one bank of all conversations."""
    task = read_task("locomo", options.data)
    usable = [q for q in counted(task) if q.gold.evidence and q.gold.unusable is None]
    if options.questions is not None:
        usable = random.Random(0).sample(usable, options.questions)
    task = replace(task, questions=tuple(usable))
    rows: list[tuple[str, ...]] = []
    result: dict[str, dict[str, Any]] = {}
    for name, asked in (("own conversation", task), ("all in one bank", _pooled(task))):
        with MemoryPool() as memories:
            by_level = {}
            for level in options.max_df:
                note(f"{name}: max_df {level:g}")
                chosen = config.changed(max_df=level)
                cases = ranked(asked, chosen, memories, embedder=embedder)
                by_level[level] = _regrouped(cases, task)
        base = by_level[max(by_level)]
        result[name] = {}
        for level, cases in by_level.items():
            found, change = interval_of(cases, RECALL), difference(cases, base, RECALL)
            read = Latency.of([case.timings["read"] for case in cases])
            rows.append(
                (name, f"{level:g}", cell(found), cell(change, signed=True), f"{read.p50:.2f}")
            )
            result[name][f"{level:g}"] = {
                "recall@10": points(found),
                "against_highest": points(change),
                "read": read.to_json(),
            }
    header = ("bank", "max_df", "recall@10", "against highest", "read p50 ms")
    table(f"{task.name}, {len(task.questions)} questions, {options.config}", header, rows)
    finish("search --recall", {"config": options.config, "embedder": embedder, "banks": result})


def _pooled(task: Task) -> Task:
    """The task with all its groups in one: a question competes with every conversation."""
    everyone = "all"
    return replace(
        task,
        episodes=tuple(replace(e, group=everyone) for e in task.episodes),
        questions=tuple(
            replace(q, question=replace(q.question, group=everyone)) for q in task.questions
        ),
    )


def _regrouped(cases: Sequence[Case], task: Task) -> list[Case]:
    """Cases under the groups of the task, which intervals resample."""
    group = {question.id: question.group for question in task.questions}
    return [replace(case, group=group[case.question_id]) for case in cases]


if __name__ == "__main__":
    main()
