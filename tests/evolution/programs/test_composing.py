"""Programs composed of modules: what is changed, what is left alone, what is never tried twice."""

from __future__ import annotations

import pytest

from memgene.evaluation.case import Case
from memgene.evolution.programs.composing import ModuleDrafter
from memgene.evolution.programs.drafting import Draft, DraftTask
from memgene.evolution.programs.lineage import Lineage
from memgene.evolution.programs.observed import Observed
from memgene.evolution.programs.pool import Member
from memgene.evolution.reflection.material import Scope
from memgene.programs.modules import SLOTS, Recipe, Slot, mutations, recipe_of
from memgene.programs.modules import compose as composed
from memgene.programs.normal import normal_hash
from memgene.programs.program import Program
from memgene.programs.seeds import seed

F1 = "token_f1"
HYBRID = Member("000", seed("hybrid"), 0.3, None, 0, "hybrid")
WORDS = set(SLOTS[Slot.WORDING])


def lost(number: int, in_text: float, context: str) -> Case:
    """A question that scores nothing, with this share of its evidence in the text."""
    return Case(
        question_id=f"q{number}",
        group="g",
        category="all",
        question="?",
        gold=("x",),
        evidence=("m1",),
        query={},
        context=context,
        shown=0,
        hits=None,
        answer="",
        abstained=False,
        rule=None,
        scores={F1: 0.0, "evidence_in_text": in_text},
    )


def task(number: int, parent: Member = HYBRID, **more: object) -> DraftTask:
    given: dict[str, object] = {
        "iteration": 1,
        "place": 0,
        "seed": number,
        "parent": parent,
        "cases": [lost(1, 0.0, "x" * 200)],
        "observed": Observed(),
        "lineage": Lineage(),
        "references": (),
        "known": {normal_hash(parent.program.source): parent.id},
        **more,
    }
    return DraftTask(**given)  # type: ignore[arg-type]


def changed(draft: Draft, parent: Recipe) -> set[str]:
    """The levers in which a composed draft differs from a recipe."""
    recipe = recipe_of(Program(draft.source))
    assert recipe is not None
    before, after = parent.normal.to_json(), recipe.normal.to_json()
    return {name for name in after if before[name] != after[name]}


def test_a_rule_draft_is_a_neighbour_of_its_parent_and_names_what_changed() -> None:
    drafter = ModuleDrafter("rule", F1, words=True)
    neighbours = {recipe.normal for recipe in mutations(Recipe())}
    for number in range(12):
        draft = drafter.draft(task(number))
        recipe = recipe_of(Program(draft.source))
        assert recipe is not None
        assert recipe.normal in neighbours
        assert all(name in draft.title for name in changed(draft, Recipe()))
        assert "not_found 1.00" in draft.message
        assert draft == drafter.draft(task(number))


def test_wording_is_left_alone_for_an_agent_that_does_not_read_it() -> None:
    silent = ModuleDrafter("random", F1, words=False)
    for number in range(25):
        assert not changed(silent.draft(task(number)), Recipe()) & WORDS


@pytest.mark.parametrize("kind", ["rule", "random"])
def test_a_draft_keeps_to_the_scope_of_the_plan(kind: str) -> None:
    words = ModuleDrafter(kind, F1, words=True, scope=Scope.INSTRUCTIONS)
    code = ModuleDrafter(kind, F1, words=True, scope=Scope.CODE)
    for number in range(15):
        assert changed(words.draft(task(number)), Recipe()) <= WORDS
        assert not changed(code.draft(task(number)), Recipe()) & WORDS


def test_what_was_tried_is_not_tried_again() -> None:
    known = {
        normal_hash(composed(recipe).source): f"{place:03d}"
        for place, recipe in enumerate([Recipe(), *mutations(Recipe())])
    }
    draft = ModuleDrafter("rule", F1, words=True).draft(task(1, known=known))
    assert draft.refused or normal_hash(draft.source) not in known


def test_a_parent_that_no_recipe_describes_stands_for_the_default_one() -> None:
    other = Member("001", Program(seed("hybrid").source + "# edited\n"), 0.3, None, 0, "other")
    draft = ModuleDrafter("rule", F1, words=True).draft(task(3, other, known={}))
    assert "the default recipe stood in" in draft.message


def test_composed_programs_are_not_mended() -> None:
    drafter = ModuleDrafter("rule", F1, words=True)
    assert drafter.repair(task(1), Draft("broken"), "it is broken", 3) is None
