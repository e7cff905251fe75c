"""Which parts of a configuration call for a language model, and for what."""

from __future__ import annotations

from typing import Any

import pytest

from memgene.retrieval.config import RetrievalConfig, levers
from memgene.retrieval.levers import Need
from memgene.retrieval.needs import MODEL_LEVERS, WITHOUT_MODEL, needs_llm


@pytest.mark.parametrize(
    ("changes", "needed"),
    [
        ({}, {}),
        ({"extraction": "facts"}, {"extract": ("extraction",)}),
        ({"extraction": "both"}, {"extract": ("extraction",)}),
        ({"decomposition": True}, {"rewrite": ("decomposition",)}),
        ({"rerank": "llm", "intent_planning": True}, {"rewrite": ("intent_planning", "rerank")}),
        ({"self_routing": "rules"}, {}),
        ({"self_routing": "llm"}, {"rewrite": ("self_routing",)}),
        ({"answer_style": "list"}, {"answer": ("answer_style",)}),
        (
            {"verification": "multi", "extraction": "both"},
            {"extract": ("extraction",), "answer": ("verification",)},
        ),
    ],
)
def test_the_levers_that_are_on_say_what_a_model_has_to_do(
    changes: dict[str, Any], needed: dict[str, tuple[str, ...]]
) -> None:
    assert needs_llm(RetrievalConfig(**changes)) == needed


def test_numbers_beside_a_lever_that_is_off_need_nothing() -> None:
    config = RetrievalConfig(
        extraction_window=20,
        extraction_tail=0,
        extraction_chunk=5,
        coverage_pass=False,
        decomposition_max=5,
        rerank_k=50,
        verification_threshold=0.9,
    )
    assert not needs_llm(config)


def test_a_lever_that_is_on_for_one_type_counts() -> None:
    config = RetrievalConfig(per_type={"when": {"rerank": "llm"}, "who": {"context_k": 3}})
    assert needs_llm(config) == {"rewrite": ("rerank",)}


def test_a_value_that_calls_for_no_model_needs_none_for_a_type_either() -> None:
    config = RetrievalConfig(per_type={"when": {"self_routing": "rules"}})
    assert not needs_llm(config)
    assert needs_llm(config.changed(self_routing="llm")) == {"rewrite": ("self_routing",)}


def test_a_lever_that_is_off_for_one_type_counts_for_the_others() -> None:
    config = RetrievalConfig(decomposition=True, per_type={"when": {"decomposition": False}})
    assert needs_llm(config) == {"rewrite": ("decomposition",)}


def test_every_switch_that_needs_a_model_is_known() -> None:
    known = [name for names in MODEL_LEVERS.values() for name in names]
    switches = {
        name
        for name, lever in levers().items()
        if Need.LLM in lever.needs and lever.kind in (bool, str)
    }
    # a guard of extraction, and what else to look for where facts are extracted
    switches -= {"coverage_pass", "extraction_focus"}
    # and those of which a value does without
    assert set(known) == switches | set(WITHOUT_MODEL)
    assert len(known) == len(set(known))


def test_values_that_do_without_a_model_are_choices_of_their_lever() -> None:
    for name, values in WITHOUT_MODEL.items():
        lever = levers()[name]
        assert set(values) < set(lever.choices)
        assert lever.default in values
