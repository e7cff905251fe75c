"""The offline agent: short answers from the context, abstention, usage, and what always holds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.agents.offline import OfflineAgent
from memgene.agents.protocol import Agent
from memgene.agents.registry import make_agent
from memgene.core import (
    Answer,
    ConfigError,
    Context,
    Episode,
    Hit,
    Message,
    Question,
    Schema,
    SchemaField,
    metering,
)

TALK = """\
[8 May 2023] Ana: I went to the harbour museum yesterday. (a photo of a wooden boat)
[12 May 2023] Bo: I adopted three turtles last week. They are so calm.
[20 May 2023] Ana: I have played the cello for seven years.
[25 May 2023] Bo: My sister Carla lives in Porto now.
[2 June 2023] Ana: I quit my job because the commute was too long.
[9 June 2023] Bo: I just read "The Silent Orchard" and loved it.
[11 June 2023] Ana: No, I have never eaten oysters. I don't like them.
[15 June 2023] Bo: The bakery opens at 6:30 AM, and I swim twice a week."""


def ask(text: str, context: str = TALK, choices: tuple[str, ...] = ()) -> Answer:
    question = Question(id="q", text=text, group="g", choices=choices)
    return OfflineAgent().respond(question, Context(context), "")


@pytest.mark.parametrize(
    ("question", "answer", "rule"),
    [
        ("When did Ana go to the museum?", "7 May 2023", "when"),
        ("When did Bo adopt the turtles?", "week of 1 May 2023", "when"),
        ("Which month did Bo adopt the turtles?", "May 2023", "when"),
        ("When did Ana quit her job?", "2 June 2023", "when"),
        ("How long has Ana played the cello?", "seven years", "how_long"),
        ("How many turtles did Bo adopt?", "three", "number"),
        ("How often does Bo swim?", "twice a week", "how_often"),
        ("What time does the bakery open?", "6:30 AM", "clock"),
        ("Has Bo adopted turtles?", "yes", "yes_no"),
        ("Has Ana eaten oysters?", "no", "yes_no"),
        ("Did Ana play the cello or the trumpet?", "the cello", "choice"),
    ],
)
def test_questions_with_a_type_get_an_answer_of_that_type(
    question: str, answer: str, rule: str
) -> None:
    found = ask(question)
    assert (found.text, found.rule) == (answer, rule)
    assert not found.abstained


@pytest.mark.parametrize(
    ("question", "held", "dropped"),
    [
        ("Where does Carla live?", "Porto", "sister"),
        ("Which book did Bo read?", "The Silent Orchard", "loved"),
        ("Why did Ana quit her job?", "commute", "quit"),
        ("What instrument does Ana play?", "cello", "I have"),
    ],
)
def test_other_answers_are_trimmed_to_a_span(question: str, held: str, dropped: str) -> None:
    text = ask(question).text
    assert held in text
    assert dropped not in text
    assert len(text.split()) <= 8


def test_list_questions_join_spans_of_several_lines() -> None:
    talk = "Ana: I play the cello.\nAna: I play the harp.\nBo: Nice weather today."
    found = ask("Which instruments does Ana play?", talk)
    assert found.rule == "list"
    assert ", " in found.text
    assert "cello" in found.text
    assert "harp" in found.text


def test_given_choices_are_chosen_from() -> None:
    found = ask("What did Bo adopt?", choices=("two dogs", "three turtles", "a cat"))
    assert found.text == "three turtles"


@pytest.mark.parametrize("context", ["", "\n", "Ana: I like rice."])
def test_it_abstains_when_nothing_matches(context: str) -> None:
    found = ask("Which telescope did Pedro buy?", context)
    assert found == Answer("not mentioned", abstained=True, rule="abstain")


def test_other_languages_get_the_best_sentence() -> None:
    talk = "Anna wohnt heute in Bremen. Sie malt.\nBo: Ich koche gern."
    assert ask("Wo wohnt Anna heute?", talk).text == "Anna wohnt heute in Bremen."
    assert ask("猫は何匹", "犬がいる。猫は三匹いる。").text == "猫は三匹いる。"


def test_answers_cite_the_hits_they_stand_on() -> None:
    hits = (Hit("u1", "Bo paints boats.", 1.0), Hit("u2", "Carla lives in Porto.", 0.9))
    found = OfflineAgent().respond(
        Question("q", "Where does Carla live?", "g"), Context("", hits, shown=2), ""
    )
    assert found.cited == ("u2",)
    assert "Porto" in found.text


def test_hits_that_are_not_shown_are_not_read() -> None:
    hits = (Hit("u1", "Bo paints boats.", 1.0), Hit("u2", "Carla lives in Porto.", 0.9))
    found = OfflineAgent().respond(
        Question("q", "Where does Carla live?", "g"), Context("Bo paints boats.", hits, shown=1), ""
    )
    assert found.abstained


def test_it_fills_schemas_and_counts_its_calls() -> None:
    agent: Agent = make_agent("offline")
    assert agent.name == "offline"
    schema = Schema("Query", (SchemaField("query_text", "str"),))
    question = Question("q", "Where?", "g")
    episode = Episode("e", (Message("Hello."),), "g")
    with metering() as meter:
        assert agent.formulate(question, schema, "").values == {"query_text": "Where?"}
        assert agent.extract(episode, schema, "").values == {"query_text": "Hello."}
        agent.respond(question, Context("Here."), "")
    used = meter.usage.roles["task"]
    assert (used.calls, used.fresh, used.tokens_in, used.tokens_out, used.cost) == (3, 0, 0, 0, 0.0)


def test_agents_that_cannot_be_made_say_why() -> None:
    with pytest.raises(ConfigError, match="unknown agent 'robot'; agents are: offline, llm"):
        make_agent("robot")


VOCABULARY = """Ana Bo what where when did the cello played last week yesterday , . ? ! ( ) and
 3 in Porto " because not [ ] : May 2023 or how many"""
WORDS = st.sampled_from(VOCABULARY.split())
TEXTS = st.one_of(st.text(max_size=120), st.lists(WORDS, max_size=40).map(" ".join))
FREE_RULES = {"when", "number", "yes_no", "choice", "abstain"}


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS)
def test_any_question_on_any_context_is_answered_from_the_context(
    question: str, context: str
) -> None:
    found = ask(question, context)
    assert found == ask(question, context)
    assert found.text
    assert found.abstained == (found.rule == "abstain")
    if found.rule not in FREE_RULES:
        assert set(re.findall(r"\w+", found.text)) <= set(re.findall(r"\w+", context))
