"""A language model by its settings; no call is made to load it."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

import pytest

from memgene.core import ConfigError, ModelError
from memgene.llm.protocol import ChatMessage, Request
from memgene.llm.registry import load_llm
from memgene.settings import LLMSettings
from memgene.testing.llm import FaultyServer, refuses

HELLO = Request((ChatMessage("user", "Hello?"),))
KEY = "sk-very-secret-0123"


def test_offline_is_no_language_model() -> None:
    assert LLMSettings().offline
    with pytest.raises(ConfigError, match="offline"):
        load_llm(LLMSettings())


def test_every_kind_is_loaded_by_its_name(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    (tmp_path / "calls").write_text("")
    for model in (
        "openai/some/model:free",
        f"command:{sys.executable} -c 'print(1)'",
        f"files:{tmp_path}",
        f"replay:{tmp_path / 'calls'}",
    ):
        settings = LLMSettings(model=model, base_url="http://127.0.0.1:1/v1", concurrency=3)
        with closing(load_llm(settings)) as llm:
            assert llm.name == model
            assert llm.concurrency == (64 if model.startswith("replay") else 3)


def test_without_numbers_of_ones_own_a_server_gets_many_calls_and_others_one() -> None:
    pytest.importorskip("openai")
    with closing(load_llm(LLMSettings(model="openai/m", base_url="http://127.0.0.1:1"))) as llm:
        assert llm.concurrency == 64
    assert load_llm(LLMSettings(model="command:sh")).concurrency == 1


@pytest.mark.slow
def test_a_local_model_is_loaded_at_its_first_call(smollm2: Path) -> None:
    pytest.importorskip("xllamacpp")
    settings = LLMSettings(model=f"local/{smollm2}", context=128, threads=1)
    with closing(load_llm(settings)) as llm:
        assert llm.identity.endswith("@128")
        assert llm.complete(Request(HELLO.messages, max_tokens=1)).tokens_out == 1


def test_tries_and_patience_are_those_of_the_settings() -> None:
    pytest.importorskip("openai")
    with FaultyServer(then=refuses(500)) as server:
        settings = LLMSettings(model="openai/m", base_url=server.url, retries=0, timeout=2)
        with closing(load_llm(settings)) as llm, pytest.raises(ModelError, match="after 1 try"):
            llm.complete(HELLO)
        assert len(server.bodies) == 1
    command = f"command:{sys.executable} -c 'import time; time.sleep(60)'"
    with pytest.raises(ModelError, match=r"within 0\.1 s"):
        load_llm(LLMSettings(model=command, timeout=0.1)).complete(HELLO)


def test_whoever_waits_for_files_can_be_told(tmp_path: Path) -> None:
    lines: list[str] = []
    llm = load_llm(LLMSettings(model=f"files:{tmp_path}", timeout=1e-9), lines.append)
    with pytest.raises(ModelError):
        llm.complete(HELLO)
    assert lines == [f"files: waiting for {tmp_path}/0001.reply.md"]


def test_what_is_recorded_can_be_replayed(tmp_path: Path) -> None:
    record = tmp_path / "calls.jsonl"
    recording = load_llm(LLMSettings(model="command:cat", record=record))
    assert recording.name == "command:cat"
    reply = recording.complete(HELLO)
    replayed = load_llm(LLMSettings(model=f"replay:{record}")).complete(HELLO)
    assert (replayed.text, replayed.tokens_out) == (reply.text, reply.tokens_out)


def test_a_key_goes_to_the_server_and_nowhere_else(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    record = tmp_path / "calls.jsonl"
    script = [refuses(status, f"you said {KEY}") for status in (400, 401, 404, 500)]
    with FaultyServer(script) as server:
        settings = LLMSettings(
            model="openai/m", base_url=server.url, api_key=KEY, retries=0, record=record
        )
        shown = [repr(settings), str(settings), settings.model_dump_json()]
        with closing(load_llm(settings)) as llm:
            shown += [llm.name, llm.identity, repr(llm)]
            for _ in script:
                with pytest.raises((ConfigError, ModelError), match="you said") as caught:
                    llm.complete(HELLO)
                shown.append(str(caught.value))
            llm.complete(HELLO)
        shown.append(record.read_text())
        assert json.loads(shown[-1])["reply"]["text"] == "ok"
        assert len(server.headers) == 5
        assert {h["authorization"] for h in server.headers} == {f"Bearer {KEY}"}
    for text in shown:
        assert KEY not in text
