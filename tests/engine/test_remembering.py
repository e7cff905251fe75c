"""Episodes into a bank: turns, facts or both; never extracted twice, never standing twice."""

from __future__ import annotations

import json

import pytest

from memgene.bank import Bank, Fate, Filter, UnitStatus
from memgene.core import ConfigError, Episode, InputError, Message, ModelError, Scope
from memgene.embed.hashing import HashingEmbedder
from memgene.engine import MemoryEngine, reextract
from memgene.engine.extraction import ExtractionSettings, Extractor, Guards
from memgene.engine.models import EngineModels
from memgene.retrieval.config import RetrievalConfig
from memgene.testing.llm import ScriptedLLM

EPISODE = Episode(
    "may",
    (
        Message("I bought a red boat in Porto.", "m1", "Anna"),
        Message("Which name did you give it?", "m2", "Ben"),
    ),
    "g",
)
REPLY = json.dumps({"facts": [{"turns": [1], "fact": "Anna bought a red boat in Porto."}]})
OTHER = json.dumps({"facts": [{"turns": [1], "fact": "Anna owns a red boat from Porto."}]})


def engine(bank: Bank, mode: str, llm: ScriptedLLM | None, **levers: int) -> MemoryEngine:
    config = RetrievalConfig(extraction=mode).changed(**levers)
    return MemoryEngine(bank, HashingEmbedder(), config, models=EngineModels(extract=llm))


def contents(bank: Bank) -> list[str]:
    return [unit.content for unit in bank.scan(None)]


def test_off_stores_the_turns_facts_the_facts_and_both_stores_both(bank: Bank) -> None:
    stored = {}
    for mode in ("off", "facts", "both"):
        llm = ScriptedLLM([REPLY])
        engine(bank, mode, llm).remember(EPISODE, Scope(user_id=mode))
        stored[mode] = [unit.content for unit in bank.scan(Scope(user_id=mode))]
        assert len(llm.requests) == (mode != "off")
    turns = [m.text for m in EPISODE.messages]
    fact = "Anna bought a red boat in Porto."
    assert stored == {"off": turns, "facts": [fact], "both": [turns[0], fact, turns[1]]}


def test_facts_are_found_and_stand_for_their_turns(bank: Bank) -> None:
    memory = engine(bank, "facts", ScriptedLLM([REPLY]))
    remembered = memory.remember(EPISODE)
    assert [receipt.fate for receipt in remembered.receipts] == [Fate.ADDED]
    (hit,) = memory.retrieve("What did Anna buy?").hits
    assert (hit.refs, hit.source) == (("m1",), "may")


def test_a_configuration_without_its_model_is_refused(bank: Bank) -> None:
    with pytest.raises(ConfigError, match=r"extraction.*\[llm.extract\] or \[llm.task\]"):
        engine(bank, "facts", None)


def test_the_same_episode_is_not_extracted_again(bank: Bank) -> None:
    llm = ScriptedLLM([REPLY])
    memory = engine(bank, "both", llm)
    memory.remember(EPISODE)
    before = bank.version()
    again = memory.remember(EPISODE)
    assert len(llm.requests) == 1
    assert bank.version() == before
    assert again.extraction is not None
    assert again.extraction.resumed == 1
    assert {receipt.fate for receipt in again.receipts} == {Fate.MERGED}
    assert (memory.extractions.total.episodes, memory.extractions.total.facts) == (2, 1)


def test_another_scope_and_other_words_are(bank: Bank) -> None:
    llm = ScriptedLLM([REPLY] * 3)
    memory = engine(bank, "facts", llm)
    longer = Episode("may", (*EPISODE.messages, Message("Momo.", "m3", "Anna")), "g")
    memory.remember(EPISODE)
    memory.remember(EPISODE, Scope(user_id="u"))
    memory.remember(longer)
    assert len(llm.requests) == 3


def test_facts_of_another_extractor_give_way_and_come_back(bank: Bank) -> None:
    llm = ScriptedLLM([REPLY, OTHER, REPLY])
    engine(bank, "facts", llm).remember(EPISODE)
    engine(bank, "facts", llm, extraction_window=20).remember(EPISODE)
    assert contents(bank) == ["Anna owns a red boat from Porto."]
    archived = bank.scan(None, Filter(statuses=(UnitStatus.ARCHIVED,)))
    assert [unit.content for unit in archived] == ["Anna bought a red boat in Porto."]
    engine(bank, "facts", llm).remember(EPISODE)
    assert contents(bank) == ["Anna bought a red boat in Porto."]
    assert len(llm.requests) == 3


def test_what_a_model_did_not_answer_is_asked_for_next_time(bank: Bank) -> None:
    llm = ScriptedLLM([ModelError("away"), REPLY])
    memory = engine(bank, "facts", llm)
    memory.remember(EPISODE)
    assert contents(bank) == [m.text for m in EPISODE.messages]
    memory.remember(EPISODE)
    assert contents(bank) == ["Anna bought a red boat in Porto."]
    assert len(llm.requests) == 2


def test_a_given_extractor_stands_in_for_the_levers(bank: Bank) -> None:
    llm = ScriptedLLM([""])
    memory = engine(bank, "facts", llm)
    memory.remember(EPISODE, extractor=Extractor(llm, ExtractionSettings(guards=Guards.none())))
    assert contents(bank) == []
    assert memory.extractions.total.lost == 1


def test_configurations_over_one_memory_share_its_log(bank: Bank) -> None:
    memory = engine(bank, "facts", ScriptedLLM([REPLY]))
    reader = memory.with_config(RetrievalConfig())
    memory.remember(EPISODE)
    assert reader.extractions.total.facts == 1


# -- a second look


def test_a_second_look_adds_what_a_session_tells_about_the_missing(bank: Bank) -> None:
    named = json.dumps({"facts": [{"turns": [1], "fact": "The red boat of Anna is from Porto."}]})
    llm = ScriptedLLM([REPLY, named])
    memory = engine(bank, "facts", llm)
    memory.remember(EPISODE)
    looked = reextract(memory, [EPISODE], ["where the  boat is from", ""])
    assert contents(bank)[-1] == "The red boat of Anna is from Porto."
    assert [receipt.fate for receipt in looked.receipts] == [Fate.ADDED]
    assert "Missing:\n- where the boat is from\n\n" in llm.requests[1].messages[-1].content
    assert memory.extractions.total.facts == 2
    memory.remember(EPISODE)  # it is still known as extracted
    assert len(llm.requests) == 2


def test_a_second_look_invents_nothing(bank: Bank) -> None:
    invented = json.dumps({"facts": [{"turns": [1], "fact": "Anna bought a red boat in Faro."}]})
    memory = engine(bank, "off", ScriptedLLM([invented, ""]))
    looked = reextract(memory, [EPISODE], ["Faro"])
    assert (looked.receipts, contents(bank)) == ((), [])
    assert looked.extraction is not None
    assert looked.extraction.refusals == {"name": 1}


def test_a_second_look_needs_a_model_and_something_missing(bank: Bank) -> None:
    with pytest.raises(ConfigError, match=r"\[llm.extract\]"):
        reextract(engine(bank, "off", None), [EPISODE], ["a boat"])
    with pytest.raises(InputError, match="missing"):
        reextract(engine(bank, "off", ScriptedLLM([])), [EPISODE], [" "])
