"""What limits recall: how much of the evidence the views propose at all, on LoCoMo.

    python benchmarks/pool.py --data PATH

A ranking cannot find what no view proposed. Each row is a setting of the pool; the columns are the
share of the gold evidence among the candidates, the share of questions whose evidence is all
there, how many candidates there are, and recall@10 of the untrained fusion over them. In the
second table "best order" is the recall@10 of a perfect order of the default pool.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from common import RECALL, add_data_option, cell, finish, note, points, read_task, table

from memgene.core import Answer, Filled
from memgene.evaluation import Interval, mean_interval
from memgene.evaluation.scoring import Scorer, usable_evidence
from memgene.harness.bank import BankHarness
from memgene.harness.registry import bank_factory
from memgene.retrieval.config import RetrievalConfig
from memgene.tasks.part import counted
from memgene.tasks.part import limit as limited
from memgene.tasks.task import Task

_MEASURES = ("evidence", "recall", "best")
_SIZED = ("lexical_k", "window_k", "dense_k")
_VIEWS = ("lexical_k", "window_k", "episode_k", "dense_k", "structured_k")


@dataclass(frozen=True, slots=True)
class Found:
    """One question: shares of its evidence in the pool (`evidence`), in the first ten places
    (`recall`), in ten places of a perfect order (`best`), and the size of the pool."""

    group: str
    category: str
    evidence: float
    recall: float
    best: float
    candidates: int


def main() -> None:
    options = _options()
    task = read_task(options.task, options.data)
    usable = tuple(q for q in counted(task) if q.gold.evidence and q.gold.unusable is None)
    task = replace(task, questions=usable)
    if options.questions is not None:
        task = limited(task, options.questions)
    banks = _written(task, options.embedder)
    try:
        found = {}
        for name, config in _settings().items():
            note(name)
            found[name] = _asked(task, banks, config)
    finally:
        for bank in banks.values():
            bank.close()
    summary = {name: _summary(asked) for name, asked in found.items()}
    header = ("pool", "evidence", "all of it, %", "candidates", "recall@10")
    table(
        f"{task.name}, {len(task.questions)} questions, {options.embedder}",
        header,
        [_row(name, found[name], told) for name, told in summary.items()],
    )
    base = found["default"]
    kinds = {one.category for one in base}
    parts = {kind: [one for one in base if one.category == kind] for kind in sorted(kinds)}
    table(
        "default pool by category",
        ("category", "questions", "evidence", "recall@10", "best order"),
        [
            (
                kind,
                str(len(some)),
                *(cell(_interval(some, what)) for what in _MEASURES),
            )
            for kind, some in (parts | {"all": base}).items()
        ],
    )
    finish(
        "pool",
        {
            "task": task.name,
            "questions": len(task.questions),
            "embedder": options.embedder,
            "pools": summary,
            "best_order": points(_interval(base, "best")),
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
    default = RetrievalConfig()
    found = {"default": default}
    for size in (20, 60, 100):
        sized: dict[str, Any] = dict.fromkeys(_SIZED, size)
        found[f"k {size}"] = default.changed(**sized)
    for view in _VIEWS:
        found[f"without {view.removesuffix('_k')}"] = default.changed(**{view: 0})
    # one view and nothing else: no bonus for the speaker or the length
    alone = default.changed(
        **dict.fromkeys(_VIEWS, 0), weight_structured=1.0, weight_speaker=0.0, weight_length=0.0
    )
    for view in (*_VIEWS, "soft_k"):
        found[f"{view.removesuffix('_k')} alone, k 60"] = alone.changed(**{view: 60})
    for name, switch, names_out in (
        ("as asked", "off", False),
        ("names out", "off", True),
        ("names out, content words, centred", "on", True),
    ):
        found[f"dense alone, {name}"] = alone.changed(
            dense_k=60,
            dense_center=switch,
            dense_content_words=switch,
            dense_drop_names=names_out,
        )
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


def _written(task: Task, embedder: str) -> dict[str, BankHarness]:
    """One filled bank a group."""
    factory = bank_factory(RetrievalConfig(), embedder)
    banks: dict[str, BankHarness] = {}
    for episode in task.episodes:
        bank = banks.setdefault(episode.group, factory())
        bank.write(Filled(bank.item_schema, {}), episode)
    return banks


def _asked(task: Task, banks: Mapping[str, BankHarness], config: RetrievalConfig) -> list[Found]:
    """Every question, read with a configuration."""
    scorer = Scorer(task, [RECALL])
    readers = {
        group: BankHarness(bank.name, bank.engine.with_config(config), owns_bank=False)
        for group, bank in banks.items()
    }
    found = []
    for labelled in task.questions:
        reader = readers[labelled.group]
        context = reader.read(Filled(reader.query_schema, {"query_text": labelled.question.text}))
        share = scorer.pool_evidence(labelled, context) or 0.0
        found.append(
            Found(
                group=labelled.group,
                category=labelled.gold.category,
                evidence=share,
                recall=scorer.scores(labelled, context, Answer(""))[RECALL],
                best=min(share, 10 / len(usable_evidence(labelled))),
                candidates=len(context.pool),
            )
        )
    return found


def _summary(found: Sequence[Found]) -> dict[str, Any]:
    return {
        "evidence": points(_interval(found, "evidence")),
        "complete": round(100 * sum(one.evidence == 1 for one in found) / len(found), 2),
        "candidates": round(sum(one.candidates for one in found) / len(found), 1),
        "recall@10": points(_interval(found, "recall")),
    }


def _row(name: str, found: Sequence[Found], told: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        name,
        cell(_interval(found, "evidence")),
        f"{told['complete']:.1f}",
        f"{told['candidates']:.0f}",
        cell(_interval(found, "recall")),
    )


def _interval(found: Sequence[Found], what: str) -> Interval:
    values = [float(getattr(one, what)) for one in found]
    return mean_interval(values, [one.group for one in found])


if __name__ == "__main__":
    main()
