"""What a program's read gave, checked: a worker's reply is nobody's word."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memgene.core import Hit
from memgene.sandbox import FailureKind, GuestError


@dataclass(frozen=True, slots=True)
class Recalled:
    """The text of a read and what the program logged. `hits` are those of its bank, the first
    `shown` of which the text is made of; None where the text is the program's own."""

    text: str
    logs: tuple[str, ...]
    hits: tuple[Hit, ...] | None = None
    shown: int = 0


def hits_of(reply: Mapping[str, Any]) -> tuple[tuple[Hit, ...] | None, int]:
    """The hits in a worker's reply, and how many stand in its text.

    Raises GuestError where they have no form.
    """
    given, shown = reply.get("hits"), reply.get("shown", 0)
    if given is None:
        return None, 0
    try:
        hits = tuple(_hit(each) for each in given)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise GuestError(FailureKind.OUTPUT, "read", "the worker's hits have no form") from error
    if not isinstance(shown, int) or not 0 <= shown <= len(hits):
        raise GuestError(FailureKind.OUTPUT, "read", "the worker shows hits it does not have")
    return hits, shown


def whole(text: str) -> str:
    """The text without half characters, which a program cannot send, but a broken worker could."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _hit(given: Mapping[str, Any]) -> Hit:
    score = float(given["score"])
    if not math.isfinite(score):
        raise ValueError(score)
    time, metadata = given["time"], given["metadata"]
    return Hit(
        id=_text(given["id"]),
        text=_text(given["text"]),
        score=score,
        source=None if given["source"] is None else _text(given["source"]),
        rendered=_text(given["rendered"]),
        event_time=None if time is None else datetime.fromisoformat(time),
        speaker=None if given["speaker"] is None else _text(given["speaker"]),
        metadata=dict(metadata),
    )


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError(given)
    return whole(given)
