"""`openai/NAME` against a local server that speaks the protocol and misbehaves as scripted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from memgene.core import (
    ConfigError,
    MissingDependencyError,
    ModelError,
    RequestRefusedError,
    StoredConfigError,
)
from memgene.llm.openai import OpenAILLM
from memgene.llm.protocol import ChatMessage, Finish, Request
from memgene.llm.retries import Backoff
from memgene.testing.llm import (
    Behaviour,
    FaultyServer,
    answers,
    closes,
    half_json,
    refuses,
    says,
    times_out,
)

KEY = "sk-very-secret-0123"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
HELLO = Request((ChatMessage("system", "Be short."), ChatMessage("user", "Hello?")))


class Meeting:
    """A model and the server behind it; `slept` holds the waits between tries."""

    def __init__(self, server: FaultyServer, llm: OpenAILLM, slept: list[float]) -> None:
        self.server = server
        self.llm = llm
        self.slept = slept


Meet = Callable[..., Meeting]


@pytest.fixture
def meet() -> Iterator[Meet]:
    pytest.importorskip("openai")
    opened: list[Meeting] = []

    def make(*script: Behaviour, then: Behaviour | None = None, **options: Any) -> Meeting:
        server, slept = FaultyServer(script, then), list[float]()
        backoff = Backoff(options.pop("retries", 3), sleep=slept.append)
        settings = {"base_url": server.url, "api_key": SecretStr(KEY), "timeout": 5.0, **options}
        opened.append(Meeting(server, OpenAILLM("m", backoff=backoff, **settings), slept))
        return opened[-1]

    yield make
    for meeting in opened:
        meeting.llm.close()
        meeting.server.close()


def test_a_request_is_asked_as_it_is_and_the_reply_comes_with_its_cost(meet: Meet) -> None:
    meeting = meet(answers("Hi."))
    reply = meeting.llm.complete(
        Request(HELLO.messages, temperature=0.5, max_tokens=9, seed=4, stop=("\n",))
    )
    assert (reply.text, reply.finish) == ("Hi.", Finish.STOP)
    assert (reply.tokens_in, reply.tokens_out, reply.cached) == (11, 7, False)
    assert reply.seconds > 0
    assert meeting.server.bodies == [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be short."},
                {"role": "user", "content": "Hello?"},
            ],
            "temperature": 0.5,
            "max_tokens": 9,
            "seed": 4,
            "stop": ["\n"],
        }
    ]
    assert meeting.server.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "fault",
    [
        *(refuses(status) for status in (408, 409, 429, 500, 502, 503, 529)),
        half_json(),
        half_json(cut_off=True),
        closes(),
        says(200, ["not a completion"]),
        says(200, {"choices": [{"index": 0}]}),
        says(200, {"detail": "warming up"}),
        answers(5),  # type: ignore[arg-type]
        Behaviour(500, b"<html>bad gateway</html>", {"X-From": "proxy"}),
    ],
    ids=lambda b: f"{b.status}-{b.body[:12]!r}-{b.claimed}-{b.closes}",
)
def test_what_may_pass_is_tried_again(meet: Meet, fault: Behaviour) -> None:
    meeting = meet(fault, fault, answers("at last"))
    assert meeting.llm.complete(HELLO).text == "at last"
    assert len(meeting.server.bodies) == 3
    assert len(meeting.slept) == 2


def test_a_server_that_says_nothing_is_tried_again(meet: Meet) -> None:
    meeting = meet(times_out(), answers("at last"), timeout=0.2)
    assert meeting.llm.complete(HELLO).text == "at last"


def test_after_the_last_try_the_error_tells_what_happened(meet: Meet) -> None:
    meeting = meet(then=refuses(503, "overloaded"), retries=2)
    with pytest.raises(ModelError, match=r"openai/m at http.*3 tries.*HTTP 503: overloaded"):
        meeting.llm.complete(HELLO)
    assert len(meeting.server.bodies) == 3
    silent = meet(then=times_out(), retries=0, timeout=0.2)
    with pytest.raises(ModelError, match=r"no answer within 0\.2 s"):
        silent.llm.complete(HELLO)


def test_no_server_at_all_is_a_model_error() -> None:
    pytest.importorskip("openai")
    with FaultyServer() as gone:
        url = gone.url
    with (
        closing(OpenAILLM("m", base_url=url, backoff=Backoff(0))) as llm,
        pytest.raises(ModelError, match="no connection"),
    ):
        llm.complete(HELLO)


def test_retry_after_in_seconds_or_as_a_date_is_waited(meet: Meet) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=50), usegmt=True)
    meeting = meet(
        refuses(429, headers={"Retry-After": "7"}),
        refuses(503, headers={"Retry-After": date}),
        answers("ok"),
    )
    meeting.llm.complete(HELLO)
    assert meeting.slept[0] == 7.0
    assert 30 < meeting.slept[1] <= 50


@pytest.mark.parametrize(("status", "words"), [(401, "key"), (403, "key"), (404, "base_url")])
def test_what_no_try_can_mend_is_a_setting_to_change(meet: Meet, status: int, words: str) -> None:
    meeting = meet(then=refuses(status, f"bad: {KEY}"))
    with pytest.raises(StoredConfigError, match=words) as caught:
        meeting.llm.complete(HELLO)
    assert "OPENAI_API_KEY" in str(caught.value) or status == 404
    assert KEY not in str(caught.value)
    assert len(meeting.server.bodies) == 1


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (refuses(400, "the prompt is too long", param="messages"), RequestRefusedError),
        (refuses(413, "the prompt is too long"), RequestRefusedError),
        (refuses(429, "the prompt is too long", code="insufficient_quota"), ModelError),
        (
            refuses(400, "max_tokens: the prompt is too long for 1024", param="max_tokens"),
            RequestRefusedError,
        ),
    ],
)
def test_what_the_server_refuses_is_not_tried_again(
    meet: Meet, fault: Behaviour, kind: type[ModelError]
) -> None:
    meeting = meet(fault)
    with pytest.raises(ModelError, match="the prompt is too long") as caught:
        meeting.llm.complete(HELLO)
    assert type(caught.value) is kind
    assert len(meeting.server.bodies) == 1


def test_a_schema_is_sent_strict_where_it_is_fit_for_that(meet: Meet) -> None:
    meeting = meet()
    assert meeting.llm.constrains
    meeting.llm.complete(Request(HELLO.messages, schema=SCHEMA))
    meeting.llm.complete(Request(HELLO.messages, schema={**SCHEMA, "required": []}))
    sent = [body["response_format"]["json_schema"] for body in meeting.server.bodies]
    assert [s["strict"] for s in sent] == [True, False]
    assert sent[0]["schema"] == SCHEMA


@pytest.mark.parametrize(
    ("refused", "message", "param"),
    [
        ("seed", "Unknown parameter: 'seed'", None),
        ("seed", "no", "seed"),
        ("temperature", "Unsupported value: 'temperature' must be 1 with this model", None),
        ("stop", "'stop' is not supported with this model", "stop"),
        ("max_tokens", "Use 'max_completion_tokens' instead of 'max_tokens'", "max_tokens"),
    ],
)
def test_a_refused_parameter_is_left_out_from_then_on(
    meet: Meet, refused: str, message: str, param: str | None
) -> None:
    request = Request(HELLO.messages, schema=SCHEMA, stop=("x",), max_tokens=9)
    meeting = meet(refuses(400, message, param=param))
    assert meeting.llm.complete(request).text == "ok"
    meeting.llm.complete(request)
    first, *later = meeting.server.bodies
    assert refused in first
    assert len(later) == 2
    for body in later:
        kept = {key for key in first if key != refused}
        added = {"max_completion_tokens"} if refused == "max_tokens" else set()
        assert set(body) == kept | added
        assert body.get("max_completion_tokens", 9) == 9
    assert meeting.llm.constrains
    assert meeting.slept == []


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("This model does not support response_format", None),
        ("Invalid schema for 'reply'", "response_format"),
        ("unsupported guided_json backend", None),
    ],
)
def test_a_refused_schema_loses_its_strictness_before_it_is_left_out(
    meet: Meet, message: str, param: str | None
) -> None:
    request = Request(HELLO.messages, schema=SCHEMA)
    refusal = refuses(400, message, param=param)
    meeting = meet(refusal, answers("loose"), refusal, answers("without"))
    assert meeting.llm.complete(request).text == "loose"
    assert meeting.llm.constrains
    assert meeting.llm.complete(request).text == "without"
    assert not meeting.llm.constrains
    meeting.llm.complete(request)
    forms = [body.get("response_format") for body in meeting.server.bodies]
    assert [form and form["json_schema"]["strict"] for form in forms] == [
        True,
        False,
        False,
        None,
        None,
    ]


def test_several_parameters_may_be_refused_one_after_the_other(meet: Meet) -> None:
    meeting = meet(
        refuses(400, "use max_completion_tokens", param="max_tokens"),
        refuses(422, "no", param="temperature"),
        refuses(400, "no", param="seed"),
    )
    assert meeting.llm.complete(HELLO).text == "ok"
    assert set(meeting.server.bodies[-1]) == {"model", "messages", "max_completion_tokens"}


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", Finish.STOP),
        ("eos_token", Finish.STOP),
        ("length", Finish.LENGTH),
        ("content_filter", Finish.OTHER),
        ("tool_calls", Finish.OTHER),
        (None, Finish.OTHER),
    ],
)
def test_why_a_reply_ended(meet: Meet, reason: str | None, finish: Finish) -> None:
    assert meet(answers("text", reason)).llm.complete(HELLO).finish is finish


def test_a_refusal_is_no_whole_reply(meet: Meet) -> None:
    reply = meet(answers(None, refusal="I will not.")).llm.complete(HELLO)
    assert (reply.text, reply.finish) == ("I will not.", Finish.OTHER)


def test_odd_bodies_of_other_servers(meet: Meet) -> None:
    parts = [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]
    message = {"role": "assistant", "content": parts}
    bare = says(200, {"choices": [{"message": message, "finish_reason": "stop"}]})
    meeting = meet(bare, answers(None), says(200, {"choices": []}), answers("at last"))
    reply = meeting.llm.complete(HELLO)
    assert reply.text == "one two"
    # No usage: 15 characters were asked and 7 answered; 4 make a token, or a part of one.
    assert (reply.tokens_in, reply.tokens_out) == (4, 2)
    assert meeting.llm.complete(HELLO).text == ""
    assert meeting.llm.complete(HELLO).text == "at last"  # no choice is a reply that broke


def test_no_more_calls_at_once_than_allowed(meet: Meet) -> None:
    slow = Behaviour(200, answers("ok").body, wait=0.05)
    meeting = meet(then=slow, concurrency=2)
    assert meeting.llm.concurrency == 2
    with ThreadPoolExecutor(6) as pool:
        replies = list(pool.map(meeting.llm.complete, [HELLO] * 6))
    assert [reply.text for reply in replies] == ["ok"] * 6
    assert meeting.server.at_once == 2


def test_a_lone_surrogate_is_refused_before_it_is_sent(meet: Meet) -> None:
    meeting = meet()
    with pytest.raises(ModelError, match="message 1 holds a lone surrogate at character 2"):
        meeting.llm.complete(Request((ChatMessage("user", "ab\ud800"),)))
    assert meeting.server.bodies == []


def test_name_and_identity_hold_the_server_and_no_secret(meet: Meet) -> None:
    meeting = meet()
    assert meeting.llm.name == "openai/m"
    assert meeting.llm.identity == f"openai/m@{meeting.server.url}"
    assert KEY not in repr(meeting.llm)


def test_the_environment_gives_address_and_key(meet: Meet, monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultyServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "from-environment")
        monkeypatch.setenv("OTHER_KEY", "from-another")
        for options, key in (
            ({}, "from-environment"),
            ({"api_key_env": "OTHER_KEY"}, "from-another"),
        ):
            with closing(OpenAILLM("m", **options)) as llm:
                llm.complete(HELLO)
            assert server.headers[-1]["authorization"] == f"Bearer {key}"


def test_openai_needs_a_key_and_a_server_of_ones_own_none(
    meet: Meet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        OpenAILLM("m")
    open_to_all = meet(refuses(400, "no key is no problem"), api_key=None)
    with pytest.raises(ModelError, match="400: no key is no problem"):
        open_to_all.llm.complete(HELLO)
    assert open_to_all.llm.complete(HELLO).text == "ok"


@pytest.mark.parametrize("url", ["https://me:pass@host/v1", "https://host/v1?key=pass", "host"])
def test_an_address_with_a_secret_is_refused_without_showing_it(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(ConfigError, match="base_url") as caught:
        OpenAILLM("m", api_key=SecretStr("k"))
    assert "pass@" not in str(caught.value)
    assert "=pass" not in str(caught.value)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingDependencyError, match=r"memgene\[openai\]"):
        OpenAILLM("m", base_url="http://127.0.0.1:1/v1")


@pytest.mark.slow
def test_a_real_server_is_met(smollm2: Path) -> None:
    """llama.cpp's own OpenAI-compatible server, with a real model behind it."""
    xllamacpp = pytest.importorskip("xllamacpp")
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(smollm2)
    wanted.n_ctx = 256
    wanted.n_parallel = 1
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = 1
    wanted.verbosity = -1
    wanted.api_keys = [KEY]
    server = xllamacpp.Server(wanted)
    url = f"{server.listening_address}/v1"
    with closing(OpenAILLM("any", base_url=url, api_key=SecretStr(KEY), timeout=60)) as llm:
        cut = llm.complete(Request((ChatMessage("user", "Tell me a long story."),), max_tokens=3))
        assert (cut.finish, cut.tokens_out) == (Finish.LENGTH, 3)
        assert cut.tokens_in > 5
        shaped = llm.complete(
            Request(
                (ChatMessage("user", "Is water wet?"),),
                schema={
                    "type": "object",
                    "properties": {"wet": {"type": "boolean"}},
                    "required": ["wet"],
                    "additionalProperties": False,
                },
                max_tokens=40,
            )
        )
        assert shaped.text.replace(" ", "").replace("\n", "") in ('{"wet":true}', '{"wet":false}')
        with pytest.raises(ModelError, match="context"):
            llm.complete(Request((ChatMessage("user", "word " * 400),), max_tokens=1))
    with (
        closing(OpenAILLM("any", base_url=url, api_key=SecretStr("wrong"))) as stranger,
        pytest.raises(ConfigError, match="refused the key"),
    ):
        stranger.complete(HELLO)
