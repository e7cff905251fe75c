"""Typed replies: what is asked, what is accepted, what is asked again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, RootModel

from memgene.core import InputError, ModelError, ReplyError
from memgene.llm import ChatMessage, Finish, Reply, Request
from memgene.llm.structured import Structured, ask, json_schema, parse
from memgene.testing.llm import ScriptedLLM

ASKED = (ChatMessage("system", "You read."), ChatMessage("user", "Which colour?"))
GOOD = '{"colour": "red", "shades": []}'
FORM = """

Reply with one JSON object and nothing else, in this form:
{"colour": "...", "shades": ["..."]}
- "colour": text - its name
- "shades": list (text each, at most 4)"""


class Colour(BaseModel):
    model_config = ConfigDict(extra="forbid")

    colour: str = Field(description="its name", max_length=30)
    shades: list[str] = Field(max_length=4)


# -- what is asked


def test_the_fields_are_described_in_the_last_user_message() -> None:
    llm = ScriptedLLM([GOOD])
    got = ask(llm, ASKED, Colour, max_tokens=70, temperature=0.2, seed=9)
    assert got == Structured(Colour(colour="red", shades=[]), attempts=1, repaired=False)
    messages = (ASKED[0], ChatMessage("user", "Which colour?" + FORM))
    assert llm.requests == [Request(messages, None, temperature=0.2, max_tokens=70, seed=9)]


def test_a_model_that_constrains_gets_the_schema_too() -> None:
    llm = ScriptedLLM([GOOD], constrains=True)
    ask(llm, ASKED, Colour)
    assert llm.requests[0].schema == json_schema(Colour)
    assert llm.requests[0].messages[-1].content.endswith(FORM)


def test_without_a_user_message_the_form_is_one() -> None:
    llm = ScriptedLLM([GOOD])
    ask(llm, [ChatMessage("system", "You read.")], Colour)
    assert llm.requests[0].messages[-1] == ChatMessage("user", FORM.strip())


# -- what is asked again


def test_the_model_sees_its_reply_and_what_was_wrong_with_it() -> None:
    llm = ScriptedLLM(['{"colour": 5, "shade": []}', GOOD])
    got = ask(llm, ASKED, Colour)
    fault = "colour: input should be a valid string, got 5; shades is missing; shade is not a field"
    assert (got.attempts, got.faults) == (2, (fault,))
    assert llm.requests[1].messages == (
        *llm.requests[0].messages,
        ChatMessage("assistant", '{"colour": 5, "shade": []}'),
        ChatMessage(
            "user",
            f"That reply cannot be used: {fault}.\n"
            "Write the whole JSON object again, corrected, and nothing else.",
        ),
    )


def test_only_the_latest_unusable_reply_is_shown_and_long_ones_shortened() -> None:
    llm = ScriptedLLM(["first", "a" * 5000 + "end", GOOD])
    ask(llm, ASKED, Colour)
    shown = llm.requests[2].messages[2].content
    assert len(llm.requests[2].messages) == 4
    assert len(shown) < 1000
    assert shown.endswith("aend")


def test_without_feedback_the_next_seed_is_tried() -> None:
    llm = ScriptedLLM(["no", "no", GOOD])
    ask(llm, ASKED, Colour, seed=3, feedback=False)
    assert [(r.seed, r.temperature) for r in llm.requests] == [(3, 0.0), (4, 0.5), (5, 0.5)]
    assert len({r.messages for r in llm.requests}) == 1


def test_a_model_that_gives_the_same_unusable_reply_again_is_asked_in_another_way() -> None:
    llm = ScriptedLLM(["no", "no", "no", GOOD])
    ask(llm, ASKED, Colour, attempts=4)
    asked = [(r.seed, r.temperature) for r in llm.requests]
    assert asked == [(0, 0.0), (0, 0.0), (2, 0.5), (3, 0.5)]
    assert all(len(r.messages) == 4 for r in llm.requests[1:])


def test_after_the_attempts_the_error_tells_what_was_wrong_each_time() -> None:
    llm = ScriptedLLM(["", Reply('{"colour": "re', Finish.LENGTH), "Red."])
    with pytest.raises(ReplyError) as caught:
        ask(llm, ASKED, Colour)
    assert str(caught.value) == (
        "scripted gave no usable Colour in 3 attempts: 1. it is empty; "
        "2. it was cut off at the limit of tokens; be shorter; "
        "3. it holds no JSON; an object is asked for"
    )


@pytest.mark.parametrize("finish", [Finish.LENGTH, Finish.OTHER])
def test_a_reply_that_did_not_end_by_itself_is_refused_even_if_it_looks_whole(
    finish: Finish,
) -> None:
    with pytest.raises(ReplyError):
        ask(ScriptedLLM([Reply(GOOD, finish)]), ASKED, Colour, attempts=1)


def test_a_text_cut_at_its_limit_by_the_grammar_is_refused() -> None:
    full = json.dumps({"colour": "x" * 30, "shades": []})
    with pytest.raises(ReplyError, match="colour was cut off at 30 characters"):
        ask(ScriptedLLM([full], constrains=True), ASKED, Colour, attempts=1)
    assert ask(ScriptedLLM([full]), ASKED, Colour, attempts=1).value.colour == "x" * 30


def test_a_list_filled_with_the_same_item_by_the_grammar_is_refused() -> None:
    looped = json.dumps({"colour": "red", "shades": ["pink", "rose", "rose", "rose"]})
    with pytest.raises(ReplyError, match="shades repeats the same item up to the limit of 4"):
        ask(ScriptedLLM([looped], constrains=True), ASKED, Colour, attempts=1)
    full = json.dumps({"colour": "red", "shades": ["pink", "rose", "ruby", "ruby"]})
    assert len(ask(ScriptedLLM([full], constrains=True), ASKED, Colour).value.shades) == 4


def test_errors_of_the_model_itself_are_not_retried_here() -> None:
    llm = ScriptedLLM([ModelError("down"), GOOD])
    with pytest.raises(ModelError, match="down"):
        ask(llm, ASKED, Colour)
    assert len(llm.requests) == 1


def test_attempts_must_be_positive() -> None:
    with pytest.raises(InputError):
        ask(ScriptedLLM([GOOD]), ASKED, Colour, attempts=0)


def test_a_repaired_reply_is_flagged_and_repair_can_be_refused() -> None:
    damaged = "{'colour': 'red', 'shades': [],}"
    assert ask(ScriptedLLM([damaged]), ASKED, Colour).repaired
    assert ask(ScriptedLLM([damaged, GOOD]), ASKED, Colour, repair=False).attempts == 2


# -- what is accepted


def test_of_several_documents_the_last_that_fits_counts() -> None:
    assert parse(f'{{"colour": 1}} {GOOD} {{"shades": 1}}', Colour)[0].colour == "red"


def test_a_document_of_the_wrong_kind_is_named() -> None:
    with pytest.raises(ReplyError, match="no JSON of that kind; an object is asked for"):
        parse(f"[{GOOD}]", Colour)


def test_a_long_list_of_findings_is_cut() -> None:
    class Numbers(RootModel[list[int]]):
        pass

    with pytest.raises(ReplyError, match=r"^\[0\]: .*\[4\]: [^;]*; and 7 more$"):
        parse(json.dumps(["x"] * 12), Numbers)


class Inner(BaseModel):
    names: list[str]
    score: float = Field(allow_inf_nan=False)


class Outer(BaseModel):
    text: str
    maybe: str | None
    count: int = Field(ge=-(10**9), le=10**9)
    inner: list[Inner]


WORDS = st.text(max_size=20)
INNER = st.builds(
    Inner, names=st.lists(WORDS, max_size=3), score=st.floats(allow_nan=False, allow_infinity=False)
)
OUTER = st.builds(
    Outer,
    text=WORDS,
    maybe=st.none() | WORDS,
    count=st.integers(-(10**9), 10**9),
    inner=st.lists(INNER, max_size=3),
)
PROSE = st.text("abc ,.:;!?'()\n", max_size=30)
WRAPPERS: Sequence[Callable[[str, str, str], str]] = (
    lambda before, body, after: f"{before}{body}{after}",
    lambda before, body, after: f"{before}\n```json\n{body}\n```\n{after}",
    lambda before, body, after: f"{before}\n```\n{body}\n```{after}",
    lambda before, body, after: f"<think>{before}</think>{body}",
)
DUMPS = st.sampled_from(
    [
        lambda value: json.dumps(value),
        lambda value: json.dumps(value, ensure_ascii=False, indent=2),
        lambda value: json.dumps(value, separators=(",", ":")),
    ]
)


@settings(deadline=None)
@given(OUTER, DUMPS, st.sampled_from(WRAPPERS), PROSE, PROSE)
def test_any_value_survives_dump_wrapping_and_parse(
    value: Outer,
    dump: Callable[[object], str],
    wrap: Callable[[str, str, str], str],
    before: str,
    after: str,
) -> None:
    reply = wrap(before, dump(value.model_dump()), after)
    assert parse(reply, Outer) == (value, False)


@settings(deadline=None)
@given(OUTER, DUMPS, st.data())
def test_no_proper_prefix_of_a_document_is_accepted(
    value: Outer, dump: Callable[[object], str], data: st.DataObject
) -> None:
    whole = dump(value.model_dump())
    prefix = whole[: data.draw(st.integers(0, len(whole) - 1))]
    for reply in (prefix, f"Here:\n```json\n{prefix}", f"Here:\n```json\n{prefix}\n```"):
        with pytest.raises(ReplyError):
            parse(reply, Outer)


@settings(deadline=None)
@given(st.text("{}[]\"'`:,\\/*. \nabctrue-0…", max_size=60))
def test_any_reply_is_accepted_or_refused_but_never_breaks(reply: str) -> None:
    try:
        value, _ = parse(reply, Outer)
    except ReplyError:
        return
    assert isinstance(value, Outer)
