"""A closed catalogue of program parts, composed into real program files.

MemEvolve (Zhang et al. 2025) splits a memory into modules and searches their combinations; here the
modules are storage, indexing, scoring and showing, beside the wording of the instructions. A
`Recipe` names one part per lever, `compose` writes the file. It works without a language model, so
it is what a reflector has to beat.
"""

from memgene.programs.modules.compose import compose
from memgene.programs.modules.lineage import SEED_RECIPES, recipe_of
from memgene.programs.modules.recipe import CHOICES, SLOTS, Recipe, Slot
from memgene.programs.modules.search import (
    LOGIC,
    crossover,
    mutations,
    random_recipe,
    weighted_mutation,
)
from memgene.programs.modules.symptoms import LEVERS_FOR, Symptom, slots_for, symptom_of

__all__ = [
    "CHOICES",
    "LEVERS_FOR",
    "LOGIC",
    "SEED_RECIPES",
    "SLOTS",
    "Recipe",
    "Slot",
    "Symptom",
    "compose",
    "crossover",
    "mutations",
    "random_recipe",
    "recipe_of",
    "slots_for",
    "symptom_of",
    "weighted_mutation",
]
