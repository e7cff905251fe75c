"""A reply of llama.cpp as it is gathered: whole, cut, refused."""

from __future__ import annotations

from typing import Any

import pytest

from memgene.llm.llamacpp_stream import Stream
from memgene.llm.protocol import Reply


def test_chunks_become_one_reply() -> None:
    stream = Stream()
    for text, finish in (("Hel", None), ("lo", "stop")):
        assert not stream({"choices": [{"delta": {"content": text}, "finish_reason": finish}]})
    assert stream.reply(1.5) == Reply("Hello", seconds=1.5)
    assert not stream.refused


@pytest.mark.parametrize(("code", "refused"), [(400, True), (500, False), (None, False)])
def test_a_refusal_is_told_from_other_trouble(code: int | None, refused: bool) -> None:
    stream = Stream()
    assert stream({"error": {"code": code, "message": "the request exceeds the context"}})
    assert stream.reply(0.0) == "the request exceeds the context"
    assert stream.refused is refused


def test_what_the_binding_will_not_take_is_refused() -> None:
    def call(body: Any, stream: Any) -> None:
        raise ValueError("no grammar for nonsense")

    stream = Stream()
    stream.run(call, {})
    assert stream.reply(0.0) == "llama.cpp refused the request: no grammar for nonsense"
    assert stream.refused
