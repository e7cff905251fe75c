"""Memory programs on a benchmark: what they hand over, and what the offline reader makes of it.

    python benchmarks/programs.py --data PATH --programs vector-search,hybrid,multi-signal,MINE.py

Every program answers the same questions; differences to the first are paired. `evidence_in_text` is
the share of gold evidence that stands in the text a read returned. The split is dev unless another
is asked for: what was chosen by looking at a split says nothing about it any more.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from common import (
    add_data_option,
    cell,
    difference,
    finish,
    interval_of,
    note,
    points,
    read_program,
    read_task,
    table,
)

from memgene.agents.offline import OfflineAgent
from memgene.embed.registry import load_embedder, word_vectors
from memgene.evaluation import Case, evaluate_cases
from memgene.harness.program import ProgramHarnessFactory
from memgene.programs.runtime import ProgramRuntime
from memgene.tasks.part import counted
from memgene.tasks.splits import limit, part, split_task
from memgene.tasks.task import Split, Task

METRICS = ("token_f1", "evidence_in_text")


def main() -> None:
    options = _options()
    task = _asked(options)
    questions = counted(task)
    names = options.programs.split(",")
    cases: dict[str, list[Case]] = {}
    violations: dict[str, int] = {}
    embedder = load_embedder(options.embedder)
    with ProgramRuntime(embedder=embedder, words=word_vectors()) as runtime:
        for name in names:
            factory = ProgramHarnessFactory(read_program(name), runtime, name)
            cases[name] = evaluate_cases(
                task,
                factory,
                OfflineAgent(),
                questions,
                metrics=METRICS,
                progress=lambda done, total, label: note(f"{label} {done}/{total}"),
                label=name,
            )
            violations[name] = len(factory.log.violations)
    base = cases[names[0]]
    table(
        f"{options.task}, {options.split}, {len(questions)} questions, seed {options.seed}",
        (
            "program",
            *(head for metric in METRICS for head in (metric, f"− {names[0]}")),
            "read ms p50",
            "violations",
        ),
        [_row(name, cases[name], base, violations[name]) for name in names],
    )
    finish(
        "programs",
        {
            "task": options.task,
            "split": options.split,
            "seed": options.seed,
            "embedder": embedder.name,
            "rows": {name: _told(cases[name], base) for name in names},
        },
    )


def _asked(options: argparse.Namespace) -> Task:
    task = read_task(options.task, options.data)
    if options.split != "all":
        task = part(task, split_task(task, options.seed), Split(options.split))
    return limit(task, options.limit, options.seed) if options.limit else task


def _row(name: str, own: Sequence[Case], base: Sequence[Case], violations: int) -> tuple[str, ...]:
    cells: list[str] = []
    for metric in METRICS:
        against = "" if own is base else cell(difference(own, base, metric), signed=True)
        cells += [cell(interval_of(own, metric)), against]
    return (name, *cells, f"{_read_ms(own):.1f}", str(violations))


def _told(own: Sequence[Case], base: Sequence[Case]) -> dict[str, Any]:
    told: dict[str, Any] = {metric: points(interval_of(own, metric)) for metric in METRICS}
    if own is not base:
        paired = {metric: difference(own, base, metric) for metric in METRICS}
        told["paired"] = {
            metric: {**points(found), "p": round(found.p, 5)} for metric, found in paired.items()
        }
    told["read_ms_p50"] = round(_read_ms(own), 2)
    return told


def _read_ms(cases: Sequence[Case]) -> float:
    return 1000 * float(np.median([case.timings["read"] for case in cases]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--task", default="locomo")
    parser.add_argument(
        "--programs",
        default="vector-search,vector-search-published,hybrid,bank,multi-signal,action-cache",
        help="names or files",
    )
    parser.add_argument("--split", choices=("dev", "val", "test", "all"), default="dev")
    parser.add_argument("--limit", type=int, help="of questions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--embedder", default="static")
    add_data_option(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
