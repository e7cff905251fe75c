"""What the benchmark scripts share: tables, quantiles, timing, tasks, an agent that only asks."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import memgene
from memgene.agents.offline import OfflineAgent
from memgene.api import open_task
from memgene.core import Answer, Context, Filled, LabelledQuestion, Question
from memgene.evaluation import (
    Case,
    Interval,
    MemoryPool,
    Paired,
    compare_cases,
    evaluate_cases,
    mean_interval,
)
from memgene.genome import GenomeBundle
from memgene.harness.registry import bank_factory
from memgene.programs.examples import example, example_names
from memgene.programs.program import Program
from memgene.programs.seeds import seed
from memgene.retrieval.config import RetrievalConfig
from memgene.tasks.task import Task

RECALL = "recall@10"


@dataclass(frozen=True, slots=True)
class Latency:
    """Quantiles of a sample of durations, in milliseconds."""

    p50: float
    p95: float
    p99: float
    most: float
    n: int

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Latency:
        """From durations in seconds."""
        sample = 1000 * np.asarray(seconds, np.float64)
        p50, p95, p99 = np.quantile(sample, [0.5, 0.95, 0.99])
        return cls(float(p50), float(p95), float(p99), float(sample.max()), len(sample))

    def to_json(self) -> dict[str, float]:
        """Milliseconds by name."""
        return {
            "p50_ms": round(self.p50, 3),
            "p95_ms": round(self.p95, 3),
            "p99_ms": round(self.p99, 3),
            "max_ms": round(self.most, 3),
            "n": self.n,
        }


class Stopwatch:
    """Seconds of a `with timed()` block, by the clock and of the processor (all threads of this
    process); valid when the block has ended."""

    seconds: float = 0.0
    processor: float = 0.0


@contextmanager
def timed() -> Iterator[Stopwatch]:
    """Time a block."""
    watch, started, worked = Stopwatch(), time.perf_counter(), time.process_time()
    try:
        yield watch
    finally:
        watch.seconds = time.perf_counter() - started
        watch.processor = time.process_time() - worked


def best_of(repeats: int, action: Any, *arguments: Any) -> float:
    """The shortest of several runs, in seconds: a bound, not a typical time."""
    shortest = float("inf")
    for _ in range(repeats):
        with timed() as watch:
            action(*arguments)
        shortest = min(shortest, watch.seconds)
    return shortest


def copy_bandwidth(size: int) -> float:
    """Bytes a second read by copying a block of `size` bytes (they are written as well)."""
    origin = np.ones(max(size, 1 << 20), np.uint8)
    target = np.empty_like(origin)
    np.copyto(target, origin)
    return origin.size / best_of(5, np.copyto, target, origin)


class AskingAgent(OfflineAgent):
    """Formulates like the offline agent and answers nothing: for measures of the ranking."""

    def respond(
        self,
        question: Question,
        context: Context,
        instruction: str,
        always_on: str = "",
        query: Filled | None = None,
    ) -> Answer:
        """An abstention."""
        return Answer("", abstained=True)


def ranked(
    task: Task,
    config: RetrievalConfig,
    memories: MemoryPool,
    *,
    embedder: str = "static",
    questions: Sequence[LabelledQuestion] | None = None,
    metric: str = RECALL,
) -> list[Case]:
    """Cases of the bank with a configuration, scored by one measure of its ranking."""
    return evaluate_cases(
        task,
        bank_factory(config, embedder),
        AskingAgent(),
        questions,
        metrics=[metric],
        memories=memories,
    )


def interval_of(cases: Sequence[Case], metric: str, seed: int = 0) -> Interval:
    """Mean and interval over the cases that have the metric."""
    scored = [case for case in cases if metric in case.scores]
    return mean_interval([c.scores[metric] for c in scored], [c.group for c in scored], seed=seed)


def difference(challenger: Sequence[Case], base: Sequence[Case], metric: str) -> Paired:
    """Paired difference, challenger − base."""
    return compare_cases(challenger, base, metric).paired


def read_genome(path: Path) -> GenomeBundle:
    """An evolved bundle."""
    return GenomeBundle.load(path)


def read_program(name: str) -> Program:
    """A seed or example by name, or a file."""
    if name.endswith(".py"):
        return Program(Path(name).read_text(encoding="utf-8"))
    return example(name) if name in example_names() else seed(name)


def read_task(name: str, data: Path | None) -> Task:
    """A benchmark by name, or a task folder."""
    return open_task(name, data)


def add_data_option(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """`--data PATH`, as the command line has it."""
    parser.add_argument(
        "--data",
        type=Path,
        metavar="PATH",
        required=required,
        help="where benchmark files lie (default: MEMGENE_DATA)",
    )


def cell(found: Interval | Paired, *, signed: bool = False) -> str:
    """Percent with its interval."""
    centre = found.delta if isinstance(found, Paired) else found.mean
    sign = "+" if signed else ""
    return f"{100 * centre:{sign}.1f} [{100 * found.low:{sign}.1f}, {100 * found.high:{sign}.1f}]"


def points(found: Interval | Paired) -> dict[str, float | int | str]:
    """An interval as the JSON line has it, in percent."""
    centre = found.delta if isinstance(found, Paired) else found.mean
    return {
        "mean": round(100 * centre, 2),
        "low": round(100 * found.low, 2),
        "high": round(100 * found.high, 2),
        "n": found.n,
        "method": str(found.method),
    }


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print aligned columns: the first to the left, the others to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    say(f"\n{title}")
    for number, line in enumerate(lines):
        cells = [line[0].ljust(widths[0])]
        cells += [text.rjust(width) for text, width in zip(line[1:], widths[1:], strict=True)]
        say("  ".join(cells))
        if not number:
            say("  ".join("-" * width for width in widths))


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """Tell on stderr what is under way."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def finish(name: str, result: Mapping[str, Any]) -> None:
    """The last line: one JSON object, with the machine it was measured on."""
    say("")
    say(json.dumps({"benchmark": name, **result, "machine": machine()}))


def machine() -> dict[str, Any]:
    """What a figure depends on."""
    return {
        "cpus": os.cpu_count(),
        "load": [round(x, 2) for x in os.getloadavg()],
        "processor": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "memgene": memgene.__version__,
    }
