"""The space of recipes: neighbours, random members, children; and what a diagnosis points at."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.core import InputError
from memgene.programs.modules import (
    CHOICES,
    LEVERS_FOR,
    LOGIC,
    SLOTS,
    Recipe,
    Slot,
    Symptom,
    compose,
    crossover,
    mutations,
    random_recipe,
    slots_for,
    symptom_of,
    weighted_mutation,
)

seeds = st.integers(0, 10_000)


def changed(one: Recipe, other: Recipe) -> set[str]:
    return {lever for lever in CHOICES if getattr(one, lever) != getattr(other, lever)}


@given(seeds)
@settings(max_examples=25, deadline=None)
def test_every_neighbour_is_one_choice_away_and_another_program(seed: int) -> None:
    recipe = random_recipe(Random(seed))
    found = mutations(recipe)
    assert len(set(found)) == len(found)
    assert recipe not in found
    for neighbour in found:
        assert any(
            replace(recipe, **{lever: getattr(neighbour, lever)}).normal == neighbour  # type: ignore[arg-type]
            for lever in changed(recipe, neighbour)
        )


def test_a_step_from_the_bank_keeps_its_ranking_for_other_storage() -> None:
    bank = Recipe(storage="bank").normal
    found = mutations(bank)
    assert (
        len(found) == 8 + 4 * 2
    )  # eight other kinds of storage; two other words for each constant
    assert {one.signals for one in found} == {"bank"}
    assert len(mutations(bank, LOGIC)) == 8


def test_only_levers_of_the_slots_asked_for_change() -> None:
    for neighbour in mutations(Recipe(), (Slot.SHOWING,)):
        assert changed(Recipe(), neighbour) <= set(SLOTS[Slot.SHOWING])
    assert random_recipe(Random(3), (Slot.SCORING,)).storage == Recipe().storage


def test_equal_seeds_give_equal_recipes() -> None:
    assert random_recipe(Random(5)) == random_recipe(Random(5))
    assert len({random_recipe(Random(seed)) for seed in range(20)}) == 20


@given(seeds)
@settings(max_examples=25, deadline=None)
def test_a_child_has_each_slot_from_one_of_its_parents(seed: int) -> None:
    rng = Random(seed)
    one, other = random_recipe(rng), random_recipe(rng)
    child = crossover(one, other, rng)
    for levers in SLOTS.values():
        own = [getattr(child, lever) for lever in levers]
        # a lever that has no effect in the child stands at its default
        assert any(
            all(
                a in (b, CHOICES_DEFAULT[lever])
                for a, b, lever in zip(own, theirs, levers, strict=True)
            )
            for theirs in ([getattr(p, lever) for lever in levers] for p in (one, other))
        )


CHOICES_DEFAULT = Recipe().to_json()


def test_a_mutation_is_never_one_that_was_tried() -> None:
    tried: list[Recipe] = []
    while (found := weighted_mutation(Recipe(), {}, Random(len(tried)), tried=tried)) is not None:
        assert found not in tried
        tried.append(found)
    assert sorted(map(str, tried)) == sorted(map(str, mutations(Recipe())))


def test_symptoms_draw_the_levers_that_may_mend_them() -> None:
    spoken = {"signals", "storage"}
    hits = 0
    for seed in range(300):
        found = weighted_mutation(Recipe(), {Symptom.NOTHING_READ: 2.0}, Random(seed))
        assert found is not None
        hits += bool(changed(Recipe(), found) & spoken)
    # two levers of weight 1.1 stand beside eighteen of 0.1: 2.2 / 4.0
    assert 0.45 < hits / 300 < 0.65


def test_negative_weights_are_refused() -> None:
    with pytest.raises(InputError, match="0 or more"):
        weighted_mutation(Recipe(), {Symptom.NOT_FOUND: -1.0}, Random(0))


@pytest.mark.parametrize(
    ("score", "shown", "characters", "expected"),
    [
        (0.5, 0.0, 3000, None),
        (0.4, 1.0, 3000, Symptom.ANSWERED_WRONG),
        (0.0, None, 3000, Symptom.ANSWERED_WRONG),
        (0.0, 0.5, 3000, Symptom.PARTLY_FOUND),
        (0.0, 0.0, 2500, Symptom.CROWDED_OUT),
        (0.0, 0.0, 2499, Symptom.NOT_FOUND),
        (0.0, 0.0, 22, Symptom.NOTHING_READ),
    ],
)
def test_the_symptom_follows_from_score_evidence_and_length(
    score: float, shown: float | None, characters: int, expected: Symptom | None
) -> None:
    assert symptom_of(score, shown, characters) is expected


def test_every_symptom_points_at_levers_there_are() -> None:
    assert set(LEVERS_FOR) == set(Symptom)
    for levers in LEVERS_FOR.values():
        assert set(levers) <= set(CHOICES)
    assert slots_for(Symptom.NOTHING_READ) == (Slot.STORAGE, Slot.INDEXING)


def test_every_neighbour_of_the_default_composes() -> None:
    assert len({compose(recipe).source for recipe in mutations(Recipe())}) == len(
        mutations(Recipe())
    )
