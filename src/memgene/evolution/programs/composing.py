"""Drafters that need no language model: they compose programs from the catalogue of modules."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from memgene.evaluation.case import Case
from memgene.evolution.programs.drafting import Draft, DraftTask
from memgene.evolution.reflection.material import Scope
from memgene.evolution.scoring import value
from memgene.programs.modules import (
    LOGIC,
    Recipe,
    Slot,
    Symptom,
    compose,
    crossover,
    random_recipe,
    recipe_of,
    symptom_of,
    weighted_mutation,
)
from memgene.programs.normal import normal_hash

_TRIES = 64
_IN_TEXT = "evidence_in_text"


class ModuleDrafter:
    """Changes one part of the parent's recipe: drawn by what the dev questions complain about
    (`rule`), or anywhere in the catalogue (`random`: a neighbour of the parent, a child of two, or
    a recipe out of the blue). What was tried is not tried again.

    A parent that no recipe describes stands for the default one. `words` says whether the agent
    reads instructions, so that changing them can matter. `metric` is what the score is, `scope`
    what may change.
    """

    def __init__(self, kind: str, metric: str, *, words: bool, scope: Scope = Scope.BOTH) -> None:
        self.name = f"modules:{kind}"
        self._random = kind == "random"
        self._metric = metric
        self._slots: Collection[Slot] = tuple(Slot) if words else LOGIC
        if scope is Scope.CODE:
            self._slots = LOGIC
        elif scope is Scope.INSTRUCTIONS:
            self._slots = (Slot.WORDING,)

    def draft(self, task: DraftTask) -> Draft:
        """A composed program that is new to the run; refused when the tries run out."""
        rng = random.Random(f"{task.seed}:{self.name}")
        base = recipe_of(task.parent.program)
        start = base or Recipe()
        symptoms = self._symptoms(task.cases)
        offers = (
            self._anywhere(task, start, rng) if self._random else self._led(start, symptoms, rng)
        )
        for recipe in islice(offers, _TRIES):
            program = compose(recipe)
            if normal_hash(program.source) not in task.known:
                title = _title(start, recipe)
                return Draft(program.source, title, self._message(base, recipe, symptoms))
        return Draft("", "nothing new", refused=f"{_TRIES} recipes in a row were tried before")

    def repair(self, task: DraftTask, broken: Draft, findings: str, tries: int) -> None:
        """Composed programs are not mended: another one is as cheap."""

    def _led(
        self, start: Recipe, symptoms: dict[Symptom, float], rng: random.Random
    ) -> Iterator[Recipe]:
        """Neighbours of the parent by diagnosis, then neighbours of neighbours."""
        tried: list[Recipe] = [start.normal]
        base = start
        while True:
            found = weighted_mutation(base, symptoms, rng, slots=self._slots, tried=tried)
            if found is None:
                base = rng.choice(tried)
                continue
            tried.append(found)
            yield found

    def _anywhere(self, task: DraftTask, start: Recipe, rng: random.Random) -> Iterator[Recipe]:
        others = [r for m in task.references if (r := recipe_of(m.program)) is not None]
        while True:
            drawn = rng.random()
            if drawn < 0.5:
                found = weighted_mutation(start, {}, rng, slots=self._slots)
                yield found or random_recipe(rng, self._slots)
            elif drawn < 0.75 and others:
                yield crossover(start, rng.choice(others), rng)
            else:
                yield random_recipe(rng, self._slots)

    def _symptoms(self, cases: Sequence[Case]) -> dict[Symptom, float]:
        """Score lost by symptom on the dev questions."""
        lost: dict[Symptom, float] = {}
        for case in cases:
            score = value(case, self._metric)
            if score is None:
                continue
            found = symptom_of(score, case.scores.get(_IN_TEXT), len(case.context))
            if found is not None:
                lost[found] = lost.get(found, 0.0) + 1 - score
        return lost

    def _message(self, base: Recipe | None, recipe: Recipe, symptoms: dict[Symptom, float]) -> str:
        told = ", ".join(f"{name} {lost:.2f}" for name, lost in sorted(symptoms.items()))
        why = "at random" if self._random else f"score lost on dev: {told or 'none'}"
        origin = (
            "" if base else "\n- the parent is no composed program: the default recipe stood in"
        )
        return f"- {why}{origin}\n- recipe {recipe}"


def _title(start: Recipe, recipe: Recipe) -> str:
    """The levers that differ."""
    before, after = start.normal.to_json(), recipe.normal.to_json()
    changed = [
        f"{name} {before[name]} → {after[name]}" for name in after if before[name] != after[name]
    ]
    return "; ".join(changed) or "the default recipe"
