"""What a co-evolution starts from: the preset's configuration, or a genome of an earlier run."""

from __future__ import annotations

from pathlib import Path

from memgene.core import InputError
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.progress import Place
from memgene.evolution.rundir import BEST
from memgene.genome import GenomeBundle
from memgene.retrieval.config import RetrievalConfig
from memgene.tasks.task import Task


def start_config(
    plan: CoevolvePlan,
    task: Task,
    embedder: str,
    division: tuple[str, int] | None,
    place: Place,
) -> RetrievalConfig:
    """The configuration both learners start from; learned weights in it are to be fitted anew.
    `division` is how this run divides the task, and its seed; None: nothing will be tested, so
    that any base will do.

    Raises InputError when the base holds a program, was evolved with another embedder, or was
    evolved on this task by another division: it would have seen what is tested here.
    """
    if not plan.base:
        return plan.start()
    bundle = GenomeBundle.load(_folder(Path(plan.base), place))
    said = f"base {plan.base}"
    if bundle.program is not None:
        raise InputError(f"{said} holds an evolved program; co-evolution starts from a retriever")
    if bundle.embedder != embedder:
        raise InputError(f"{said} evolved with embedder {bundle.embedder}, this run has {embedder}")
    divided = (bundle.provenance.get("division"), bundle.provenance.get("seed"))
    if division is not None and task.name in bundle.fingerprints and divided != division:
        raise InputError(
            f"{said} evolved on {task.name} divided by {divided[0]!r}, seed {divided[1]}, and this "
            f"run divides it by {division[0]!r}, seed {division[1]}: it may have seen the "
            "questions tested here. Evolve it with the same seed and folds"
        )
    return bundle.config.changed(**plan.levers)


def _folder(base: Path, place: Place) -> Path:
    """The bundle in a run, in the same fold of a run with folds, or the path itself."""
    fold = base / f"fold-{place.fold}" / BEST
    if place.folds and fold.is_dir():
        return fold
    return base / BEST if (base / BEST).is_dir() else base
