"""Messages between processes: four bytes of length (big-endian), then UTF-8 JSON.

Neither side trusts the other's bytes: NaN and infinities, lone surrogates, nesting beyond the
recursion limit and lengths above the cap are refused in both directions.
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any, Final

HEADER: Final = struct.Struct(">I")


class EncodeError(ValueError):
    """A value has no JSON form: its type, NaN, a cycle, a lone surrogate."""


class TooLargeError(ValueError):
    """A message is longer than may be."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"{size:,} bytes, {limit:,} allowed")
        self.size = size
        self.limit = limit


class FrameError(ValueError):
    """Received bytes are no message."""


def _refuse(name: str) -> float:
    raise FrameError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise FrameError(f"{text[:30]} is out of range")
    return number


_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_DECODE_OWN = json.JSONDecoder().decode
_DECODE = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite).decode


def encode(message: Any, limit: int) -> bytes:
    """One frame. Raises EncodeError, and TooLargeError above `limit` bytes of JSON."""
    try:
        body = _ENCODE(message).encode()
    except (TypeError, ValueError, RecursionError) as problem:
        raise EncodeError(f"{type(problem).__name__}: {problem}"[:500]) from None
    if len(body) > limit:
        raise TooLargeError(len(body), limit)
    return HEADER.pack(len(body)) + body


def decode(body: bytes | bytearray | memoryview) -> Any:
    """The value of one frame's JSON. Raises FrameError."""
    try:
        text = str(body, "utf-8")
        value = _DECODE(text)
        if "\\u" in text:
            _ENCODE(value).encode()  # an escaped lone surrogate passes the decoder
    except (ValueError, RecursionError) as problem:
        raise FrameError(f"{type(problem).__name__}: {problem}"[:300]) from None
    return value


def decode_own(body: bytes) -> Any:
    """The value of a frame that `encode` made, without looking for what it refuses."""
    return _DECODE_OWN(str(body, "utf-8"))
