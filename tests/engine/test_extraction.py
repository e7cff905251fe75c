"""Facts out of episodes: what a model says well, badly, cut, empty, looping, or invents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest

from memgene.bank.unit import UnitType
from memgene.core import BudgetExhaustedError, ConfigError, Episode, Message, ModelError, Scope
from memgene.engine.extraction import (
    Extraction,
    ExtractionSettings,
    Extractor,
    Guards,
)
from memgene.engine.extraction.support import is_talk
from memgene.llm.prompts.extraction import EXTRACTION
from memgene.llm.protocol import Finish, Reply
from memgene.retrieval.config import RetrievalConfig
from memgene.testing.llm import ScriptedLLM

PLAIN = ExtractionSettings(guards=Guards(coverage=False))
LINES = (
    ("Anna", "Hey Ben! I went to Lisbon yesterday with Clara."),
    ("Ben", "Wow, how was it?"),
    ("Anna", "Great, we saw 3 lighthouses and ate far too many custard tarts."),
    ("Ben", "I adopted a grey cat called Momo last week."),
)


def talk(lines: Sequence[tuple[str, str]] = LINES, time: datetime | None = None) -> Episode:
    messages = tuple(
        Message(text, f"t{place}", speaker) for place, (speaker, text) in enumerate(lines)
    )
    return Episode("talk", messages, "g", time or datetime(2024, 5, 8, 13, 56))


def item(fact: str, *turns: int, **more: Any) -> dict[str, Any]:
    return {"turns": list(turns), "fact": fact, **more}


def reply(*items: dict[str, Any]) -> str:
    return json.dumps({"facts": list(items)})


GOOD = (
    item(
        "Anna went to Lisbon yesterday with Clara.", 1, persons=["Anna", "Clara"], location="Lisbon"
    ),
    item("Anna saw 3 lighthouses and ate custard tarts.", 3, persons=["Anna"], topic="travel"),
    item("Ben adopted a grey cat called Momo last week.", 4, persons=["Ben"], entities=["Momo"]),
)


def extract(
    replies: Any, settings: ExtractionSettings = PLAIN, episode: Episode | None = None
) -> tuple[Extraction, ScriptedLLM]:
    llm = ScriptedLLM(replies)
    return Extractor(llm, settings).extract(episode or talk()), llm


def said(extraction: Extraction) -> list[str]:
    return [unit.content for unit in extraction.units]


def numbers(extraction: Extraction) -> dict[str, int]:
    values = extraction.report.to_dict()
    return {name: value for name, value in values.items() if value and name != "refusals"}


# -- a good reply


def test_a_fact_is_a_unit_that_stands_for_the_turns_it_was_made_from() -> None:
    extraction, llm = extract([reply(*GOOD)])
    lisbon, lights, cat = extraction.units
    assert (lisbon.refs, lisbon.turn_start, lisbon.turn_end) == (("t0",), 0, 0)
    assert (lisbon.source, lisbon.type, lisbon.speaker) == ("talk", UnitType.SEMANTIC, "Anna")
    assert (lisbon.persons, lisbon.locations) == (("Anna", "Clara"), ("Lisbon",))
    assert (lights.topics, cat.entities) == (("travel",), ("Momo",))
    assert cat.refs == ("t3",)
    assert extraction.complete
    assert numbers(extraction) == {
        "episodes": 1,
        "windows": 1,
        "calls": 1,
        "fresh": 1,
        "facts": 3,
        "turns": 4,
    }
    assert len(llm.requests) == 1


def test_relative_dates_are_worked_out_and_give_the_event_time() -> None:
    extraction, _ = extract([reply(*GOOD)])
    lisbon, lights, cat = extraction.units
    assert lisbon.content == "Anna went to Lisbon on 7 May 2024 with Clara."
    assert lisbon.event_time == datetime(2024, 5, 7)
    assert lights.event_time == datetime(2024, 5, 8, 13, 56)  # when it was said
    assert cat.content == "Ben adopted a grey cat called Momo in the week of 29 April 2024."
    assert cat.event_time == datetime(2024, 4, 29)


def test_a_date_field_counts_where_the_conversation_backs_it() -> None:
    told = item("Anna went to Lisbon with Clara.", 1, date="7 May 2024")
    invented = item("Ben adopted a grey cat called Momo.", 4, date="1 January 2020")
    extraction, _ = extract([reply(told, invented)])
    assert [unit.event_time for unit in extraction.units] == [
        datetime(2024, 5, 7),
        datetime(2024, 5, 8, 13, 56),
    ]
    week, _ = extract([reply(item("Ben adopted a cat called Momo.", 4, date="last week"))])
    assert said(week) == ["Ben adopted a cat called Momo (week of 29 April 2024)."]


def test_units_note_who_extracted_them_from_what() -> None:
    extraction, _ = extract([reply(*GOOD)])
    other, _ = extract([reply(*GOOD)], ExtractionSettings(tail=4, guards=Guards(coverage=False)))
    here, there = extraction.units[0].metadata, other.units[0].metadata
    assert here["extraction_model"] == "scripted"
    assert here["extracted_from"] == there["extracted_from"]
    assert here["extracted_by"] != there["extracted_by"]


def test_the_model_is_shown_numbered_turns_with_dates_and_captions() -> None:
    messages = (
        Message("Look at\nthis", "a", "Anna", caption="a red boat"),
        Message("Nice", "b", None, datetime(2024, 5, 9)),
        Message("   ", "c", "Anna"),
        Message("Bought in Porto for 30 euros", "d", "Anna"),
    )
    episode = Episode("e", messages, "g", datetime(2024, 5, 8))
    _, llm = extract([reply(item("Anna bought a red boat in Porto.", 3))], PLAIN, episode)
    shown = llm.requests[0].messages[-1].content
    assert shown.startswith(
        "Date: Wednesday, 8 May 2024\n[1] Anna: Look at this (a red boat)\n"
        "Date: Thursday, 9 May 2024\n[2] Nice\n"
        "Date: Wednesday, 8 May 2024\n[3] Anna: Bought in Porto for 30 euros"
    )
    bare = ExtractionSettings(guards=Guards.none())
    _, blind = extract([reply()], bare, episode)
    assert "red boat" not in blind.requests[0].messages[-1].content


def test_the_request_bounds_the_reply() -> None:
    _, llm = extract([reply(*GOOD)])
    request = llm.requests[0]
    assert request.schema is not None
    facts = request.schema["properties"]["facts"]
    assert facts["maxItems"] == 5
    assert facts["items"]["properties"]["turns"]["items"]["maximum"] == 4
    assert request.max_tokens == 128 + 72 * 5
    assert request.temperature == 0


def test_windows_are_even_and_show_the_last_facts_of_the_window_before() -> None:
    settings = ExtractionSettings(window=2, tail=1, guards=Guards(coverage=False))
    first = reply(GOOD[0], item("Ben says wow.", 2))
    second = reply(item("Anna saw 3 lighthouses.", 1), item("Ben adopted a cat called Momo.", 2))
    extraction, llm = extract([first, second], settings)
    assert [unit.refs for unit in extraction.units] == [("t0",), ("t1",), ("t2",), ("t3",)]
    shown = llm.requests[1].messages[-1].content
    assert "do not repeat:\n- Ben says wow.\n" in shown
    assert "Clara" not in shown
    assert "[1] Anna: Great" in shown


def test_a_fact_that_was_shown_as_known_is_dropped_when_it_comes_again() -> None:
    settings = ExtractionSettings(window=2, guards=Guards(coverage=False))
    again = reply(GOOD[0] | {"turns": [1]}, item("Ben adopted a cat called Momo.", 2))
    extraction, _ = extract([reply(GOOD[0]), again], settings)
    assert len(extraction.units) == 2
    assert extraction.report.repeated == 1


# -- bad replies


@pytest.mark.parametrize("bad", ["", "I would rather not.", '{"facts": []}', '{"facts": "none"}'])
def test_an_unusable_reply_is_asked_for_again_with_what_was_wrong(bad: str) -> None:
    extraction, llm = extract([bad, reply(*GOOD)])
    assert len(extraction.units) == 3
    assert extraction.report.retries == 1
    again = llm.requests[1].messages
    assert [m.role for m in again[-2:]] == ["assistant", "user"]
    assert again[-1].content.startswith("That reply cannot be used: it")


def test_without_feedback_the_same_is_asked_with_another_seed() -> None:
    settings = ExtractionSettings(guards=Guards(coverage=False, feedback=False))
    _, llm = extract(["", reply(*GOOD)], settings)
    first, second = llm.requests
    assert first.messages == second.messages
    assert (first.seed, second.seed) == (0, 1)
    assert second.temperature > 0


def test_what_a_model_never_answers_is_kept_as_it_was_said() -> None:
    extraction, _ = extract(["", ""])
    assert said(extraction) == [words for _, words in LINES]
    assert [unit.refs for unit in extraction.units] == [("t0",), ("t1",), ("t2",), ("t3",)]
    assert {unit.type for unit in extraction.units} == {UnitType.EPISODIC}
    assert (extraction.report.kept, extraction.report.lost) == (4, 0)


def test_without_guards_it_is_lost_and_what_said_something_is_counted() -> None:
    extraction, llm = extract([""], ExtractionSettings(guards=Guards.none()))
    assert extraction.units == ()  # "how was it?" says nothing
    assert (extraction.report.kept, extraction.report.lost) == (0, 3)
    assert len(llm.requests) == 1


def test_small_talk_needs_no_facts() -> None:
    episode = talk([("Anna", "Hey!"), ("Ben", "Hi, how are you?")])
    extraction, llm = extract([], PLAIN, episode)
    assert (extraction.units, llm.requests) == ((), [])


def test_a_window_that_failed_is_asked_for_in_chunks() -> None:
    settings = ExtractionSettings(chunk=2, guards=Guards(coverage=False))
    extraction, llm = extract(["", "", reply(GOOD[0]), reply(GOOD[2] | {"turns": [2]})], settings)
    assert [unit.refs for unit in extraction.units] == [("t0",), ("t3",)]
    assert (extraction.report.chunked, extraction.report.retries) == (1, 1)
    assert "[2] Ben: I adopted" in llm.requests[3].messages[-1].content


def test_the_complete_items_of_a_cut_reply_are_kept_and_the_rest_is_asked_for_again() -> None:
    whole = reply(*GOOD)
    cut = Reply(whole[: whole.index("grey cat")], Finish.LENGTH)
    extraction, llm = extract([cut, reply(GOOD[2] | {"turns": [1]})])
    assert [unit.refs for unit in extraction.units] == [("t0",), ("t2",), ("t3",)]
    assert (extraction.report.repaired, extraction.report.retries) == (1, 0)
    asked = llm.requests[1].messages[-1].content
    assert "[1] Ben: I adopted" in asked
    assert "Lisbon yesterday" not in asked


@pytest.mark.parametrize("stop", [Finish.LENGTH, Finish.STOP, Finish.OTHER])
def test_without_repair_a_cut_reply_is_not_used_at_all(stop: Finish) -> None:
    cut = Reply(reply(*GOOD)[:-40], stop)
    settings = ExtractionSettings(guards=Guards(coverage=False, repair=False, chunks=False))
    extraction, _ = extract([cut, cut], settings)
    assert {unit.type for unit in extraction.units} == {UnitType.EPISODIC}
    assert extraction.report.repaired == 0


def test_a_loop_is_cut_where_it_begins_and_the_rest_is_asked_for_again() -> None:
    loop = reply(GOOD[0], GOOD[1], *[GOOD[1]] * 5, item("Ben ate tarts.", 4))
    extraction, _ = extract([loop, reply(GOOD[2] | {"turns": [1]})])
    assert [unit.refs for unit in extraction.units] == [("t0",), ("t2",), ("t3",)]
    assert (extraction.report.loops, extraction.report.repeated) == (1, 5)


def test_a_model_that_always_cuts_comes_to_an_end() -> None:
    cut = Reply('{"facts": [{"turns": [1], "fact": "Anna went to Lis', Finish.LENGTH)
    extraction, llm = extract([cut] * 2)
    assert len(llm.requests) == 2
    assert extraction.report.kept == 4


# -- calls that fail


def test_a_call_without_reply_loses_nothing_and_does_not_count_as_done() -> None:
    extraction, _ = extract([ModelError("the server is away")])
    assert extraction.report.failed_calls == 1
    assert extraction.report.kept == 4
    assert not extraction.complete
    assert "extracted_from" not in extraction.units[0].metadata


def test_a_window_too_long_for_the_model_is_asked_for_in_chunks() -> None:
    settings = ExtractionSettings(chunk=2, guards=Guards(coverage=False))
    extraction, _ = extract(
        [ModelError("too long"), reply(GOOD[0]), reply(GOOD[2] | {"turns": [2]})], settings
    )
    assert extraction.report.facts == 2
    assert extraction.complete


def test_a_model_that_is_away_is_not_asked_for_every_chunk() -> None:
    settings = ExtractionSettings(chunk=1, guards=Guards(coverage=False))
    extraction, llm = extract([ModelError("away"), ModelError("away")], settings)
    assert len(llm.requests) == 2
    assert extraction.report.kept == 4


@pytest.mark.parametrize("error", [BudgetExhaustedError("spent"), ConfigError("no such model")])
def test_an_empty_budget_and_a_wrong_setting_are_raised(error: Exception) -> None:
    with pytest.raises(type(error)):
        extract([error])


# -- invented facts


@pytest.mark.parametrize(
    ("invented", "kind"),
    [
        ("Anna went to Madrid with Clara.", "name"),
        ("Melissa went to Lisbon with Clara.", "name"),
        ("Anna saw 4 lighthouses.", "number"),
        ("Anna saw seven lighthouses.", "number"),
        ("Anna went to Lisbon on 6 May 2024 with Clara.", "date"),
        ("Anna plays violin in a famous orchestra every evening.", "words"),
    ],
)
def test_what_the_window_does_not_say_is_refused(invented: str, kind: str) -> None:
    extraction, _ = extract([reply(item(invented, 1), GOOD[2])])
    assert said(extraction)[0].startswith("Ben adopted")
    assert extraction.report.refusals == {kind: 1}
    unguarded = ExtractionSettings(guards=Guards(coverage=False, support=False))
    adopted, _ = extract([reply(item(invented, 1), GOOD[2])], unguarded)
    assert len(adopted.units) == 2


@pytest.mark.parametrize(
    "backed",
    [
        "Anna saw three lighthouses.",
        "Anna went to Lisbon on 7 May 2024.",
        "Anna went to Lisbon in May 2024.",
        "On 8 May 2024 Anna told Ben about Lisbon.",
        "Ben adopted a cat named Momo in April 2024.",
        "In the week of 29 April 2024, Ben adopted a grey cat.",
        "Everyone ate custard tarts.",
    ],
)
def test_what_follows_from_the_window_is_not(backed: str) -> None:
    extraction, _ = extract([reply(item(backed, 1))])
    assert extraction.report.refused == 0


def test_a_reply_that_invents_everything_is_asked_for_again_and_told_why() -> None:
    extraction, llm = extract([reply(item("Zoe moved to Oslo.", 1)), reply(*GOOD)])
    assert extraction.report.facts == 3
    assert 'the conversation does not say "Oslo"' in llm.requests[1].messages[-1].content


def test_that_somebody_asked_is_no_fact() -> None:
    talk_only = [item("Ben asked Anna about Lisbon.", 2), item("Anna greeted Ben.", 1)]
    told = item("Ben asked for a cat called Momo and adopted one last week.", 4)
    extraction, _ = extract([reply(*talk_only, GOOD[0])])
    assert (extraction.report.facts, extraction.report.refusals) == (1, {"talk": 2})
    unguarded = ExtractionSettings(guards=Guards(coverage=False, substance=False))
    assert len(extract([reply(*talk_only, told)], unguarded)[0].units) == 3


@pytest.mark.parametrize(
    ("statement", "talk"),
    [
        ("Ben asked Anna about her trip.", True),
        ("Ben and Clara greeted Anna warmly.", True),
        ("Clara Smith also thanked Anna.", True),
        ("Anna shared her experience at the group.", True),
        ("Ben expressed his gratitude.", True),
        ("Ben asked Anna to marry him.", False),
        ("Ben thanked Anna for the bike she gave him.", False),
        ("Anna shared her flat with Clara.", False),
        ("Anna said that she asked Ben for help.", False),
        ("Askews Bakery opened.", False),
    ],
)
def test_talk_is_told_from_deeds(statement: str, talk: bool) -> None:
    assert is_talk(statement) is talk


def test_a_reply_that_is_mostly_useless_is_asked_for_again_then_in_chunks() -> None:
    asked = [item(f"Ben asked Anna about {what}.", 2) for what in ("Lisbon", "Clara", "tarts")]
    thin = reply(*asked, GOOD[0])
    settings = ExtractionSettings(chunk=2, guards=Guards(coverage=False))
    whole = [reply(GOOD[0]), reply(GOOD[1] | {"turns": [1]}, GOOD[2] | {"turns": [2]})]
    extraction, llm = extract([thin, thin, *whole], settings)
    assert "only say that somebody asks" in llm.requests[1].messages[-1].content
    assert [unit.refs for unit in extraction.units] == [("t0",), ("t2",), ("t3",)]
    assert (extraction.report.chunked, extraction.report.repeated) == (1, 1)


def test_labels_the_window_does_not_hold_are_left_out() -> None:
    labelled = GOOD[0] | {"persons": ["Anna", "Zoe"], "location": "Oslo", "keywords": ["trip"]}
    extraction, _ = extract([reply(labelled)])
    (unit, *_) = extraction.units
    assert (unit.persons, unit.locations, unit.keywords) == (("Anna",), (), ())


# -- which turns a fact stands for


@pytest.mark.parametrize("cited", [[], [9], [0], ["none"], [2]])
def test_turns_that_do_not_fit_give_way_to_the_best_match(cited: list[Any]) -> None:
    extraction, _ = extract([reply(GOOD[2] | {"turns": cited})])
    assert extraction.units[0].refs == ("t3",)


def test_a_fact_never_claims_the_whole_window() -> None:
    extraction, _ = extract([reply(GOOD[2] | {"turns": [1, 2, 3, 4]})])
    assert len(extraction.units[0].refs) <= 3
    assert "t3" in extraction.units[0].refs


def test_question_and_answer_may_both_stand_for_a_fact() -> None:
    episode = talk([("Ben", "Where is your boat, Anna?"), ("Anna", "In Porto, since 2019.")])
    extraction, _ = extract(
        [reply(item("Anna's boat is in Porto since 2019.", 1, 2))], PLAIN, episode
    )
    (unit,) = extraction.units
    assert (unit.refs, unit.turn_start, unit.turn_end, unit.speaker) == (("t0", "t1"), 0, 1, None)


# -- coverage


def test_names_numbers_and_dates_no_fact_mentions_are_asked_for() -> None:
    extraction, llm = extract([reply(GOOD[2]), reply(*GOOD[:2])], ExtractionSettings())
    asked = llm.requests[1].messages[-1].content
    missing = asked.partition("Missing:\n")[2].partition("\n\n")[0]
    assert missing.split("\n") == [
        "- Lisbon (turn 1)",
        "- Clara (turn 1)",
        "- yesterday (turn 1)",
        "- 3 (turn 3)",
    ]
    assert "Momo" not in asked  # the turn that is covered is not shown again
    assert extraction.report.facts == 3
    assert (extraction.report.gaps, extraction.report.gaps_closed) == (4, 4)
    assert extraction.report.kept == 0


def test_the_second_pass_adopts_only_what_closes_a_gap_and_is_said() -> None:
    idle = item("Anna ate custard tarts.", 1)
    invented = item("Clara lives in Lisbon with 9 dogs.", 1)
    extraction, _ = extract([reply(GOOD[2]), reply(idle, invented)], ExtractionSettings())
    assert extraction.report.facts == 1
    assert extraction.report.refusals == {"number": 1}


def test_turns_whose_gaps_stay_open_are_kept_as_they_were_said() -> None:
    extraction, _ = extract([reply(GOOD[2]), "", ""], ExtractionSettings())
    assert said(extraction) == [
        "Ben adopted a grey cat called Momo in the week of 29 April 2024.",
        LINES[0][1],
        LINES[2][1],
    ]
    assert (extraction.report.kept, extraction.report.lost) == (2, 0)


def test_without_coverage_they_are_lost() -> None:
    extraction, _ = extract([reply(GOOD[2])])
    assert (extraction.report.kept, extraction.report.lost) == (0, 2)


def test_a_targeted_pass_gives_facts_only() -> None:
    llm = ScriptedLLM([reply(GOOD[0])])
    extraction = Extractor(llm).targeted(talk(), ["where Anna travelled"])
    assert said(extraction) == ["Anna went to Lisbon on 7 May 2024 with Clara."]
    assert "- where Anna travelled" in llm.requests[0].messages[-1].content
    nothing = Extractor(ScriptedLLM(["", ""])).targeted(talk(), ["where Anna travelled"])
    assert nothing.units == ()


def test_topics_in_focus_are_asked_for_in_every_window() -> None:
    config = RetrievalConfig(extraction="facts", extraction_focus="travel; ;prices ")
    settings = ExtractionSettings.of(config, Guards.none())
    assert settings.focus == ("travel", "prices")
    extraction, llm = extract([reply(), reply(GOOD[0])], settings)
    assert len(llm.requests) == 2
    assert "- travel\n- prices" in llm.requests[1].messages[-1].content
    assert said(extraction) == ["Anna went to Lisbon on 7 May 2024 with Clara."]
    plain = ExtractionSettings.of(RetrievalConfig(extraction="facts"))
    assert plain.digest != ExtractionSettings.of(config).digest


# -- as a whole


def test_the_example_in_the_prompt_is_a_good_extraction() -> None:
    example = EXTRACTION.system.partition("Date: Friday, 3 March 2017\n")[2]
    shown, _, given = example.partition('{"facts"')
    lines = [line.split("] ", 1)[1].split(": ", 1) for line in shown.splitlines()]
    episode = talk([(speaker, said) for speaker, said in lines], datetime(2017, 3, 3))
    extraction, llm = extract(['{"facts"' + given], ExtractionSettings(), episode)
    assert len(llm.requests) == 1  # nothing is wrong with it and nothing is missing
    assert (extraction.report.facts, extraction.report.refused, extraction.report.lost) == (4, 0, 0)
    assert extraction.units[0].event_time == datetime(2017, 2, 26)
    assert [len(unit.refs) for unit in extraction.units] == [1, 2, 1, 1]


def test_an_extraction_depends_on_nothing_but_episode_settings_and_replies() -> None:
    replies = [reply(GOOD[2]), reply(*GOOD[:2])]
    first, _ = extract(replies, ExtractionSettings())
    second, _ = extract(replies, ExtractionSettings())
    assert first == second


def test_a_scope_is_passed_on() -> None:
    scope = Scope(user_id="u")
    extraction = Extractor(ScriptedLLM([reply(*GOOD)]), PLAIN).extract(talk(), scope)
    assert {unit.scope for unit in extraction.units} == {scope}


@pytest.mark.parametrize("guard", Guards.names())
def test_every_guard_can_be_taken_away(guard: str) -> None:
    taken = Guards().without(guard)
    assert [name for name in Guards.names() if not getattr(taken, name)] == [guard]
    assert ExtractionSettings(guards=taken).digest != ExtractionSettings().digest
