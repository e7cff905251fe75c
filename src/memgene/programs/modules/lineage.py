"""From a program back to the recipe it was made of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import takewhile
from types import MappingProxyType

from memgene.core import InputError
from memgene.programs.modules.compose import HEADER, compose
from memgene.programs.modules.recipe import Recipe
from memgene.programs.program import Program
from memgene.programs.seeds import seed

SEED_RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "hybrid": Recipe(),
        "bank": Recipe(storage="bank").normal,
        "vector-search": Recipe(storage="chunks", signals="vectors", limit=5),
    }
)
"""Seeds that the catalogue can express. `hybrid` and `bank` are these recipes' files; that of
`vector-search` does the same but for a date above each chunk."""


def recipe_of(program: Program) -> Recipe | None:
    """The recipe of a composed program, read from the comment it begins with, or of a seed.

    None for other programs, and when the text was changed since it was composed: the recipe does
    not describe it any more.
    """
    told = _told(program.source)
    if told is not None:
        return told if compose(told) == program else None
    return next((own for name, own in SEED_RECIPES.items() if program == seed(name)), None)


def _told(source: str) -> Recipe | None:
    if not source.startswith(HEADER):
        return None
    head = takewhile(lambda line: line.startswith("#"), source.splitlines())
    text = " ".join(line.removeprefix("#").strip() for line in head)
    try:
        return Recipe.from_json(json.loads(text.removeprefix(HEADER.removeprefix("# "))))
    except (json.JSONDecodeError, InputError, TypeError, AttributeError):
        return None
