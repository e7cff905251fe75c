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
    What else the base learned stays behind: its router and values have seen the questions that
    judge this run's. `division` is how this run divides the task, and its seed; None: nothing will
    be tested, so that any base will do.

    Raises InputError when the base holds a program, was evolved with another embedder, or was
    evolved on this task, or another part of it, by another division: it would have seen what is
    tested here.
    """
    if not plan.base:
        return plan.start()
    bundle = GenomeBundle.load(_folder(Path(plan.base), place))
    said = f"base {plan.base}"
    if bundle.program is not None:
        raise InputError(f"{said} holds an evolved program; co-evolution starts from a retriever")
    if bundle.embedder != embedder:
        raise InputError(f"{said} evolved with embedder {bundle.embedder}, this run has {embedder}")
    if division is not None:
        _refuse_what_saw_the_test(bundle, task, division, said)
    return bundle.config.changed(**{"router": None, **plan.levers})


def _refuse_what_saw_the_test(
    bundle: GenomeBundle, task: Task, division: tuple[str, int], said: str
) -> None:
    known = bundle.fingerprints
    if task.name not in known and task.fingerprint not in known.values():
        return
    if known.get(task.name, task.fingerprint) != task.fingerprint:
        raise InputError(
            f"{said} evolved on other data of {task.name}, which were divided otherwise: it may "
            "have seen the questions tested here. Evolve it on the same data"
        )
    divided = (bundle.provenance.get("division"), bundle.provenance.get("seed"))
    if divided != division:
        raise InputError(
            f"{said} evolved on {task.name} divided by {divided[0]!r}, seed {divided[1]}, and this "
            f"run divides it by {division[0]!r}, seed {division[1]}: it may have seen the "
            "questions tested here. Evolve it with the same seed and folds"
        )


def _folder(base: Path, place: Place) -> Path:
    """The bundle in a run, in the same fold of a run with folds, or the path itself."""
    fold = base / f"fold-{place.fold}" / BEST
    if place.folds and fold.is_dir():
        return fold
    return base / BEST if (base / BEST).is_dir() else base
