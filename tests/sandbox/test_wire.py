"""Frames: what passes and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from memgene.sandbox.wire import HEADER, EncodeError, FrameError, TooLargeError, decode, encode


def test_a_frame_is_four_bytes_of_length_and_json() -> None:
    assert encode({"a": "ü"}, 100) == b"\x00\x00\x00\x0a" + '{"a":"ü"}'.encode()


def test_the_length_counts_bytes_against_the_limit() -> None:
    assert len(encode("üü", 6)) == HEADER.size + 6
    with pytest.raises(TooLargeError, match="6 bytes, 5 allowed"):
        encode("üü", 5)


def _cycle() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "value", [float("nan"), float("-inf"), {1, 2}, b"bytes", "\udc80", {(1, 2): 3}, _cycle()]
)
def test_what_has_no_json_form_is_refused(value: Any) -> None:
    with pytest.raises(EncodeError):
        encode(value, 1000)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[1,]",
        b"NaN",
        b"[Infinity]",
        b"-1e999",
        b'"\xff"',
        rb'"\ud800"',
        rb'{"\udfff": 1}',
        b"[" * 200_000,
        b"1" * 5000,
    ],
)
def test_bytes_that_are_no_message_are_refused(body: bytes) -> None:
    with pytest.raises(FrameError):
        decode(body)


def test_an_escaped_pair_of_surrogates_is_one_character() -> None:
    assert decode(rb'"\ud83d\ude00 \u00fc \\ud800"') == "😀 ü \\ud800"
