"""What limits recall: how much of the evidence the views propose at all, on LoCoMo.

    python benchmarks/pool.py --data PATH

A ranking cannot find what no view proposed. Each row is a setting of the pool; the columns are the
share of the gold evidence among the candidates, the share of questions whose evidence is all
there, how many candidates there are, and recall@10 of the untrained fusion over them. The last row
of the second table is the best recall@10 that any order of the default pool could have.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from common import (
    RECALL,
    AskingAgent,
    add_data_option,
    cell,
    finish,
    note,
    points,
    read_task,
    table,
)

from memgene.core import Context, Filled
from memgene.evaluation import Case, Interval, MemoryPool, evaluate_cases, mean_interval
from memgene.harness.bank import BankHarness, BankHarnessFactory
from memgene.harness.registry import bank_factory
from memgene.retrieval.config import RetrievalConfig
from memgene.tasks.part import counted
from memgene.tasks.part import limit as limited

_POOL = "pool"
_SIZED = ("lexical_k", "window_k", "dense_k")
_VIEWS = ("lexical_k", "window_k", "episode_k", "dense_k", "structured_k")


def main() -> None:
    options = _options()
    task = read_task(options.task, options.data)
    usable = tuple(q for q in counted(task) if q.gold.evidence and q.gold.unusable is None)
    task = replace(task, questions=usable)
    if options.questions is not None:
        task = limited(task, options.questions)
    found = {}
    with MemoryPool() as memories:
        for name, config in _settings().items():
            note(name)
            found[name] = evaluate_cases(
                task,
                _Counting.of(config, options.embedder),
                AskingAgent(),
                metrics=[RECALL],
                memories=memories,
            )
    summary = {name: _summary(cases) for name, cases in found.items()}
    header = ("pool", "evidence", "all of it, %", "candidates", "recall@10")
    table(
        f"{task.name}, {len(task.questions)} questions, {options.embedder}",
        header,
        [_row(name, told) for name, told in summary.items()],
    )
    base = found["default"]
    kinds = sorted({case.category for case in base})
    groups = {kind: [c for c in base if c.category == kind] for kind in kinds} | {"all": base}
    table(
        "default pool by category",
        ("category", "questions", "evidence", "recall@10", "best order"),
        [
            (
                kind,
                str(len(cases)),
                cell(_interval(cases, _evidence(cases))),
                cell(_interval(cases, _recall(cases))),
                cell(_interval(cases, _ceiling(cases))),
            )
            for kind, cases in groups.items()
        ],
    )
    finish(
        "pool",
        {
            "task": task.name,
            "questions": len(task.questions),
            "embedder": options.embedder,
            "pools": summary,
            "best_order": points(_interval(base, _ceiling(base))),
        },
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--task", default="locomo")
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--questions", type=int, help="so many only, drawn at random")
    add_data_option(parser)
    return parser.parse_args()


def _settings() -> dict[str, RetrievalConfig]:
    """Pools by name: the default, other sizes, each view left out, each alone, others added."""
    default = RetrievalConfig(fusion="sum")
    found = {"default": RetrievalConfig()}
    for size in (20, 60, 100):
        sized: dict[str, Any] = dict.fromkeys(_SIZED, size)
        found[f"k {size}"] = default.changed(**sized)
    for view in _VIEWS:
        found[f"without {view.removesuffix('_k')}"] = default.changed(**{view: 0})
    for view in (*_VIEWS, "soft_k"):
        alone = {other: 60 if other == view else 0 for other in (*_VIEWS, "soft_k")}
        found[f"{view.removesuffix('_k')} alone, k 60"] = default.changed(**alone)
    found["with soft, k 60"] = default.changed(soft_k=60)
    found["with entity swap"] = default.changed(entity_swap=True, entity_swap_k=25)
    found["with neighbours ±1"] = default.changed(temporal_neighbours=1)
    found["everything, k 100"] = default.changed(
        **dict.fromkeys((*_VIEWS, "soft_k"), 100),
        entity_swap=True,
        entity_swap_k=25,
        temporal_neighbours=1,
    )
    return found


class _Counting(BankHarness):
    """The bank as a harness that notes how many candidates a read had."""

    class Factory(BankHarnessFactory):
        """Attaches counting harnesses to written banks."""

        def attach(self, memory: object) -> BankHarness:
            plain = super().attach(memory)
            return _Counting(plain.name, plain.engine, owns_bank=False)

    @classmethod
    def of(cls, config: RetrievalConfig, embedder: str) -> BankHarnessFactory:
        """A factory for a configuration."""
        plain = bank_factory(config, embedder)
        return cls.Factory(plain.config, plain._embedder, plain._words, plain._name)

    def read(self, query: Filled) -> Context:
        context = super().read(query)
        return replace(context, notes={**context.notes, _POOL: len(context.pool)})


def _summary(cases: Sequence[Case]) -> dict[str, Any]:
    evidence = _evidence(cases)
    return {
        "evidence": points(_interval(cases, evidence)),
        "complete": round(100 * float(np.mean([share == 1 for share in evidence])), 2),
        "candidates": round(float(np.mean([case.notes[_POOL] for case in cases])), 1),
        "recall@10": points(_interval(cases, _recall(cases))),
    }


def _row(name: str, told: Mapping[str, Any]) -> tuple[str, ...]:
    def shown(part: Mapping[str, Any]) -> str:
        return f"{part['mean']:.1f} [{part['low']:.1f}, {part['high']:.1f}]"

    return (
        name,
        shown(told["evidence"]),
        f"{told['complete']:.1f}",
        f"{told['candidates']:.0f}",
        shown(told["recall@10"]),
    )


def _evidence(cases: Sequence[Case]) -> list[float]:
    return [case.pool_evidence or 0.0 for case in cases]


def _recall(cases: Sequence[Case]) -> list[float]:
    return [case.scores[RECALL] for case in cases]


def _ceiling(cases: Sequence[Case]) -> list[float]:
    """recall@10 if the candidates were ordered perfectly (ten places hold ten units)."""
    return [
        min(case.pool_evidence or 0.0, 10 / len(case.evidence) if case.evidence else 0.0)
        for case in cases
    ]


def _interval(cases: Sequence[Case], values: Sequence[float]) -> Interval:
    return mean_interval(values, [case.group for case in cases])


if __name__ == "__main__":
    main()
