"""The bank harness over extracted facts: what decides what is written, and what is reported."""

from __future__ import annotations

import json

import pytest

from memgene.core import ConfigError, Episode, Filled, Message
from memgene.embed.hashing import HashingEmbedder
from memgene.engine.extraction import Guards
from memgene.engine.models import EngineModels
from memgene.harness.bank import BankHarness, BankHarnessFactory
from memgene.harness.protocol import NO_ITEM, QUERY_TEXT
from memgene.retrieval.config import RetrievalConfig
from memgene.testing.llm import ScriptedLLM

EPISODE = Episode(
    "may",
    (
        Message("I bought a red boat in Porto.", "m1", "Anna"),
        Message("Did you sail it home already?", "m2", "Ben"),
    ),
    "g",
)
REPLY = json.dumps({"facts": [{"turns": [1], "fact": "Anna bought a red boat in Porto."}]})
FACTS = RetrievalConfig(extraction="facts")


def factory(
    config: RetrievalConfig = FACTS, name: str = "scripted", guards: Guards | None = None
) -> tuple[BankHarnessFactory, ScriptedLLM]:
    llm = ScriptedLLM([REPLY] * 9, name=name)
    models = EngineModels(extract=llm)
    return BankHarnessFactory(config, HashingEmbedder(), models=models, guards=guards), llm


def written(made: BankHarnessFactory) -> BankHarness:
    harness = made()
    harness.write(Filled(NO_ITEM), EPISODE)
    return harness


def test_facts_are_written_read_and_reported() -> None:
    made, _ = factory()
    harness = written(made)
    context = harness.read(Filled(QUERY_TEXT, {"query_text": "What did Anna buy?"}))
    assert context.text == "Anna: Anna bought a red boat in Porto."
    assert set(harness.holds({"m1", "m2", "may"})) == {"m1", "may"}
    assert (harness.extraction.facts, harness.extraction.calls) == (1, 1)
    harness.close()


def test_a_reader_of_the_same_memory_sees_the_report_and_writes_on() -> None:
    made, llm = factory()
    harness = written(made)
    reader = made.attach(made.memory(harness))
    reader.write(Filled(NO_ITEM), EPISODE)
    assert len(llm.requests) == 1
    assert reader.extraction.resumed == harness.extraction.resumed == 1
    harness.close()


def test_without_extraction_there_is_nothing_to_report() -> None:
    made, llm = factory(RetrievalConfig())
    harness = written(made)
    assert harness.extraction.episodes == 0
    assert llm.requests == []
    harness.close()


def test_everything_that_decides_what_is_written_is_in_the_write_key() -> None:
    changed = [
        factory(FACTS.changed(**change))[0]
        for change in (
            {},
            {"extraction": "both"},
            {"extraction_window": 20},
            {"extraction_tail": 0},
            {"extraction_chunk": 5},
            {"coverage_pass": False},
        )
    ]
    changed += [factory(name="another model")[0], factory(guards=Guards().without("captions"))[0]]
    changed.append(factory(RetrievalConfig())[0])
    assert len({made.write_key for made in changed}) == len(changed)


def test_levers_of_reading_and_of_an_extraction_that_is_off_are_not() -> None:
    plain = RetrievalConfig()
    assert factory()[0].write_key == factory(FACTS.changed(window=3, context_k=5))[0].write_key
    assert factory(plain)[0].write_key == factory(plain.changed(extraction_window=20))[0].write_key


def test_a_configuration_without_its_model_is_refused_when_the_factory_is_made() -> None:
    with pytest.raises(ConfigError, match=r"extraction.*\[llm.extract\] or \[llm.task\]"):
        BankHarnessFactory(FACTS, HashingEmbedder())
