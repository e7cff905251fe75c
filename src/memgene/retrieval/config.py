"""The retrieval configuration: the structured action space that evolution searches, with what was
learned: weights of the learned fusion, a router, overrides by question type.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from memgene.core import ConfigError
from memgene.retrieval.action_space import ActionSpace
from memgene.retrieval.levers import Lever
from memgene.retrieval.question_type import QUESTION_TYPES
from memgene.retrieval.ranker import Ranker
from memgene.retrieval.router.observation import TWO_ROUTES
from memgene.retrieval.stages.stage import PREFIX, PlacedStage, Stage

if TYPE_CHECKING:
    from memgene.retrieval.router.router import Router

FORMAT = 1
VIEWS = ("lexical", "window", "episode", "dense", "soft", "structured", "entity_swap")
"""Names of the views, in the order in which they are built."""
Q_RRF = "q_rrf"
"""The published fusion: two routes and a rank by value."""
ROUTED = ("sum", "weighted_sum", "learned")
"""Fusions in which a router corrects the weights of the views; in q_rrf it weighs two routes."""


@dataclass(frozen=True, slots=True)
class RetrievalConfig(ActionSpace):
    """One point of the action space. Immutable; every change is checked and clamped.

    `ranker` holds the learned weights (fusion `learned` needs it); `router` says for each question
    how much each route counts (its own file beside the TOML, which names its digest); `stages` are
    pieces of retrieval as code (files of their own, too), in the order of their names; `per_type`
    overrides levers for *predicted* question types, never for a gold category.
    """

    ranker: Ranker | None = None
    router: Router | None = None
    stages: tuple[PlacedStage, ...] = ()
    per_type: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, declared in levers().items():
            object.__setattr__(self, name, declared.checked(getattr(self, name)))
        checked = {}
        for kind, overrides in sorted(self.per_type.items()):
            if kind not in QUESTION_TYPES:
                raise ConfigError(
                    f"question type {kind!r} is unknown; there are {', '.join(QUESTION_TYPES)}"
                )
            checked[kind] = {n: _lever(n).checked(v) for n, v in sorted(overrides.items())}
        object.__setattr__(self, "per_type", {k: v for k, v in checked.items() if v})
        placed = tuple(sorted(self.stages, key=lambda placed: placed.name))
        if len({each.name for each in placed}) < len(placed):
            raise ConfigError("two stages of a configuration have the same name")
        object.__setattr__(self, "stages", placed)
        fusions = (self.fusion, *(o.get("fusion") for o in self.per_type.values()))
        if "learned" in fusions and self.ranker is None:
            raise ConfigError(
                "fusion 'learned' needs fitted weights: evolve or fit on dev questions first"
            )
        if self.router is not None:
            _check_routes(self.router.routes, [f for f in fusions if f is not None])

    @classmethod
    def minimal(cls) -> RetrievalConfig:
        """The weak start of EvolveMem's experiments: BM25, five candidates, nothing else."""
        return cls(**{name: declared.minimal for name, declared in levers().items()})

    def changed(self, **changes: Any) -> RetrievalConfig:
        """A copy with some levers (or `ranker`, `router`, `stages`, `per_type`) changed; unknown
        names are refused.

        `per_type` is merged deeply: `{"when": {"recency_weight": 1.0}}` adds to what is there.
        """
        for name in changes:
            if name not in ("ranker", "router", "stages", "per_type"):
                _lever(name)
        if "per_type" in changes:
            merged = {kind: dict(overrides) for kind, overrides in self.per_type.items()}
            for kind, overrides in changes["per_type"].items():
                merged.setdefault(kind, {}).update(overrides)
            changes = {**changes, "per_type": merged}
        return replace(self, **changes)

    def for_type(self, question_type: str) -> RetrievalConfig:
        """The configuration that serves a predicted question type."""
        overrides = self.per_type.get(question_type)
        return replace(self, per_type={}, **overrides) if overrides else self

    def with_stage(self, stage: Stage, strength: float) -> RetrievalConfig:
        """A copy in which the stage, in place of one of its name, has this strength."""
        others = tuple(placed for placed in self.stages if placed.name != stage.name)
        return replace(self, stages=(*others, PlacedStage(stage, strength)))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as stored in `retrieval.toml` and journals; of router and stages their
        digests."""
        values: dict[str, Any] = {"format": FORMAT}
        values.update({name: getattr(self, name) for name in levers()})
        if self.router is not None:
            values["router"] = self.router.digest
        if self.stages:
            values["stages"] = {
                placed.name: {"digest": placed.stage.digest, "strength": placed.strength}
                for placed in self.stages
            }
        if self.per_type:
            values["per_type"] = {kind: dict(o) for kind, o in self.per_type.items()}
        if self.ranker is not None:
            values["ranker"] = self.ranker.to_dict()
        return values

    @classmethod
    def from_dict(
        cls,
        values: Mapping[str, Any],
        router: Router | None = None,
        stages: Sequence[Stage] = (),
    ) -> RetrievalConfig:
        """Inverse of `to_dict`; levers that are absent take their defaults. `router` and `stages`
        are those that the values name.

        Raises ConfigError for anything unknown, and when a router or stage is named and not the
        one given.
        """
        values = dict(values)
        found = values.pop("format", None)
        if found != FORMAT:
            raise ConfigError(
                f"retrieval configuration has format {found!r}; this version reads {FORMAT}"
            )
        _check_router(values.pop("router", None), router)
        placed = _placed(values.pop("stages", {}), stages)
        ranker = values.pop("ranker", None)
        per_type = values.pop("per_type", {})
        for name in values:
            _lever(name)
        return cls(
            **values,
            per_type=per_type,
            ranker=None if ranker is None else Ranker.from_dict(ranker),
            router=router,
            stages=placed,
        )

    def to_toml(self) -> str:
        """The text of `retrieval.toml`."""
        import tomli_w

        return tomli_w.dumps(self.to_dict())

    @classmethod
    def from_toml(
        cls, text: str, router: Router | None = None, stages: Sequence[Stage] = ()
    ) -> RetrievalConfig:
        """Read the text of a `retrieval.toml`; `router` and `stages` are those that it names."""
        return cls.from_dict(parsed(text), router, stages)

    @property
    def digest(self) -> str:
        """Name of the configuration: a hash of all its values."""
        text = json.dumps(self.to_dict(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def difference(self, other: RetrievalConfig) -> dict[str, tuple[Any, Any]]:
        """Levers whose values differ: name → (here, there); `ranker`, `router`, `stage.…` and
        `per_type.…` included, of the first two the digests."""
        changed = {
            name: (getattr(self, name), getattr(other, name))
            for name in levers()
            if getattr(self, name) != getattr(other, name)
        }
        for name in ("ranker", "router"):
            here, there = getattr(self, name), getattr(other, name)
            if here != there:
                changed[name] = (here and here.digest, there and there.digest)
        changed.update(_stage_differences(self.stages, other.stages))
        for kind in QUESTION_TYPES:
            ours, theirs = self.per_type.get(kind, {}), other.per_type.get(kind, {})
            for name in sorted({*ours, *theirs}):
                if ours.get(name) != theirs.get(name):
                    changed[f"per_type.{kind}.{name}"] = (ours.get(name), theirs.get(name))
        return changed


def parsed(text: str) -> dict[str, Any]:
    """The values in the text of a `retrieval.toml`, unchecked. Raises ConfigError for no TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"retrieval configuration is not TOML: {error}") from error


