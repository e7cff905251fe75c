"""What a worker may ask of the process outside. It may ask anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memgene.core import InputError, ModelError, RequestRefusedError
from memgene.embed.hashing import HashingEmbedder
from memgene.embed.static import StaticEmbedder
from memgene.llm.protocol import ChatMessage, Request
from memgene.programs.guest.toolkit import decoded
from memgene.programs.hosting import HostCalls
from memgene.sandbox import HostRefusal
from memgene.testing import ScriptedLLM

ASK = {"messages": [{"role": "user", "content": "hi"}]}


def calls(llm: ScriptedLLM | None = None, allowed: int = 1, **models: Any) -> HostCalls:
    return HostCalls(llm, models.get("embedder"), models.get("words"), allowed)


def test_a_completion_is_one_request() -> None:
    llm = ScriptedLLM(["yes"])
    given = {**ASK, "temperature": 1, "max_tokens": 9, "stop": "\n", "schema": {"type": "object"}}
    assert calls(llm).complete(given) == "yes"
    assert llm.requests == [
        Request(
            (ChatMessage("user", "hi"),),
            schema={"type": "object"},
            temperature=1,
            max_tokens=9,
            stop=("\n",),
        )
    ]


def test_each_call_has_its_allowance_and_a_fresh_one_has_it_again() -> None:
    host = calls(ScriptedLLM(lambda _: "yes"), allowed=2)
    for _ in range(2):
        host.complete(ASK)
    with pytest.raises(HostRefusal, match="2 times in each write or read"):
        host.complete(ASK)
    host.fresh()
    assert host.complete(ASK) == "yes"


def test_without_a_model_the_error_says_so_and_costs_a_call() -> None:
    host = calls()
    with pytest.raises(InputError, match=r"no language model .*llm\.toolkit"):
        host.complete(ASK)
    with pytest.raises(HostRefusal):
        host.complete(ASK)


def test_a_failing_model_is_remembered_until_the_next_call() -> None:
    failure = ModelError("unreachable")
    host = calls(ScriptedLLM([failure]))
    with pytest.raises(ModelError):
        host.complete(ASK)
    assert host.failure is failure
    host.fresh()
    assert host.failure is None


def test_a_request_that_a_model_refuses_is_the_programs_own_failure() -> None:
    host = calls(ScriptedLLM([RequestRefusedError("the prompt is too long")]))
    with pytest.raises(RequestRefusedError):
        host.complete(ASK)
    assert host.failure is None


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"messages": "hi"},
        {"messages": []},
        {"messages": ["hi"]},
        {"messages": [{"role": "admin", "content": "hi"}]},
        {"messages": [{"role": "user", "content": 5}]},
        {**ASK, "temperature": "hot"},
        {**ASK, "temperature": 7},
        {**ASK, "max_tokens": True},
        {**ASK, "max_tokens": 0},
        {**ASK, "max_tokens": 2.5},
        {**ASK, "schema": "object"},
        {**ASK, "stop": 3},
        {**ASK, "max_tokens": 8193},
        {"messages": [{"role": "user", "content": "x" * 100_001}] * 2},
        {"messages": ASK["messages"] * 201},
        {**ASK, "schema": {"$ref": "https://example.org/schema"}},
    ],
)
def test_what_is_no_request_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        calls(ScriptedLLM([])).complete(params)


def test_vectors_of_texts_and_words() -> None:
    embedder = StaticEmbedder()
    host = calls(embedder=embedder, words=embedder)
    texts = ["a red boat", "a blue car"]
    np.testing.assert_array_equal(decoded(host.embed({"texts": texts})), embedder.embed(texts))
    np.testing.assert_array_equal(
        decoded(host.words({"texts": ["boat"]})), embedder.words(["boat"])
    )


def test_half_characters_do_not_reach_the_embedder() -> None:
    host = calls(embedder=HashingEmbedder())
    assert decoded(host.embed({"texts": ["a \ud800 boat"]})).shape[0] == 1


@pytest.mark.parametrize("params", [{}, {"texts": "a"}, {"texts": [1]}, {"texts": ["a"] * 5000}])
def test_what_is_no_list_of_texts_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        calls(embedder=HashingEmbedder()).embed(params)


def test_vectors_are_bounded_in_each_call() -> None:
    host, text = calls(embedder=HashingEmbedder()), "x" * 5_000_000
    for _ in range(4):
        host.embed({"texts": [text]})
    with pytest.raises(HostRefusal, match="20,000,000 characters"):
        host.embed({"texts": ["x"]})
    host.fresh()
    for _ in range(2_000):
        host.embed({"texts": []})
    with pytest.raises(HostRefusal, match="2,000 times"):
        host.embed({"texts": []})


def test_vectors_need_models() -> None:
    with pytest.raises(InputError, match="no embedder"):
        calls().embed({"texts": ["a"]})
    with pytest.raises(InputError, match="no word vectors"):
        calls().words({"texts": ["a"]})
