"""Two genomes side by side: what they do, where they came from, how they scored."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from memgene.genome.bundle import GenomeBundle
from memgene.genome.head import Score
from memgene.genome.parts import PROGRAM, stage_file
from memgene.retrieval.stages.stage import PREFIX

EQUAL, ADDED, REMOVED, CHANGED, ABSENT = "equal", "added", "removed", "changed", "absent"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs: its value in each of the two, None where it is not there."""

    name: str
    a: Any
    b: Any


@dataclass(frozen=True, slots=True)
class StageChange:
    """A stage that differs: its strength in each of the two (None: not there), and the unified
    difference of its code."""

    name: str
    a: float | None
    b: float | None
    patch: str


@dataclass(frozen=True)
class GenomeDiff:
    """What differs from A to B. `same`: both do the same (equal ids).

    `levers`: those of the configuration, of learned weights (`ranker`) the digest. `program` is a
    unified difference. `router` and `memory` are equal, added, removed, changed, or absent in both.
    `origin`: strategy, embedder, parents, data and provenance. `scores` are those that differ or
    that one of the two lacks: each was measured on its own run's questions, which need not be the
    same.
    """

    ids: tuple[str, str]
    same: bool
    levers: tuple[Change, ...]
    stages: tuple[StageChange, ...]
    program: str
    prompts: tuple[Change, ...]
    router: str
    memory: str
    origin: tuple[Change, ...]
    scores: tuple[Change, ...]

    def model_dump(self) -> dict[str, Any]:
        """Plain values, as `memgene genome diff --json` prints them."""
        values: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return values


def compare_bundles(a: GenomeBundle, b: GenomeBundle) -> GenomeDiff:
    """What differs from `a` to `b`. Nothing of either is run."""
    levers = a.config.difference(b.config)
    return GenomeDiff(
        ids=(a.id, b.id),
        same=a.id == b.id,
        levers=tuple(
            Change(name, *values)
            for name, values in levers.items()
            if name != "router" and not name.startswith(PREFIX)
        ),
        stages=_stages(a, b),
        program=patch(PROGRAM, a.program, b.program),
        prompts=_changes(a.prompts.named(), b.prompts.named()),
        router=_state(a.config.router, b.config.router),
        memory=_state(a.memory, b.memory),
        origin=_changes(_origin(a), _origin(b)),
        scores=_changes(_scores(a), _scores(b)),
    )


def patch(name: str, a: str | None, b: str | None) -> str:
    """Unified difference of two texts, empty where they are equal; None is no text."""
    lines = difflib.unified_diff(
        (a or "").splitlines(keepends=True),
        (b or "").splitlines(keepends=True),
        "/dev/null" if a is None else f"a/{name}",
        "/dev/null" if b is None else f"b/{name}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _stages(a: GenomeBundle, b: GenomeBundle) -> tuple[StageChange, ...]:
    ours = {placed.name: placed for placed in a.config.stages}
    theirs = {placed.name: placed for placed in b.config.stages}
    found = []
    for name in sorted({*ours, *theirs}):
        one, other = ours.get(name), theirs.get(name)
        if one != other:
            code = patch(
                stage_file(name),
                None if one is None else one.stage.source,
                None if other is None else other.stage.source,
            )
            before, after = (None if each is None else each.strength for each in (one, other))
            found.append(StageChange(name, before, after, code))
    return tuple(found)


def _state(a: object | None, b: object | None) -> str:
    if a is None or b is None:
        return ABSENT if a is b else ADDED if a is None else REMOVED
    return EQUAL if a == b else CHANGED


def _changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[Change, ...]:
    names = [*a, *(name for name in b if name not in a)]
    return tuple(
        Change(name, a.get(name), b.get(name)) for name in names if a.get(name) != b.get(name)
    )


def _origin(bundle: GenomeBundle) -> dict[str, Any]:
    return {
        "strategy": bundle.strategy,
        "embedder": bundle.embedder,
        "parents": tuple(bundle.parents),
        **{f"data.{name}": value for name, value in sorted(bundle.fingerprints.items())},
        **{f"provenance.{name}": value for name, value in sorted(bundle.provenance.items())},
    }


def _scores(bundle: GenomeBundle) -> dict[str, Score]:
    return dict(sorted(bundle.scores.items()))
