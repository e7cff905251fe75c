"""Asking a model: what of its reply is tried, what is told back, when it is of no use."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from memgene.core import BudgetExhaustedError, ConfigError, ModelError
from memgene.evaluation.case import Case
from memgene.evolution.changes import change, settings_of
from memgene.evolution.consulting import Consultant, Consultation
from memgene.evolution.diagnosis import Cause, Diagnosis, diagnose
from memgene.evolution.means import Means, Use
from memgene.evolution.proposers import Attempt
from memgene.llm.protocol import Finish, Reply
from memgene.retrieval.config import RetrievalConfig, levers
from memgene.retrieval.levers import Need
from memgene.retrieval.ranker import Ranker
from memgene.retrieval.router.router import Router
from memgene.testing.llm import ScriptedLLM

F1 = "token_f1"
ALL: Means = frozenset({*Need, *Use})
CONFIG = RetrievalConfig()
LEARNED = CONFIG.changed(
    fusion="learned", ranker=Ranker({"bm25": 1.0}, {"bm25": 0.0}, {"bm25": 1.0})
)


def reply(*changes: dict[str, Any], **parts: Any) -> str:
    return json.dumps({"changes": list(changes), **parts})


def lever(name: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"lever": name, "value": value, "why": f"because of {name}", **more}


@pytest.fixture
def diagnosis(make_case: Callable[..., Case]) -> Diagnosis:
    cases = [make_case(f"q{i}", "a", float(i < 4), scores={F1: float(i < 4)}) for i in range(10)]
    return diagnose(cases, F1)


@pytest.fixture
def consult(diagnosis: Diagnosis) -> Callable[..., Consultation]:
    def ask(
        llm: ScriptedLLM,
        config: RetrievalConfig = CONFIG,
        history: Sequence[Attempt] = (),
        available: Means = ALL,
        most: int = 2,
    ) -> Consultation:
        return Consultant(llm, available, F1, most).consult(diagnosis, config, history)

    return ask


Consult = Callable[..., Consultation]


def test_a_good_reply_becomes_changes_with_reasons_and_a_reading(consult: Consult) -> None:
    llm = ScriptedLLM(
        [
            reply(
                lever("context_k", 20),
                causes={"ranked_low": 6},
                missing_topics=["dates of birth"],
                extraction=[lever("extraction", "both")],
                next="rerank",
            )
        ]
    )
    found = consult(llm)
    assert settings_of(found.changes) == {"context_k": 20, "extraction": "both"}
    assert found.reasons == ("because of context_k", "because of extraction")
    assert found.advice is not None
    assert found.advice.causes.ranked_low == 6
    assert found.advice.missing_topics == ("dates of birth",)
    assert (found.problems, found.unusable) == ((), "")
    assert len(llm.requests) == 1


def test_companions_come_along(consult: Consult) -> None:
    llm = ScriptedLLM([reply(lever("dense_k", 60))])
    found = consult(llm, RetrievalConfig.minimal())
    assert settings_of(found.changes) == {
        "dense_k": 60,
        "fusion": "weighted_sum",
        "weight_dense": 1.0,
    }


def test_at_most_so_many_changes_are_taken(consult: Consult) -> None:
    said = reply(lever("context_k", 20), lever("window", 2), lever("dense_k", 80))
    assert set(settings_of(consult(ScriptedLLM([said])).changes)) == {"context_k", "window"}
    assert set(settings_of(consult(ScriptedLLM([said]), most=1).changes)) == {"context_k"}


def test_a_change_by_question_type_is_an_override(consult: Consult) -> None:
    typed = lever("answer_style", "date", question_type="when")
    found = consult(ScriptedLLM([reply(by_type=[typed])]))
    assert settings_of(found.changes) == {"per_type.when.answer_style": "date"}


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (lever("contextk", 20), "there is no lever 'contextk'; near: context_k"),
        (lever("utility", 1), "there is no lever 'utility'; near: utility_weight"),
        (lever("rerank_k", 30), "rerank_k has no effect now"),
        (lever("fusion", "best"), "fusion is one of lexical_only, dense_only"),
        (lever("context_k", "many"), "context_k is a number, got 'many'"),
        (lever("context_k", 10.5), "context_k is a whole number, got 10.5"),
        (lever("context_k", 10**400), "too large"),
        (lever("context_k", True), "context_k is a number, got True"),
        (lever("context_k", 99), "context_k goes from 1 to 50, got 99"),
        (lever("context_k", 10), "context_k is 10 already"),
        (lever("decomposition", "perhaps"), "decomposition is true or false, got 'perhaps'"),
    ],
)
def test_what_cannot_be_tried_is_told_back_once(
    consult: Consult, wanted: dict[str, Any], told: str
) -> None:
    llm = ScriptedLLM([reply(wanted), reply(lever("window", 2))])
    found = consult(llm)
    assert settings_of(found.changes) == {"window": 2}
    assert len(llm.requests) == 2
    said = llm.requests[1].messages
    assert [m.role for m in said][-3:] == ["user", "assistant", "user"]
    assert said[: len(llm.requests[0].messages) - 1] == llm.requests[0].messages[:-1]
    assert told in said[-1].content
    assert found.unusable == ""


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (lever("window", 2, question_type="riddle"), "there is no question type 'riddle'"),
        (lever("extraction", "both", question_type="when"), "cannot differ by question type"),
        (lever("fusion", "rrf", question_type="when"), "cannot differ by question type"),
    ],
)
def test_so_is_what_no_question_type_can_have(
    consult: Consult, typed: dict[str, Any], told: str
) -> None:
    llm = ScriptedLLM([reply(by_type=[typed]), reply()])
    found = consult(llm)
    assert told in llm.requests[1].messages[-1].content
    assert found.unusable == "it proposed no change"


def test_learned_weights_must_stay_valid_for_every_type(consult: Consult) -> None:
    typed = [
        lever("window", 2, question_type="when"),
        lever("mmr_lambda", 0.2, question_type="when"),
    ]
    llm = ScriptedLLM([reply(by_type=typed)] * 2)
    found = consult(llm, LEARNED)
    assert settings_of(found.changes) == {"per_type.when.mmr_lambda": 0.2}
    assert found.problems == ("window cannot differ by question type here",)


def test_learned_needs_something_to_learn_from(consult: Consult) -> None:
    said = reply(lever("fusion", "learned"))
    assert settings_of(consult(ScriptedLLM([said])).changes) == {"fusion": "learned"}
    found = consult(ScriptedLLM([said] * 2), available=ALL - {Need.TRAINING})
    assert found.changes == ()
    assert "nothing to learn from" in found.unusable


def test_a_model_that_repeats_itself_loses_what_cannot_be_tried(consult: Consult) -> None:
    said = reply(lever("magic", 1), lever("window", 2))
    found = consult(ScriptedLLM([said, said]))
    assert settings_of(found.changes) == {"window": 2}
    assert found.problems == ("there is no lever 'magic'",)


def test_a_worse_second_reply_does_not_cost_the_first(consult: Consult) -> None:
    first = reply(lever("magic", 1), lever("window", 2))
    for second in (reply(lever("sorcery", 1)), "I am sorry.", ModelError("gone")):
        script = [first, *[second] * 3]
        assert settings_of(consult(ScriptedLLM(script)).changes) == {"window": 2}


def test_numbers_out_of_range_are_clamped_in_the_end(consult: Consult) -> None:
    found = consult(ScriptedLLM([reply(lever("context_k", 99))] * 2))
    assert settings_of(found.changes) == {"context_k": 50}


def test_values_in_quotes_are_read(consult: Consult) -> None:
    said = reply(lever("context_k", "20"), lever("decomposition", "ON"))
    assert settings_of(consult(ScriptedLLM([said])).changes) == {
        "context_k": 20,
        "decomposition": True,
    }
    off = CONFIG.changed(rerank="llm")
    found = consult(ScriptedLLM([reply(lever("rerank", False))]), off)
    assert settings_of(found.changes) == {"rerank": "off"}


def test_what_was_tried_from_here_is_refused(consult: Consult) -> None:
    tried = Attempt(CONFIG.digest, (change(CONFIG, "window", 2),), -0.01, False)
    said = reply(lever("window", 2))
    found = consult(ScriptedLLM([said] * 2), history=[tried])
    assert found.changes == ()
    assert found.unusable == "window = 2 was tried before from here"
    elsewhere = Attempt("other", tried.changes, -0.01, False)
    assert consult(ScriptedLLM([said]), history=[elsewhere]).changes != ()


def test_of_a_pair_that_was_tried_one_is_left(consult: Consult) -> None:
    pair = (change(CONFIG, "window", 2), change(CONFIG, "context_k", 20))
    tried = [Attempt(CONFIG.digest, changes, 0.0, False) for changes in (pair, pair[:1])]
    said = reply(lever("window", 2), lever("context_k", 20))
    found = consult(ScriptedLLM([said]), history=tried)
    assert settings_of(found.changes) == {"context_k": 20}


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (["No idea."] * 3, "holds no JSON"),
        (['{"changes": [{"lever": "window", "va'] * 3, "cut off"),
        ([Reply(reply(lever("window", 2)), Finish.LENGTH)] * 3, "cut off"),
        (['{"lever": "window", "value": 2}'] * 3, "changes is missing"),
        ([""] * 3, "it is empty"),
        ([ModelError("scripted timed out")], "scripted timed out"),
        ([reply()], "it proposed no change"),
    ],
)
def test_replies_of_no_use_say_why(consult: Consult, script: list[Any], why: str) -> None:
    found = consult(ScriptedLLM(script))
    assert found.changes == ()
    assert why in found.unusable


def test_a_spent_budget_and_a_wrong_setting_are_not_the_models_reply(consult: Consult) -> None:
    for error in (BudgetExhaustedError("calls"), ConfigError("key")):
        with pytest.raises(type(error)):
            consult(ScriptedLLM([error]))


def test_a_form_that_is_missed_first_is_asked_for_again(consult: Consult) -> None:
    found = consult(ScriptedLLM(["Sure!", reply(lever("window", 2))]))
    assert settings_of(found.changes) == {"window": 2}


def test_a_model_held_to_a_schema_is_given_the_names(consult: Consult) -> None:
    llm = ScriptedLLM([reply(lever("window", 2))], constrains=True)
    consult(llm, LEARNED, available=ALL - {Use.EXTRACT})
    schema = llm.requests[0].schema
    assert schema is not None
    parts = schema["properties"]
    names = parts["changes"]["items"]["properties"]["lever"]["enum"]
    assert {"window", "context_k", "rerank"} <= set(names)
    assert not {"rerank_k", "extraction", "weight_soft"} & set(names)
    typed = parts["by_type"]["items"]["properties"]
    assert "window" not in typed["lever"]["enum"]
    assert "answer_style" in typed["lever"]["enum"]
    assert "when" in typed["question_type"]["enum"]
    assert parts["extraction"]["maxItems"] == 0
    assert parts["changes"]["maxItems"] == 2
    assert parts["changes"]["items"]["properties"]["why"]["maxLength"] == 200


def test_everything_said_is_kept_once(consult: Consult) -> None:
    llm = ScriptedLLM(["Sure!", reply(lever("magic", 1)), reply(lever("window", 2))])
    text = consult(llm).transcript
    assert text.count("## system") == 1
    assert text.count("Levers you may change") == 1
    assert text.count("Sure!") == 1
    assert text.count("reply (stop)") == 3
    assert "there is no lever 'magic'" in text
    failed = consult(ScriptedLLM([ModelError("timed out")])).transcript
    assert "ModelError: timed out" in failed


def test_half_characters_and_endless_texts_do_no_harm(consult: Consult) -> None:
    said = reply({"lever": "window", "value": 2, "why": "\ud800" + "x" * 9_999}, next="y" * 9_999)
    found = consult(ScriptedLLM([said]))
    assert len(found.reasons[0].encode()) < 400
    long = consult(ScriptedLLM([reply(lever("z" * 9_999, "v" * 9_999))] * 2))
    assert len(long.unusable) < 200


def test_every_lever_can_be_proposed_with_its_default_or_another_value(consult: Consult) -> None:
    reach = CONFIG.changed(
        extraction="facts",
        decomposition=True,
        rerank="llm",
        verification="strict",
        entity_swap=True,
        recency_weight=0.5,
        soft_k=10,
    )
    routed = {
        **dict.fromkeys(
            ("route_pool", "route_prior", "q_rank_weight", "self_routing"),
            reach.changed(fusion="q_rrf"),
        ),
        "router_strength": reach.changed(router=Router.fresh(("lexical", "dense"), ("length",))),
    }
    for name, declared in levers().items():
        if name == "extraction_focus":
            continue  # comes from the missing topics
        config = routed.get(name, reach)
        now = getattr(config, name)
        if declared.kind is bool:
            value: Any = not now
        elif declared.kind is str:
            value = next(c for c in declared.choices if c != now)
        else:
            value = declared.low if now != declared.low else declared.high
        found = consult(ScriptedLLM([reply(lever(name, value))]), config)
        assert found.changes[0].value == value, name


# -- topics that were never stored (EvolveMem §2, coverage-gap re-extraction)

FACTS = CONFIG.changed(extraction="facts")


@pytest.fixture
def never_stored(make_case: Callable[..., Case]) -> Diagnosis:
    """Failures whose evidence is nowhere in the bank."""
    failed = {"bank_evidence": 0.0, "pool_evidence": 0.0, "evidence": ("m1",)}
    cases = [make_case(f"q{i}", "a", 0.0, scores={F1: 0.0}, **failed) for i in range(4)]
    return diagnose(cases, F1)


def ask_about(diagnosis: Diagnosis, config: RetrievalConfig, *changes: Any, **parts: Any) -> Any:
    model = ScriptedLLM([reply(*changes, **parts)] * 2)
    return Consultant(model, ALL, F1).consult(diagnosis, config, ())


def test_missing_topics_are_looked_for_where_facts_are_extracted(never_stored: Diagnosis) -> None:
    found = ask_about(never_stored, FACTS, missing_topics=["names of pets", "prices; dates"])
    (made,) = found.changes
    assert (made.lever, made.value) == ("extraction_focus", "names of pets; prices, dates")
    assert found.unusable == ""
    more = ask_about(
        never_stored,
        FACTS.changed(extraction_focus="prices"),
        missing_topics=["names of pets", "prices"],
    )
    assert more.changes[0].value == "prices; names of pets"


def test_topics_stand_back_where_nothing_is_extracted_or_everything_was_stored(
    never_stored: Diagnosis, diagnosis: Diagnosis
) -> None:
    topics = ["names of pets"]
    assert ask_about(never_stored, CONFIG, missing_topics=topics).changes == ()
    stored = ask_about(diagnosis, FACTS, missing_topics=topics)
    assert diagnosis.causes[Cause.NEVER_STORED] == 0
    assert stored.changes == ()
    known = ask_about(
        never_stored, FACTS.changed(extraction_focus="names of pets"), missing_topics=topics
    )
    assert known.changes == ()


def test_topics_take_the_place_that_the_models_own_changes_leave(never_stored: Diagnosis) -> None:
    one = ask_about(never_stored, FACTS, lever("context_k", 9), missing_topics=["pets"])
    assert [made.lever for made in one.changes] == ["context_k", "extraction_focus"]
    two = ask_about(
        never_stored,
        FACTS,
        lever("context_k", 9),
        lever("window", 3),
        missing_topics=["pets"],
    )
    assert "extraction_focus" not in [made.lever for made in two.changes]
