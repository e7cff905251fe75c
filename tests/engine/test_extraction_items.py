"""Replies as items: what is kept of a cut, malformed or looping reply, and what never is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.engine.extraction.items import (
    Item,
    Reading,
    State,
    most_items,
    most_tokens,
    read_reply,
    schema,
)
from memgene.llm.protocol import Finish, Reply

BOAT = {"turns": [1], "fact": 'Anna said "ahoy" to a {boat}, twice.'}
CAT = {"turns": [2, 3], "fact": "Ben has a cat]", "persons": ["Ben"], "date": "7 May 2024"}
WHOLE = json.dumps({"facts": [BOAT, CAT]})


def read(text: str, finish: Finish = Finish.STOP, repair: bool = True) -> Reading:
    return read_reply(Reply(text, finish), repair)


def facts(reading: Reading) -> list[str]:
    return [item.fact for item in reading.items]


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        json.dumps([BOAT, CAT]),
        f"```json\n{WHOLE}\n```",
        json.dumps({"facts": [BOAT, CAT]}, indent=2),
    ],
)
@pytest.mark.parametrize("repair", [True, False])
def test_a_whole_reply_is_read_as_it_is(text: str, repair: bool) -> None:
    reading = read(text, repair=repair)
    assert (reading.state, reading.mended) == (State.WHOLE, False)
    assert facts(reading) == [BOAT["fact"], CAT["fact"]]
    assert reading.items[1] == Item(
        "Ben has a cat]", persons=("Ben",), date="7 May 2024", turns=(2, 3)
    )


@pytest.mark.parametrize(
    "text",
    [
        f"Here are the facts: {WHOLE} I hope they help.",
        f"```json\n{WHOLE}",
        WHOLE[:-1],
        WHOLE.replace("]}, ", "],}, ").replace('"turns": [2', "'turns': [2"),
        json.dumps({"facts": [BOAT["fact"], CAT]}),
    ],
)
def test_a_reply_with_small_faults_is_mended(text: str) -> None:
    reading = read(text)
    assert reading.state is State.WHOLE
    assert facts(reading) == [BOAT["fact"], CAT["fact"]]


@given(st.integers(1, len(WHOLE) - 2))
def test_of_a_reply_cut_anywhere_only_complete_items_are_kept(at: int) -> None:
    reading = read(WHOLE[:at], Finish.LENGTH)
    kept = facts(reading)
    complete = [fact for fact, end in ((BOAT, '."}'), (CAT, 'May 2024"}')) if end in WHOLE[:at]]
    assert kept == [fact["fact"] for fact in complete]
    if at < len(WHOLE) - 1:
        assert reading.state is (State.CUT if complete else State.UNUSABLE)
        assert "cut off" in reading.problem


@given(st.integers(1, len(WHOLE) - 1), st.sampled_from(list(Finish)))
def test_without_repair_nothing_of_it_is_kept(at: int, finish: Finish) -> None:
    reading = read(WHOLE[:at], finish, repair=False)
    assert (reading.items, reading.state) == ((), State.UNUSABLE)


@settings(max_examples=200)
@given(st.text(max_size=60), st.sampled_from(list(Finish)), st.booleans())
def test_no_reply_breaks_the_reader(text: str, finish: Finish, repair: bool) -> None:
    reading = read(text, finish, repair)
    assert (reading.state is State.UNUSABLE) <= (reading.problem != "")


@settings(max_examples=200)
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(("facts", "fact", "turns", "persons", "date")), inner)
        ),
        max_leaves=12,
    )
)
def test_no_json_breaks_the_reader(value: object) -> None:
    reading = read(json.dumps(value))
    assert all(isinstance(item.fact, str) and item.fact for item in reading.items)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it was empty"),
        ("Sorry.", "it holds no JSON facts"),
        ('{"facts": [{"note": "x"}]}', 'its items have no "fact"'),
        ('{"facts": [{"fact": "Anna', "it holds no JSON facts"),
    ],
)
def test_what_is_unusable_says_why(text: str, problem: str) -> None:
    assert read(text) == Reading((), State.UNUSABLE, problem)


def test_an_empty_list_is_whole() -> None:
    assert read('{"facts": []}') == Reading((), State.WHOLE)


def test_what_is_said_again_counts_once_and_a_loop_counts_as_cut() -> None:
    again = {"fact": "ANNA said  nothing"}
    twice = read(json.dumps([{"fact": "Anna said nothing."}, again]))
    assert (facts(twice), twice.state, twice.repeated) == (["Anna said nothing."], State.WHOLE, 1)
    loop = json.dumps([BOAT, *[CAT] * 4])
    looping = read(loop)
    assert (looping.state, looping.repeated, looping.loops) == (State.CUT, 3, True)
    assert facts(looping) == [BOAT["fact"], CAT["fact"]]
    assert read(loop, repair=False).state is State.WHOLE


@pytest.mark.parametrize(
    ("given_as", "read_as"),
    [(3, (3,)), ("3", (3,)), ("[3], [4]", (3, 4)), ([3, "4", 3], (3, 4)), (None, ()), (True, ())],
)
def test_turn_numbers_are_read_in_any_form(given_as: object, read_as: tuple[int, ...]) -> None:
    assert read(json.dumps([{"fact": "Anna left.", "turns": given_as}])).items[0].turns == read_as


def test_lists_may_be_one_text_and_none_means_nothing() -> None:
    reading = read(json.dumps([{"fact": "x", "persons": "Anna, Ben", "date": "N/A", "topic": 3}]))
    (item,) = reading.items
    assert (item.persons, item.date, item.topic) == (("Anna", "Ben"), "", "")


def test_the_schema_bounds_every_length() -> None:
    def bounded(part: object) -> bool:
        if not isinstance(part, dict):
            return True
        kind = part.get("type")
        own = {"string": "maxLength", "array": "maxItems", "integer": "maximum"}.get(str(kind))
        inner = [*part.get("properties", {}).values(), part.get("items")]
        return (own is None or own in part) and all(bounded(p) for p in inner)

    assert bounded(schema(4, 5))


def test_sizes_grow_with_the_talk_and_end() -> None:
    assert [most_items(n, 50 * n) for n in (1, 4, 20, 40, 80)] == [4, 5, 25, 48, 48]
    assert most_items(1, 6000) == 48
    assert most_tokens(10) == 128 + 720
