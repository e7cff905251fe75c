"""What may be handed to `Memory.add`, turned into an episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memgene.core import Episode, InputError, Message, stable_id

Messages = str | Episode | Message | Mapping[str, Any] | Sequence[Message | Mapping[str, Any]]
_KEYS = {"role", "speaker", "name", "content", "text", "time", "id", "caption"}


def read_time(value: datetime | str | None, name: str = "event_time") -> datetime | None:
    """A moment; text must be ISO 8601. A moment without a zone stays without one."""
    if value is None or isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise InputError(f"{name} must be a datetime or ISO 8601 text, got {value!r}")
    try:
        return datetime.fromisoformat(value)
    except ValueError as error:
        raise InputError(f"{name} is not ISO 8601: {value!r}") from error


def read_messages(given: Messages) -> tuple[Message, ...]:
    """The messages in what was given; a text is one message without a speaker."""
    if isinstance(given, str):
        return (Message(given),)
    if isinstance(given, Episode):
        return given.messages
    if isinstance(given, Message):
        return (given,)
    if isinstance(given, Mapping):
        return (_message(given, 0),)
    if isinstance(given, Sequence):
        return tuple(
            one if isinstance(one, Message) else _message(one, place)
            for place, one in enumerate(given)
        )
    raise InputError(
        f"add takes text, messages or an Episode, not {type(given).__name__}; "
        'a message is {"role": …, "content": …}'
    )


def episode_of(
    given: Messages,
    *,
    event_time: datetime | None = None,
    source: str | None = None,
    run_id: str | None = None,
) -> Episode:
    """The episode that will be written.

    Its id is `source`, else the run, else a hash of the messages, so that handing in the same
    messages twice names the same episode.
    """
    if isinstance(given, Episode):
        if source is not None and source != given.id:
            raise InputError(f"source {source!r} contradicts the episode's id {given.id!r}")
        return given
    messages = read_messages(given)
    if not messages:
        raise InputError("add was given no message")
    name = source or run_id or _name(messages)
    return Episode(id=name, messages=messages, group=name, time=event_time, source=source)


def _name(messages: Sequence[Message]) -> str:
    said = (f"{m.speaker}\x1e{m.content}" for m in messages)
    # A lone surrogate is the bank's to refuse, with a receipt; naming must not fail on it.
    return stable_id(*(s.encode("utf-8", "backslashreplace").decode("utf-8") for s in said))


def _message(given: Any, place: int) -> Message:
    where = f"message {place}"
    if not isinstance(given, Mapping):
        raise InputError(f"{where} is a {type(given).__name__}, not a mapping or Message")
    unknown = sorted(str(k) for k, v in given.items() if k not in _KEYS and v is not None)
    if unknown:
        raise InputError(
            f"{where} has {', '.join(map(repr, unknown))}, which a memory does not hold; "
            f"it takes {', '.join(sorted(_KEYS))}"
        )
    if "content" in given and "text" in given:
        raise InputError(f"{where} has both 'content' and 'text'; give one")
    speaker = given.get("speaker") or given.get("name") or given.get("role")
    return Message(
        text=_words(given.get("content", given.get("text")), where),
        id=given.get("id"),
        speaker=speaker,
        time=read_time(given.get("time"), f"{where}: time"),
        caption=given.get("caption"),
    )


def _words(content: Any, where: str) -> str:
    """Text, or the text parts of a list as chat interfaces give them."""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        parts = [p.get("text") if isinstance(p, Mapping) else None for p in content]
        if parts and all(isinstance(p, str) for p in parts):
            return "\n".join(str(p) for p in parts)
    raise InputError(f"{where} needs 'content' as text or as a list of text parts")
