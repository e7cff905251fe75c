"""Recipes: the catalogue as data."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from random import Random

import pytest

from memgene.core import InputError
from memgene.programs.modules import CHOICES, SLOTS, Recipe, random_recipe


def test_every_lever_has_choices_and_one_slot() -> None:
    levers = [f.name for f in fields(Recipe)]
    assert sorted(CHOICES) == sorted(levers)
    assert sorted(lever for slot in SLOTS.values() for lever in slot) == sorted(levers)


def test_a_choice_outside_the_catalogue_is_refused_with_those_inside() -> None:
    with pytest.raises(InputError, match="fusion must be one of rrf, sum, got 'product'"):
        Recipe(fusion="product")


def test_an_unknown_lever_is_refused() -> None:
    with pytest.raises(InputError, match="a recipe has no 'depth'"):
        Recipe.from_json({"depth": 3})


@pytest.mark.parametrize("seed", range(20))
def test_json_holds_a_recipe_whole(seed: int) -> None:
    recipe = random_recipe(Random(seed))
    assert Recipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe
    assert Recipe.from_json(json.loads(str(recipe))) == recipe


@pytest.mark.parametrize("seed", range(20))
def test_normal_is_final(seed: int) -> None:
    recipe = Recipe(**{name: Random(seed).choice(options) for name, options in CHOICES.items()})  # type: ignore[arg-type]
    assert recipe.normal.normal == recipe.normal


def test_levers_without_effect_fall_to_their_default() -> None:
    one = Recipe(signals="words", fusion="sum", lean="vectors", vectors_reach="before")
    assert one.normal == Recipe(signals="words")
    lexical = Recipe(signals="words+overlap", fusion="sum", lean="words", words_reach="around")
    assert lexical.normal == replace(lexical, lean="even")
    bank = Recipe(storage="bank", signals="words", person=0.2, limit=5, answer="exact")
    assert bank.normal == Recipe(storage="bank", signals="bank", answer="exact")
    whole = Recipe(storage="session", neighbours="after", per_source=2, beside=0.3, order="time")
    assert whole.normal == Recipe(storage="session", order="time")
