"""One attempt becomes one memory: findable, in its owner's scope, after its parents, once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.bank import Bank, MemoryUnit, SqliteBank, UnitType
from memgene.bank.protocol import Fate
from memgene.core import BudgetExhaustedError, ConfigError, Hit, InputError, ModelError, Scope
from memgene.embed.hashing import HashingEmbedder
from memgene.engine import MemoryEngine
from memgene.engine.credit.distilling import Trajectory, distil
from memgene.testing import ScriptedLLM

MAY, JUNE = datetime(2021, 5, 3, 9), datetime(2021, 6, 1)
HITS = (
    Hit("canoe", "my grandmother built it", 1.0, refs=("s1:1",), event_time=JUNE),
    Hit("tea", "tea please", 0.5, refs=("s1:2",), event_time=MAY),
    Hit("undated", "a kayak", 0.4),
)
WON = Trajectory("Who built the canoe?", "her grandmother", 1.0, HITS, Scope("anna"))


def memory(text: str) -> str:
    return json.dumps({"memory": text})


def plain(tried: Trajectory) -> MemoryUnit:
    unit, degraded = distil(tried)
    assert degraded == ()
    return unit


@pytest.fixture
def bank() -> Iterator[Bank]:
    opened = SqliteBank(":memory:")
    yield opened
    opened.close()


# -- without a model


def test_the_text_holds_the_question_what_was_done_and_how_it_went() -> None:
    said = plain(WON).content
    assert said == 'Attempt at "Who built the canoe?": her grandmother (success)'


@pytest.mark.parametrize(
    ("reward", "outcome"), [(1, "success"), (0.5, "success"), (0.49, "failure"), (0, "failure")]
)
def test_failures_are_remembered_as_failures(reward: float, outcome: str) -> None:
    unit = plain(replace(WON, reward=reward))
    assert unit.content.endswith(f" ({outcome})")
    assert unit.metadata["reward"] == reward


def test_no_answer_is_said_to_be_none() -> None:
    assert plain(replace(WON, answer=" \n", reward=0)).content.endswith(": no answer (failure)")


def test_parents_and_reward_stand_in_the_metadata_and_evidence_is_not_inherited() -> None:
    unit = plain(replace(WON, hits=(*HITS, HITS[0])))
    assert unit.metadata == {
        "distilled": True,
        "parents": ["canoe", "tea", "undated"],
        "reward": 1.0,
    }
    assert unit.type is UnitType.PROCEDURAL_OBSERVATION
    assert unit.refs == ()


def test_it_belongs_to_the_owner_of_the_attempt() -> None:
    scope = Scope("anna", "cook", "run 1")
    assert plain(replace(WON, scope=scope)).scope == scope


@pytest.mark.parametrize(
    ("time", "shown", "expected"),
    [
        (None, HITS, JUNE),
        (datetime(2022, 1, 1), HITS, datetime(2022, 1, 1)),
        (MAY, HITS, JUNE),  # never before its parents
        (None, HITS[2:], None),
        (datetime(2021, 5, 31, tzinfo=UTC), HITS, JUNE),  # with and without a zone
    ],
)
def test_it_comes_after_what_it_was_made_of(
    time: datetime | None, shown: tuple[Hit, ...], expected: datetime | None
) -> None:
    assert plain(replace(WON, time=time, hits=shown)).event_time == expected


def test_attempts_at_one_question_are_neighbours_and_others_are_not() -> None:
    again = plain(replace(WON, answer="Ben", reward=0.0))
    other = plain(replace(WON, question="Who built the kayak?"))
    elsewhere = plain(replace(WON, scope=Scope("ben")))
    assert again.source == plain(WON).source
    assert len({plain(WON).source, other.source, elsewhere.source}) == 3


def test_equal_attempts_make_one_unit(bank: Bank) -> None:
    first, again = plain(WON), plain(replace(WON))
    assert first == again
    assert first.id == first.identity()
    (added,) = bank.add([first])
    (merged,) = bank.add([again])
    assert (added.fate, merged.fate) == (Fate.ADDED, Fate.MERGED)
    assert added.id == merged.id == first.id


@pytest.mark.parametrize(
    "changed",
    [{"question": "Who built it?"}, {"answer": "Ben"}, {"reward": 0.0}, {"scope": Scope("ben")}],
)
def test_other_attempts_make_another_unit(changed: dict[str, Any]) -> None:
    assert plain(replace(WON, **changed)).id != plain(WON).id


def test_a_question_like_it_finds_it(bank: Bank) -> None:
    engine = MemoryEngine(bank, HashingEmbedder())
    others = [MemoryUnit(f"tea number {n}", scope=Scope("anna")) for n in range(5)]
    engine.write([*others, plain(WON)])
    assert engine.retrieve("who built a canoe", Scope("anna")).hits[0].id == plain(WON).id
    assert engine.retrieve("who built a canoe", Scope("ben")).hits == ()


def test_long_texts_are_cut() -> None:
    assert len(plain(replace(WON, question="q " * 9999, answer="a " * 9999)).content) < 1600


def test_an_attempt_needs_a_question_and_a_reward_in_range() -> None:
    with pytest.raises(InputError, match="question"):
        replace(WON, question=" ")
    for reward in (-0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="reward"):
            replace(WON, reward=reward)


@given(st.text(min_size=1, max_size=40), st.text(max_size=40), st.floats(0, 1))
def test_any_words_make_a_unit_that_can_be_stored(
    question: str, answer: str, reward: float
) -> None:
    if not question.strip():
        question += "?"
    unit = plain(Trajectory(question, answer, reward))
    assert unit == plain(Trajectory(question, answer, reward))
    opened = SqliteBank(":memory:")
    (receipt,) = opened.add([unit])
    opened.close()
    assert (receipt.fate, receipt.id) == (Fate.ADDED, unit.id)


# -- with a model


def test_a_model_says_what_to_remember() -> None:
    llm = ScriptedLLM([memory("Anna's grandmother\nbuilt the canoe.")])
    unit, degraded = distil(WON, llm)
    assert unit.content == (
        'Attempt at "Who built the canoe?": Anna\'s grandmother built the canoe. (success)'
    )
    assert degraded == ()
    assert replace(unit, content="", id="") == replace(plain(WON), content="", id="")


def test_it_sees_the_attempt_its_outcome_and_what_was_shown() -> None:
    llm = ScriptedLLM([memory("nothing")])
    distil(replace(WON, reward=0.25, answer="Ben\ndid"), llm)
    seen = llm.requests[0].messages[-1].content
    assert "1. my grandmother built it\n2. tea please\n3. a kayak\n" in seen
    assert "Question or task: Who built the canoe?" in seen
    assert "What was answered or done: Ben did" in seen
    assert "Outcome: failure (reward 0.25 of 1)" in seen


def test_it_sees_a_bounded_part_of_an_endless_attempt() -> None:
    llm = ScriptedLLM([memory("nothing")])
    shown = tuple(Hit(f"{n}", "word " * 1000, 1.0) for n in range(500))
    distil(Trajectory("q " * 99_999, "a " * 99_999, 1.0, shown), llm)
    assert len(llm.requests[0].messages[-1].content) < 18_000


def test_without_hits_or_an_answer_it_is_told_so() -> None:
    llm = ScriptedLLM([memory("nothing")])
    distil(replace(WON, hits=(), answer=""), llm)
    seen = llm.requests[0].messages[-1].content
    assert "at hand:\n(none)\n" in seen
    assert "answered or done: (none)" in seen


@pytest.mark.parametrize("bad", ["Remember the canoe.", "{}", memory(" "), '{"memory": 3}', ""])
def test_an_unusable_reply_leaves_the_plain_text_and_is_named(bad: str) -> None:
    assert distil(WON, ScriptedLLM([bad, memory("x")]))[1] == ()
    unit, degraded = distil(WON, ScriptedLLM([bad] * 3))
    assert unit == plain(WON)
    (told,) = degraded
    assert told.startswith("distillation: ")
    assert "3 attempts" in told


def test_a_model_that_is_away_leaves_the_plain_text_and_is_named() -> None:
    unit, degraded = distil(WON, ScriptedLLM([ModelError("timed out")]))
    assert (unit, degraded) == (plain(WON), ("distillation: timed out",))


def test_broken_characters_of_a_model_are_kept_out_of_the_bank() -> None:
    unit, _ = distil(WON, ScriptedLLM([memory("a \ud800 b")]))
    assert "a ? b (success)" in unit.content


@pytest.mark.parametrize("error", [BudgetExhaustedError("calls"), ConfigError("bad key")])
def test_a_spent_budget_and_a_bad_setting_are_passed_on(error: Exception) -> None:
    with pytest.raises(type(error)):
        distil(WON, ScriptedLLM([error]))