@lru_cache(maxsize=1)
def levers() -> Mapping[str, Lever]:
    """Every declared lever by name, in declaration order."""
    return MappingProxyType(
        {
            f.name: replace(f.metadata["lever"], name=f.name)
            for f in fields(RetrievalConfig)
            if "lever" in f.metadata
        }
    )


def _lever(name: str) -> Lever:
    try:
        return levers()[name]
    except KeyError:
        raise ConfigError(f"there is no lever {name!r}; see `memgene levers`") from None


def _check_routes(routes: tuple[str, ...], fusions: list[str]) -> None:
    """Refuse a router that weighs other routes than the fusion has."""
    for fusion in fusions:
        if fusion == Q_RRF:
            fits = routes == TWO_ROUTES
        else:
            fits = fusion in ROUTED and set(routes).issubset(VIEWS)
        if not fits:
            raise ConfigError(
                f"a router of {', '.join(routes)} has nothing to weigh in fusion {fusion!r}: "
                "q_rrf has the routes dense and sparse, sum, weighted_sum and learned have the "
                "views; change the fusion or leave the router out"
            )


def _placed(named: Mapping[str, Any], given: Sequence[Stage]) -> tuple[PlacedStage, ...]:
    """The stages that a configuration names, with their strengths. Raises ConfigError for one that
    is not given, is given and not named, or is another one."""
    known = {stage.name: stage for stage in given}
    if sorted(named) != sorted(known):
        raise ConfigError(
            f"the configuration names stages {', '.join(sorted(named)) or '(none)'}, and "
            f"{', '.join(sorted(known)) or 'none'} were given: stages/NAME.py beside it hold them"
        )
    placed = []
    for name, values in named.items():
        if not isinstance(values, Mapping) or set(values) != {"digest", "strength"}:
            raise ConfigError(f"stage {name} needs a digest and a strength, got {values!r}")
        if values["digest"] != known[name].digest:
            raise ConfigError(
                f"the configuration names stage {name} {values['digest']}, and "
                f"{known[name].digest} was given"
            )
        placed.append(PlacedStage(known[name], values["strength"]))
    return tuple(placed)


def _stage_differences(
    ours: Sequence[PlacedStage], theirs: Sequence[PlacedStage]
) -> dict[str, tuple[Any, Any]]:
    """Stages that differ in strength or code: `stage.NAME` → (strength here, there), with the
    digest where the code differs."""
    here = {placed.name: placed for placed in ours}
    there = {placed.name: placed for placed in theirs}
    found: dict[str, tuple[Any, Any]] = {}
    for name in sorted({*here, *there}):
        one, other = here.get(name), there.get(name)
        if one == other:
            continue
        same_code = one is not None and other is not None and one.stage == other.stage
        found[PREFIX + name] = (_said(one, same_code), _said(other, same_code))
    return found


def _said(placed: PlacedStage | None, same_code: bool) -> Any:
    if placed is None:
        return None
    return placed.strength if same_code else f"{placed.strength:g} of {placed.stage.digest}"


def _check_router(named: str | None, given: Router | None) -> None:
    """Refuse a configuration without the router it names, or with another one."""
    found = None if given is None else given.digest
    if named == found:
        return
    if named is None:
        raise ConfigError(f"the configuration names no router, and router {found} was given")
    raise ConfigError(
        f"the configuration names router {named}, "
        + (f"and router {found} was given" if found else "and none was given")
        + ": router.npz beside it holds it"
    )
