"""The space of recipes: neighbours, random members, children of two. All by seeded generators."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from memgene.core import InputError
from memgene.programs.modules.recipe import CHOICES, SLOTS, Recipe, Slot
from memgene.programs.modules.symptoms import LEVERS_FOR, Symptom

LOGIC = (Slot.STORAGE, Slot.INDEXING, Slot.SCORING, Slot.SHOWING)
"""Slots that change what a read returns; wording moves only agents that read it."""
_FLOOR = 0.1  # weight of levers that no symptom speaks for, beside at most 1 for the others


def mutations(recipe: Recipe, slots: Collection[Slot] = tuple(Slot)) -> list[Recipe]:
    """Every recipe that differs in one lever of these slots and gives another program, once each,
    in the order of the catalogue."""
    return list(_neighbours(recipe, slots))


def random_recipe(rng: Random, slots: Collection[Slot] = tuple(Slot)) -> Recipe:
    """A random choice for every lever of these slots, the others at their default."""
    chosen: dict[str, Any] = {lever: rng.choice(CHOICES[lever]) for lever in _levers(slots)}
    return Recipe(**chosen).normal


def crossover(one: Recipe, other: Recipe, rng: Random) -> Recipe:
    """Each slot as a whole from one of the two."""
    child = one
    for levers in SLOTS.values():
        parent = rng.choice((one, other))
        child = replace(child, **{lever: getattr(parent, lever) for lever in levers})
    return child.normal


def weighted_mutation(
    recipe: Recipe,
    symptoms: Mapping[Symptom, float],
    rng: Random,
    *,
    slots: Collection[Slot] = tuple(Slot),
    tried: Collection[Recipe] = (),
) -> Recipe | None:
    """A random neighbour that is not among `tried`, drawn by what the diagnosis speaks for.

    `symptoms` are score lost per symptom (any scale, 0 or more). First a lever is drawn, then one
    of its options. None when every neighbour was tried.
    """
    if any(weight < 0 for weight in symptoms.values()):
        raise InputError(f"weights of symptoms must be 0 or more, got {dict(symptoms)}")
    known = {one.normal for one in tried}
    options: dict[str, list[Recipe]] = {}
    for neighbour, lever in _neighbours(recipe, slots).items():
        if neighbour not in known:
            options.setdefault(lever, []).append(neighbour)
    if not options:
        return None
    weights = [_weight(lever, symptoms) for lever in options]
    lever = rng.choices(list(options), weights)[0]
    return rng.choice(options[lever])


def _neighbours(recipe: Recipe, slots: Collection[Slot]) -> dict[Recipe, str]:
    """Neighbours and the lever each differs in."""
    base = recipe.normal
    found: dict[Recipe, str] = {}
    for lever in _levers(slots):
        for option in CHOICES[lever]:
            change: dict[str, Any] = {lever: option}
            neighbour = replace(base, **change).normal
            if neighbour != base:
                found.setdefault(neighbour, lever)
    return found


def _levers(slots: Collection[Slot]) -> list[str]:
    return [lever for slot, levers in SLOTS.items() if slot in slots for lever in levers]


def _weight(lever: str, symptoms: Mapping[Symptom, float]) -> float:
    total = sum(symptoms.values())
    spoken = sum(weight for symptom, weight in symptoms.items() if lever in LEVERS_FOR[symptom])
    return _FLOOR + (spoken / total if total else 0.0)
