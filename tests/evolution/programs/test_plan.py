"""Settings of a program search: the published ones, and what is refused."""

from __future__ import annotations

import pytest

from memgene.core import ConfigError, InputError
from memgene.evolution.programs.plan import ProgramPlan, Search
from memgene.evolution.reflection.material import Scope


def test_the_paper_preset_is_the_published_loop() -> None:
    """M* §5: 25 static, 5 rotating, 20 iterations, τ 0.15, k 3, unconditional adding."""
    paper = ProgramPlan.paper()
    assert (paper.static_items, paper.rotating_items, paper.iterations) == (25, 5, 20)
    assert (paper.temperature, paper.repairs, paper.episodes_per_item) == (0.15, 3, 5)
    assert (paper.failing, paper.gate_items, paper.finalists) == (2, 0, 0)
    assert (paper.refuse_duplicates, paper.drop_zero, paper.mend_violations) == (False, False, True)
    assert paper.seeds == ("vector-search-published", "llm-summarizer", "experience-learner")
    assert paper.keep_evidence is False
    assert paper.search is Search.POPULATION


def test_the_command_line_form_changes_what_it_names() -> None:
    plan = ProgramPlan().parsed(
        "search=max, scope=code,children=4,temperature=0.3,seeds=hybrid+bank"
    )
    assert (plan.search, plan.scope, plan.children) == (Search.MAX, Scope.CODE, 4)
    assert (plan.temperature, plan.seeds) == (0.3, ("hybrid", "bank"))
    assert ProgramPlan().parsed("static_items=40").static_items == 40
    assert ProgramPlan().parsed("refuse_duplicates=false").refuse_duplicates is False
    assert ProgramPlan().parsed("") == ProgramPlan()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("sarch=max", "a plan has no 'sarch'"),
        ("search=greedy", "there is no search 'greedy'; there is population, max"),
        ("scope=text", "there is no scope 'text'"),
        ("children=0", "children must be at least 1"),
        ("children=two", "children needs a number, got 'two'"),
        ("temperature=0", "temperature must be above 0"),
        ("drop_zero=1", "drop_zero is true or false"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, problem: str) -> None:
    with pytest.raises((InputError, ConfigError), match=problem):
        ProgramPlan().parsed(text)


def test_plain_values_name_every_setting_that_is_given() -> None:
    values = ProgramPlan().to_dict()
    assert values["search"] == "population"
    assert "static_items" not in values
    assert ProgramPlan.paper().to_dict()["seeds"][0] == "vector-search-published"
