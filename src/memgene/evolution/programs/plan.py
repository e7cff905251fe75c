"""How a search for programs is run: sizes, selection, gates (M* §5)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from memgene.core import InputError
from memgene.evolution.plan_text import choice, parts_of, plain_value, read_value
from memgene.evolution.reflection.material import Scope


class Search(StrEnum):
    """Who becomes a parent.

    `population`: drawn from the pool, p ∝ exp(score / τ). `max`: always the best. `best-of-n`:
    always a seed, in turn, so that all children are independent. `linear`: the best, from one
    empty program (the paper's ablation).
    """

    POPULATION = "population"
    MAX = "max"
    BEST_OF_N = "best-of-n"
    LINEAR = "linear"


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """Settings of a program search; the defaults are the paper's where it has them.

    Attributes:
        search: who becomes a parent.
        iterations: B.
        temperature: τ of the softmax.
        static_items: validation questions that select, chosen once by k-means; None: 25 where
            answers are paid for, else up to 200.
        rotating_items: dev questions a reflection looks at, fresh each time; None: 5 where answers
            are paid for, else 25.
        episodes_per_item: training episodes for each evaluated question; None: 5 where answers are
            paid for, else all there are.
        keep_evidence: memory holds the evidence of rotating (dev) questions in any case.
        seeds: programs the pool starts with; empty: those of the preset.
        parents, children: parents drawn in each iteration, and drafts of each (in parallel).
        repairs: k, tries to mend a draft that a gate refuses.
        gate_items: questions of the paired gate against the parent; 0: no such gate.
        finalists: best candidates that are checked on fresh val questions; 0: the best is taken.
        refuse_duplicates: by normalised syntax tree, before any evaluation.
        drop_zero: children that score 0 are no parents while another program scores.
        mend_violations: a child that breaks at work goes back to be mended, or is discarded
            (published); else it scores 0 on the question and the next reflection is shown it.
        failing, successes: cases a reflection is shown.
        scope: what a reflection may change.
        prompt_tokens: bound of a reflection's prompt (estimated).
    """

    search: Search = Search.POPULATION
    iterations: int = 20
    temperature: float = 0.15
    static_items: int | None = None
    rotating_items: int | None = None
    episodes_per_item: int | None = None
    keep_evidence: bool = True
    seeds: tuple[str, ...] = ()
    parents: int = 1
    children: int = 1
    repairs: int = 3
    gate_items: int = 8
    finalists: int = 3
    refuse_duplicates: bool = True
    drop_zero: bool = True
    mend_violations: bool = False
    failing: int = 2
    successes: int = 1
    scope: Scope = Scope.BOTH
    prompt_tokens: int = 24_000

    def __post_init__(self) -> None:
        choice(self, "search", Search)
        choice(self, "scope", Scope)
        object.__setattr__(self, "seeds", tuple(self.seeds))
        for name, least in _LEAST.items():
            given = getattr(self, name)
            if given is not None and given < least:
                raise InputError(f"{name} must be at least {least}, got {given}")
        if not self.temperature > 0:
            raise InputError(f"temperature must be above 0, got {self.temperature}")

    @classmethod
    def paper(cls) -> ProgramPlan:
        """The published loop: 25 static and 5 rotating items, 20 iterations, τ 0.15, children join
        whatever they score, static and smoke gates with repairs, no paired gate, no re-check."""
        return cls(
            static_items=25,
            rotating_items=5,
            episodes_per_item=5,
            keep_evidence=False,
            seeds=("vector-search-published", "llm-summarizer", "experience-learner"),
            gate_items=0,
            finalists=0,
            refuse_duplicates=False,
            drop_zero=False,
            mend_violations=True,
        )

    def parsed(self, text: str) -> ProgramPlan:
        """Changed as `search=max,children=4,seeds=hybrid+bank` says, the command line's form.

        Raises InputError for an unknown setting or a value that is none.
        """
        usual = {f.name: getattr(ProgramPlan(), f.name) for f in fields(self)}
        values: dict[str, Any] = {}
        for name, value in parts_of(text):
            if name not in usual:
                raise InputError(f"a plan has no {name!r}; it has {', '.join(sorted(usual))}")
            values[name] = read_value(name, value, usual[name])
        return self.changed(**values)

    def changed(self, **values: Any) -> ProgramPlan:
        """A copy with some settings changed; None leaves one as it is."""
        return replace(self, **{name: value for name, value in values.items() if value is not None})

    def questions_of_a_child(self, static: int) -> int:
        """How many questions a child is asked that goes all the way, mending apart."""
        return static + (self.gate_items if self.gate_items < static else 0)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as run.toml keeps them."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["seeds"] = list(self.seeds)
        return {name: plain_value(v) for name, v in values.items() if v is not None}


_LEAST = {
    "iterations": 1,
    "static_items": 1,
    "rotating_items": 1,
    "episodes_per_item": 1,
    "parents": 1,
    "children": 1,
    "repairs": 0,
    "gate_items": 0,
    "finalists": 0,
    "failing": 1,
    "successes": 0,
    "prompt_tokens": 1_000,
}
