"""A stage enters the action space as a change, and is a lever afterwards."""

from __future__ import annotations

import random

import pytest

from memgene.core import ConfigError
from memgene.evolution.changes import (
    Change,
    apply,
    has_effect,
    may_differ_by_type,
    same_settings,
    stage_change,
    stage_levers,
)
from memgene.evolution.means import Held
from memgene.evolution.proposers import RandomProposer
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.stages.stage import Stage

RESCORER = Stage("digits", 'KIND = "rescorer"\nABOUT = "digits"\n')
ANSWER = Stage("lists", 'KIND = "answer"\nABOUT = "lists"\n')
START = RetrievalConfig()


def test_a_stage_is_no_lever_before_it_is_in_the_configuration() -> None:
    assert stage_levers(START) == {}
    assert not has_effect(START, "stage.digits", frozenset(), "recall@10")
    with pytest.raises(ConfigError, match=r"stage\.digits"):
        apply(START, [Change("stage.digits", 1.0)])


def test_a_change_adds_it_and_later_changes_vary_or_switch_it_off() -> None:
    added = apply(START, [stage_change(RESCORER, 0.5)])
    assert [(p.stage, p.strength) for p in added.stages] == [(RESCORER, 0.5)]
    assert stage_change(RESCORER, 0.5).settings == {"stage.digits": 0.5}
    assert has_effect(added, "stage.digits", frozenset(), "recall@10")
    off = apply(added, [Change("stage.digits", 0.0)])
    assert [p.strength for p in off.stages] == [0.0]


def test_a_held_stage_and_an_answer_stage_on_a_ranking_have_no_effect() -> None:
    both = START.with_stage(RESCORER, 1.0).with_stage(ANSWER, 1.0)
    assert not has_effect(both, "stage.digits", frozenset({Held("stage.digits")}), "recall@10")
    assert not has_effect(both, "stage.lists", frozenset(), "recall@10")
    assert has_effect(both, "stage.lists", frozenset(), "token_f1")


def test_the_same_code_at_the_same_strength_changes_nothing() -> None:
    added = START.with_stage(RESCORER, 0.5)
    assert same_settings(added, [stage_change(RESCORER, 0.5)])
    assert same_settings(added, [Change("stage.digits", 0.5)])
    assert not same_settings(added, [stage_change(RESCORER, 0.6)])
    other = Stage("digits", RESCORER.source + "# other\n")
    assert not same_settings(added, [stage_change(other, 0.5)])


def test_a_stage_has_no_strength_for_one_question_type() -> None:
    assert not may_differ_by_type(START.with_stage(RESCORER, 0.5), "stage.digits")


def test_chance_varies_stages_within_their_range_and_only_those_that_are_there() -> None:
    proposer, added = RandomProposer(frozenset(), "recall@10", 2), START.with_stage(RESCORER, 0.5)
    rng = random.Random(0)
    drawn = [proposer._draw(added, rng) for _ in range(600)]
    values = [c.value for changes in drawn for c in changes if c.lever == "stage.digits"]
    assert values
    assert all(0.0 <= value <= 2.0 and value != 0.5 for value in values)
