"""`local/…`: llama.cpp in this process, with a real model of 135M parameters."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memgene.core import MissingDependencyError, ModelError, StoredConfigError
from memgene.llm.llamacpp import LlamaCppLLM, default_threads
from memgene.llm.protocol import ChatMessage, Finish, Reply, Request

pytestmark = pytest.mark.slow

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}


def asked(text: str, **options: object) -> Request:
    return Request((ChatMessage("user", text),), **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def llm(smollm2: Path) -> Iterator[LlamaCppLLM]:
    pytest.importorskip("xllamacpp")
    with closing(LlamaCppLLM("smollm2", context=256)) as opened:
        yield opened


def test_a_greedy_reply_is_the_same_whatever_was_asked_before(llm: LlamaCppLLM) -> None:
    question = asked("What is the capital of France?", max_tokens=8)
    first = llm.complete(question)
    llm.complete(asked("What is the capital of Spain?", max_tokens=4))
    again = llm.complete(question)
    assert first.text == again.text != ""
    assert (first.tokens_out, first.finish) == (8, Finish.LENGTH)
    assert first.tokens_in > 8
    assert first.seconds > 0


def test_a_seed_decides_a_warm_reply(llm: LlamaCppLLM) -> None:
    def told(seed: int) -> str:
        return llm.complete(asked("Tell a story.", temperature=1.5, max_tokens=8, seed=seed)).text

    assert told(1) == told(1)
    assert len({told(seed) for seed in (1, 2, 3)}) > 1


def test_a_schema_holds_the_reply_while_it_is_written(llm: LlamaCppLLM) -> None:
    reply = llm.complete(asked("Name a person and an age.", schema=PERSON, max_tokens=60))
    assert reply.finish is Finish.STOP
    person = json.loads(reply.text)
    assert set(person) == {"name", "age"}
    assert 0 <= person["age"] <= 120
    assert llm.constrains


def test_a_reply_that_was_cut_says_so(llm: LlamaCppLLM) -> None:
    cut = llm.complete(asked("Name a person and an age.", schema=PERSON, max_tokens=4))
    assert cut.finish is Finish.LENGTH
    # The context is full before max_tokens is reached.
    full = llm.complete(asked("Tell a long story. " * 40, max_tokens=200))
    assert full.finish is Finish.LENGTH
    assert full.tokens_out < 200


def test_stop_words_end_a_reply(llm: LlamaCppLLM) -> None:
    whole = llm.complete(asked("Tell a story.", max_tokens=12)).text
    word = whole.split()[2]
    stopped = llm.complete(asked("Tell a story.", max_tokens=12, stop=(word,)))
    assert stopped.text == whole.partition(word)[0]
    assert stopped.finish is Finish.STOP


def test_a_prompt_that_does_not_fit_is_refused_not_cut(llm: LlamaCppLLM) -> None:
    with pytest.raises(ModelError, match=r"local/smollm2: request \(\d+ tokens\).*256"):
        llm.complete(asked("word " * 500))


def test_what_llama_cpp_cannot_do_is_a_model_error(llm: LlamaCppLLM) -> None:
    with pytest.raises(ModelError, match=r"refused the request.*nonsense"):
        llm.complete(asked("x", schema={"type": "nonsense"}))
    with pytest.raises(ModelError, match="lone surrogate"):
        llm.complete(asked("a\udc00"))
    assert llm.complete(asked("Say hi.", max_tokens=2)).tokens_out > 0


def test_a_reply_that_takes_too_long_is_stopped(llm: LlamaCppLLM) -> None:
    with (
        closing(LlamaCppLLM("smollm2", context=256, timeout=1e-6)) as hasty,
        pytest.raises(ModelError, match="time-out"),
    ):
        hasty.complete(asked("Tell a story.", max_tokens=100))


def talk(llm: LlamaCppLLM) -> None:
    for _ in range(1000):
        llm.complete(asked("Tell a long story.", max_tokens=200))


def test_an_interrupt_ends_the_reply_and_the_model_lives_on(llm: LlamaCppLLM) -> None:
    llm.complete(asked("Say hi.", max_tokens=1))
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        talk(llm)
    timer.join()
    assert llm.complete(asked("Say hi.", max_tokens=2)).tokens_out > 0


def test_threads_take_turns(llm: LlamaCppLLM) -> None:
    replies: dict[int, Reply] = {}
    question = asked("What is the capital of France?", max_tokens=4)

    def ask(number: int) -> None:
        replies[number] = llm.complete(question)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({reply.text for reply in replies.values()}) == 1
    assert len(replies) == 3
    assert llm.concurrency == 1


def test_weights_are_shared_in_a_process_and_let_go_by_the_last(
    llm: LlamaCppLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    import xllamacpp

    made = []
    real = xllamacpp.Server

    def counted(wanted: object) -> object:
        made.append(1)
        return real(wanted)

    monkeypatch.setattr(xllamacpp, "Server", counted)
    hello = asked("Say hi.", max_tokens=1)
    one, other = (LlamaCppLLM("smollm2", context=128) for _ in range(2))
    assert made == []
    one.complete(hello)
    other.complete(hello)
    assert len(made) == 1
    one.close()
    LlamaCppLLM("smollm2", context=128).complete(hello)
    assert len(made) == 1
    other.close()
    one.complete(hello)
    assert len(made) == 2
    one.close()


def test_it_is_known_by_its_file_and_context(llm: LlamaCppLLM, smollm2: Path) -> None:
    assert llm.name == "local/smollm2"
    size = smollm2.stat().st_size
    assert llm.identity.startswith(f"local/{smollm2.name}:{size}:")
    assert llm.identity.endswith("@256")
    assert LlamaCppLLM(str(smollm2), context=256).identity == llm.identity
    assert LlamaCppLLM(str(smollm2)).identity != llm.identity


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF" + bytes(64))
    with (
        closing(LlamaCppLLM(str(damaged))) as llm,
        pytest.raises(StoredConfigError, match=r"cannot load .*damaged\.gguf"),
    ):
        llm.complete(asked("hi"))


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingDependencyError, match=r"memgene\[local\]"):
        LlamaCppLLM("smollm2")


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 1), (8, 7)])
def test_one_core_is_left_to_others(
    cores: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    assert default_threads() == threads


def test_llama_cpp_is_silent(llm: LlamaCppLLM, capfd: pytest.CaptureFixture[str]) -> None:
    with closing(LlamaCppLLM("smollm2", context=64)) as other:
        other.complete(asked("Say hi.", max_tokens=1))
    time.sleep(0.05)  # its log is written by a thread
    assert capfd.readouterr() == ("", "")
