"""Every template is a stage that passes the gates, and does what it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from memgene.evolution.stages.gates import gate_stage
from memgene.evolution.stages.templates import TEMPLATES, Template
from memgene.programs.stage_host import SandboxedStages
from memgene.retrieval.stages.stage import Stage, StageKind
from memgene.sandbox import Level

STAGES = [stage for template in TEMPLATES for stage in template.stages()]


@pytest.fixture(scope="module")
def host() -> Iterator[SandboxedStages]:
    with SandboxedStages(require=Level.RLIMITS) as made:
        yield made


def named(name: str) -> Stage:
    return next(stage for stage in STAGES if stage.name == name)


def hit(text: str, speaker: str | None = None) -> dict[str, Any]:
    return {"id": text, "text": text, "speaker": speaker, "score": 0.5}


def called(host: SandboxedStages, stage: Stage, query: str, *hits: dict[str, Any]) -> list[float]:
    function = "scores" if stage.kind is StageKind.RESCORER else "keep"
    said: list[float] = host.call(stage, function, {"query": query, "hits": list(hits)})
    return said


def test_every_combination_has_a_name_of_its_own() -> None:
    assert len({stage.name for stage in STAGES}) == len(STAGES)
    assert len(STAGES) == sum(_size(template) for template in TEMPLATES)


def _size(template: Template) -> int:
    size = 1
    for values in template.choices.values():
        size *= len(values)
    return size


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_it_passes_every_gate(stage: Stage, host: SandboxedStages) -> None:
    assert gate_stage(stage.source, stage.name, host) == ()


def test_rare_words_count_more_than_those_that_all_have(host: SandboxedStages) -> None:
    texts = ("Lisbon is far", "the house is far", "the house")
    found = called(host, named("rare_words_2"), "house in Lisbon", *map(hit, texts))
    assert found[0] > found[1] == found[2] > 0


def test_pairs_stand_side_by_side(host: SandboxedStages) -> None:
    stage = named("word_pairs_1")
    found = called(host, stage, "red boat", hit("a red boat"), hit("a boat, red"))
    assert found == [1.0, 0.0]
    found = called(host, named("word_pairs_2"), "red boat", hit("red wooden boat"))
    assert found == [1.0]


def test_questions_and_short_lines_fall(host: SandboxedStages) -> None:
    told = "I moved to Lisbon in May because of the sea"
    found = called(host, named("told_not_asked_1"), "x", hit(told), hit(told + "?"), hit("Wow!"))
    assert found == [0.0, -0.5, -0.5]


def test_amounts_matter_where_they_are_asked_for(host: SandboxedStages) -> None:
    hits = (hit("We have 12 boats"), hit("We have boats"))
    assert called(host, named("amounts_and_times_2"), "How many boats?", *hits) == [1.0, 0.0]
    assert called(host, named("amounts_and_times_2"), "Which boats?", *hits) == [0.0, 0.0]
    assert called(host, named("amounts_and_times_1"), "When?", hit("last week")) == [1.0]


def test_who_is_asked_about_speaks_in_the_first_person(host: SandboxedStages) -> None:
    hits = (hit("I like tea", "Ann"), hit("Tea is nice", "Ann"), hit("I like tea", "Bob"))
    assert called(host, named("own_words_1"), "What does Ann like?", *hits) == [1.0, 0.0, 0.0]
    assert called(host, named("own_words_2"), "What does Ann like?", *hits) == [1.0, 1.0, 0.0]


def test_repeats_go_behind_the_others(host: SandboxedStages) -> None:
    hits = (hit("we saw a boat"), hit("we saw a boat!"), hit("a tree"))
    assert called(host, named("no_repeats_1"), "boat", *hits) == [0, 2, 1]
