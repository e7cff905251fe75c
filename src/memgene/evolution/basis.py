"""What an evolution starts from in place of its preset's start: a genome of an earlier run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memgene.core import InputError
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.progress import Place
from memgene.evolution.rundir import BEST
from memgene.genome import GenomeBundle
from memgene.programs.program import Program
from memgene.retrieval.config import RetrievalConfig
from memgene.tasks.task import Task

INHERITED = "inherited"
"""In the provenance of a genome: names of the tasks that its base evolved on, by commas."""


@dataclass(frozen=True, slots=True)
class StartGenome:
    """What is taken over of a base: its configuration without the router, and its program. What
    else it learned stays behind: router and values have seen the questions that judge a run on the
    same task, and mean nothing on another. `id` names the base, `fingerprints` the data that it
    and the genomes before it evolved on."""

    config: RetrievalConfig
    program: Program | None
    id: str
    fingerprints: Mapping[str, str] = field(default_factory=dict)


def start_genome(
    base: str,
    task: Task,
    embedder: str,
    division: tuple[str, int] | None,
    place: Place,
    held: Mapping[str, Any],
) -> StartGenome | None:
    """The genome that `base` names (a bundle, a run, or a run with folds: each fold its own), held
    levers applied; None without a base. `division` is how this run divides the task, and its seed;
    None: nothing will be tested, so that any base will do.

    Raises InputError when the base was evolved with another embedder, or on this task, or another
    part of it, by another division: it would have seen what is tested here.
    """
    if not base:
        return None
    bundle = GenomeBundle.load(_folder(Path(base), place))
    said = f"base {base}"
    if bundle.embedder != embedder:
        raise InputError(f"{said} evolved with embedder {bundle.embedder}, this run has {embedder}")
    if division is not None:
        _refuse_what_saw_the_test(bundle, task, division, said)
    config = holding(bundle.config.changed(router=None), held)
    program = None if bundle.program is None else Program(bundle.program)
    return StartGenome(config, program, bundle.id, bundle.fingerprints)


def inheriting(bundle: GenomeBundle, seen: Mapping[str, str]) -> GenomeBundle:
    """The bundle with the data that its base had seen (fingerprints by name) beside its own.

    Provenance tells how a genome's own task was divided, not how those of its base were, so that
    nothing is held out of what it inherited; `inherited` in the provenance names these tasks.
    """
    others = {name: said for name, said in seen.items() if name not in bundle.fingerprints}
    if not others:
        return bundle
    return replace(
        bundle,
        fingerprints={**others, **bundle.fingerprints},
        provenance={**bundle.provenance, INHERITED: ",".join(sorted(others))},
    )


def inherited(bundle: GenomeBundle) -> Mapping[str, str]:
    """Data that only the base of a genome, or one before it, evolved on: fingerprints by name."""
    names = str(bundle.provenance.get(INHERITED, "")).split(",")
    return {name: said for name, said in bundle.fingerprints.items() if name in names}


def holding(config: RetrievalConfig, held: Mapping[str, Any]) -> RetrievalConfig:
    """The configuration with levers held at a value, overrides for types of question too."""
    if not held:
        return config
    per_type = {
        kind: {name: value for name, value in levers.items() if name not in held}
        for kind, levers in config.per_type.items()
    }
    return replace(config.changed(**held), per_type=per_type)


def retriever(found: StartGenome | None, base: str, what: str) -> RetrievalConfig | None:
    """The configuration of a base, for what cannot start from a program. Raises InputError where
    it holds one."""
    if found is None:
        return None
    if found.program is not None:
        raise InputError(f"base {base} holds an evolved program; {what} starts from a retriever")
    return found.config


def start_config(
    plan: CoevolvePlan,
    task: Task,
    embedder: str,
    division: tuple[str, int] | None,
    place: Place,
) -> RetrievalConfig:
    """The configuration both learners of a co-evolution start from; learned weights in it are to
    be fitted anew. Raises as `start_genome`, and InputError when the base holds a program."""
    found = start_genome(plan.base, task, embedder, division, place, {})
    config = retriever(found, plan.base, "co-evolution")
    return plan.start() if config is None else config.changed(**plan.levers)


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
    before = inherited(bundle)
    if task.name in before or task.fingerprint in before.values():
        raise InputError(
            f"{said} came from a genome that evolved on {task.name}: it may have seen the "
            "questions tested here. Start from a genome that never saw them"
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
