"""How one genome's parts evolve in turns (architecture.md §7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from memgene.core import InputError
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.plan_text import choice, parts_of, plain_value, read_value
from memgene.evolution.programs.plan import ProgramPlan, Search
from memgene.retrieval.router.settings import RouterSettings


class Arm(StrEnum):
    """What a pass changes: the program; the levers of retrieval; the router; values of memories."""

    STRUCTURE = "structure"
    PARAMETERS = "parameters"
    ROUTER = "router"
    VALUES = "values"


class JointSchedule(StrEnum):
    """`alternating`: one arm a pass, chosen by what it gained last. `simultaneous`: every pass
    changes all of them at once, and they are judged together."""

    ALTERNATING = "alternating"
    SIMULTANEOUS = "simultaneous"


@dataclass(frozen=True, slots=True)
class JointPlan:
    """Settings of a joint evolution.

    Attributes:
        schedule: one arm at a time, or all at once.
        arms: those that take part, in the order of their first passes.
        passes: the limit.
        iterations: program iterations of one structure pass.
        rounds: configuration rounds of one parameters pass.
        patience: passes without gain after which an arm is skipped.
        discount: of an older pass against the next newer one in an arm's gain per cost, in [0, 1].
        kept: programs of the last structure pass that the next one begins with.
        learning_items: dev questions that a pass of router or values learns from, at most.
        program, coevolve: how programs are searched for, and how router and values learn. A search
            begins with the bank and one program that does without; a router tries four weights a
            question, half of what the strategy `coevolve` tries: a pass must leave the other arms
            something of the budget.
    """

    schedule: JointSchedule = JointSchedule.ALTERNATING
    arms: tuple[str, ...] = tuple(Arm)
    passes: int = 24
    iterations: int = 4
    rounds: int = 4
    patience: int = 2
    discount: float = 0.5
    kept: int = 2
    learning_items: int = 200
    program: ProgramPlan = ProgramPlan(  # noqa: RUF009 - frozen
        search=Search.MAX, finalists=0, seeds=("bank", "hybrid")
    )
    coevolve: CoevolvePlan = CoevolvePlan(  # noqa: RUF009 - frozen
        cycles=1, fit=False, learner=RouterSettings(samples=4)
    )

    def __post_init__(self) -> None:
        choice(self, "schedule", JointSchedule)
        unknown = [arm for arm in self.arms if arm not in tuple(Arm)]
        if unknown or not self.arms or len(set(self.arms)) < len(self.arms):
            given = ", ".join(self.arms) or "none"
            raise InputError(f"arms are some of {', '.join(Arm)}, each once; got {given}")
        object.__setattr__(self, "arms", tuple(Arm(arm) for arm in self.arms))
        for name in ("passes", "iterations", "rounds", "patience", "kept", "learning_items"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 <= self.discount <= 1:
            raise InputError(f"discount must lie in [0, 1], got {self.discount}")

    def parsed(self, text: str) -> JointPlan:
        """Changed as `arms=structure+parameters,rounds=3` says, the command line's form; settings
        of the program search are written with `program.` before them, those of router and values
        with `coevolve.`.

        Raises InputError for an unknown setting or a value that is none.
        """
        own: dict[str, Any] = {}
        nested: dict[str, list[str]] = {name: [] for name in _NESTED}
        usual = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _NESTED}
        for name, value in parts_of(text):
            part, _, inner = name.partition(".")
            if inner and part in nested:
                nested[part].append(f"{inner}={value}")
            elif name in usual:
                own[name] = read_value(name, value, usual[name])
            else:
                known = ", ".join((*sorted(usual), "program.…", "coevolve.…"))
                raise InputError(f"a plan has no {name!r}; it has {known}")
        return replace(
            self,
            **own,
            program=self.program.parsed(",".join(nested["program"])),
            coevolve=self.coevolve.parsed(",".join(nested["coevolve"])),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as run.toml keeps them."""
        values: dict[str, Any] = {
            f.name: plain_value(getattr(self, f.name))
            for f in fields(self)
            if f.name not in _NESTED
        }
        values["arms"] = [str(arm) for arm in self.arms]
        return {**values, **{name: getattr(self, name).to_dict() for name in _NESTED}}


_NESTED: Mapping[str, type] = MappingProxyType({"program": ProgramPlan, "coevolve": CoevolvePlan})
