"""Does a ranker learned on one task serve another? LoCoMo and BFCL-memory, both ways.

    python benchmarks/transfer.py --data PATH

Rows per task, all with the default views: the untrained fusion; the ranker fitted on the other
task, all of it; the ranker fitted on the task's own other groups (folds by group, so that no
question is asked of a ranker that saw its group).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import correlation
from typing import Any

from common import (
    RECALL,
    add_data_option,
    cell,
    difference,
    finish,
    interval_of,
    note,
    points,
    ranked,
    read_task,
    table,
)

from memgene.agents.offline import OfflineAgent
from memgene.core import LabelledQuestion
from memgene.embed import load_embedder, word_vectors
from memgene.embed.protocol import WordVectors
from memgene.evaluation import Case, MemoryPool
from memgene.evolution.learning import RankerLearner
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.ranker import Ranker
from memgene.tasks.part import counted
from memgene.tasks.part import limit as limited
from memgene.tasks.splits import fold_splits
from memgene.tasks.task import Split, Task

UNTRAINED, TRANSFERRED, OWN = "untrained", "learned elsewhere", "learned here, held out"
_SHOWN_FEATURES = 8


class Bench:
    """A task with its written memories and what learns from it."""

    def __init__(self, task: Task, metric: str, embedder: str, folds: int, seed: int) -> None:
        loaded = load_embedder(embedder)
        words = loaded if isinstance(loaded, WordVectors) else word_vectors()
        self.task = task
        self.questions = counted(task)
        self.memories = MemoryPool()
        self._metric = metric
        self._embedder = embedder
        self._folds = fold_splits(task, folds, seed)
        self._learner = RankerLearner(
            task, None, OfflineAgent(), loaded, words, self.memories, seed
        )

    def fitted(self, questions: Sequence[LabelledQuestion]) -> RetrievalConfig:
        """The default configuration with a ranker fitted on some questions."""
        default = RetrievalConfig()
        ranker = self._learner(default, questions)
        return default.changed(fusion="learned", ranker=ranker)

    def cases(
        self, config: RetrievalConfig, questions: Sequence[LabelledQuestion] | None = None
    ) -> list[Case]:
        """Cases of all counted questions, or of some."""
        asked = self.questions if questions is None else questions
        return ranked(
            self.task,
            config,
            self.memories,
            embedder=self._embedder,
            questions=asked,
            metric=self._metric,
        )

    def held_out(self) -> list[Case]:
        """Every question answered by a ranker fitted on the other folds' groups."""
        found: dict[str, Case] = {}
        for division in self._folds:
            note(f"{self.task.name}: {division.origin}")
            tested = set(division.groups(Split.TEST))
            config = self.fitted([q for q in self.questions if q.group not in tested])
            asked = [q for q in self.questions if q.group in tested]
            found.update((case.question_id, case) for case in self.cases(config, asked))
        return [found[question.id] for question in self.questions]


def main() -> None:
    options = _options()
    tasks = [read_task(name, options.data) for name in options.tasks]
    if options.questions is not None:
        tasks = [limited(task, options.questions) for task in tasks]
    metric = options.metric
    benches = [Bench(task, metric, options.embedder, options.folds, options.seed) for task in tasks]
    try:
        learned = []
        for bench in benches:
            note(f"{bench.task.name}: fitting on all of it")
            learned.append(bench.fitted(bench.questions))
        result, rows = {}, []
        for bench, elsewhere in zip(benches, reversed(learned), strict=True):
            note(f"{bench.task.name}: asking")
            found = {
                UNTRAINED: bench.cases(RetrievalConfig()),
                TRANSFERRED: bench.cases(elsewhere),
                OWN: bench.held_out(),
            }
            result[bench.task.name] = _compared(found, metric)
            rows += [_row(bench.task.name, name, found, metric) for name in found]
    finally:
        for bench in benches:
            bench.memories.close()
    header = ("task", "ranking", metric, "against untrained", "against own")
    table(f"{options.embedder}, {options.folds} folds by group", header, rows)
    rankers = dict(zip([b.task.name for b in benches], map(_ranker, learned), strict=True))
    table(
        "heaviest features, all of the task",
        ("task", "questions", "feature: weight"),
        [(n, str(r.questions), ", ".join(_heaviest(r))) for n, r in rankers.items()],
    )
    finish(
        "transfer",
        {
            "metric": metric,
            "embedder": options.embedder,
            "folds": options.folds,
            "seed": options.seed,
            "tasks": result,
            "weights_correlation": round(_correlation(*rankers.values()), 3),
        },
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tasks", nargs=2, default=["locomo", "bfcl-memory"], metavar="TASK")
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--metric", default=RECALL, help="a measure of the ranking")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--questions", type=int, help="so many of each task only, at random")
    add_data_option(parser)
    return parser.parse_args()


def _compared(found: dict[str, list[Case]], metric: str) -> dict[str, Any]:
    told: dict[str, Any] = {name: points(interval_of(c, metric)) for name, c in found.items()}
    told["paired"] = {
        f"{first} − {second}": points(difference(found[first], found[second], metric))
        for first, second in (
            (TRANSFERRED, UNTRAINED),
            (OWN, UNTRAINED),
            (TRANSFERRED, OWN),
        )
    }
    return told


def _row(task: str, name: str, found: dict[str, list[Case]], metric: str) -> tuple[str, ...]:
    def against(other: str) -> str:
        return (
            "–"
            if name == other
            else cell(difference(found[name], found[other], metric), signed=True)
        )

    return (task, name, cell(interval_of(found[name], metric)), against(UNTRAINED), against(OWN))


def _ranker(config: RetrievalConfig) -> Ranker:
    assert config.ranker is not None
    return config.ranker


def _heaviest(ranker: Ranker) -> list[str]:
    order = sorted(ranker.weight, key=lambda name: -abs(ranker.weight[name]))
    return [f"{name} {ranker.weight[name]:+.2f}" for name in order[:_SHOWN_FEATURES]]


def _correlation(first: Ranker, second: Ranker) -> float:
    """Pearson's r of the weights of the features both have."""
    names = [name for name in first.weight if name in second.weight]
    return correlation([first.weight[n] for n in names], [second.weight[n] for n in names])


if __name__ == "__main__":
    main()
