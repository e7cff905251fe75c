"""What may be handed to `Memory.add`, turned into an episode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memgene.api import checking
from memgene.core import Episode, InputError, Message, stable_id

Messages = str | Episode | Message | Mapping[str, Any] | Sequence[Message | Mapping[str, Any]]
_KEYS = {"role", "speaker", "name", "content", "text", "time", "id", "caption"}
_NOT_KEPT = ("annotations", "audio", "function_call", "refusal", "tool_call_id", "tool_calls")
"""What chat interfaces give beside the words of a message."""
_SPEAKERS = ("speaker", "name", "role")


@dataclass(frozen=True, slots=True)
class Handed:
    """An episode to write, and per message why it has no words, or what of it is not kept."""

    episode: Episode
    notes: tuple[str, ...]

    def __iter__(self) -> Iterator[tuple[Message, str]]:
        return zip(self.episode.messages, self.notes, strict=True)


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


def read(
    given: Messages,
    *,
    event_time: datetime | None = None,
    source: str | None = None,
    run_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Handed:
    """The episode that will be written.

    Its id is `source`, else the run, else a hash of the messages, so that handing in the same
    messages twice names the same episode. An Episode takes the time and metadata it does not have
    itself. Raises InputError for what is no message, or contradicts the episode.
    """
    if source is not None:
        checking.text(source, "source")
    extra = checking.mapping(metadata, "metadata")
    if isinstance(given, Episode):
        return Handed(_completed(given, event_time, source, extra), ("",) * len(given.messages))
    pairs = _pairs(given)
    messages = tuple(message for message, _ in pairs)
    if not messages:
        raise InputError("add was given no message")
    name = source or run_id or _name(messages)
    episode = Episode(name, messages, name, event_time, source, extra)
    return Handed(episode, tuple(note for _, note in pairs))


def _completed(
    given: Episode, time: datetime | None, source: str | None, metadata: Mapping[str, Any]
) -> Episode:
    """The episode with what it did not say itself."""
    checking.text(given.id, "the episode's id")
    for place, message in enumerate(given.messages):
        _checked(message, f"message {place}")
    own = checking.mapping(given.metadata, "the episode's metadata")
    if not given.messages:
        raise InputError("add was given an episode without a message")
    if source is not None and source != given.id:
        raise InputError(f"source {source!r} contradicts the episode's id {given.id!r}")
    if None not in (time, given.time) and time != given.time:
        raise InputError(f"event_time {time} contradicts the episode's time {given.time}")
    for key, value in metadata.items():
        if key in own and own[key] != value:
            raise InputError(
                f"metadata[{key!r}] {value!r} contradicts the episode's, which is {own[key]!r}"
            )
    return replace(given, time=given.time or time, metadata={**own, **metadata})


def _pairs(given: Messages) -> tuple[tuple[Message, str], ...]:
    """Each message in what was given, with its note; a text is one message without a speaker."""
    if isinstance(given, str):
        return ((Message(given), ""),)
    if isinstance(given, Message | Mapping):
        return (_message(given, 0),)
    if isinstance(given, Sequence):
        return tuple(_message(one, place) for place, one in enumerate(given))
    raise InputError(
        f"add takes text, messages or an Episode, not {type(given).__name__}; "
        'a message is {"role": …, "content": …}'
    )


def _name(messages: Sequence[Message]) -> str:
    said = (f"{m.speaker}\x1e{m.content}" for m in messages)
    # A lone surrogate is the bank's to refuse, with a receipt; naming must not fail on it.
    return stable_id(*(s.encode("utf-8", "backslashreplace").decode("utf-8") for s in said))


def _message(given: Any, place: int) -> tuple[Message, str]:
    where = f"message {place}"
    if isinstance(given, Message):
        return _checked(given, where), ""
    if not isinstance(given, Mapping):
        raise InputError(f"{where} is a {type(given).__name__}, not a mapping or Message")
    known = {*_KEYS, *_NOT_KEPT}
    unknown = sorted(str(k) for k, v in given.items() if k not in known and v is not None)
    if unknown:
        raise InputError(
            f"{where} has {', '.join(map(repr, unknown))}, which a memory does not hold; "
            f"it takes {', '.join(sorted(_KEYS))}"
        )
    if "content" in given and "text" in given:
        raise InputError(f"{where} has both 'content' and 'text'; give one")
    left = [key for key in _NOT_KEPT if given.get(key)]
    content = given.get("content", given.get("text"))
    wordless = content is None and ("content" in given or "text" in given or bool(left))
    names = [checking.optional_text(given.get(k), f"{where}: {k}") for k in _SPEAKERS]
    message = Message(
        text="" if wordless else _words(content, where),
        id=checking.optional_text(given.get("id"), f"{where}: id"),
        speaker=next(filter(None, names), None),
        time=read_time(given.get("time"), f"{where}: time"),
        caption=checking.optional_text(given.get("caption"), f"{where}: caption"),
    )
    notes = ["it has no words: its content is null"] if wordless else []
    notes += [f"a memory does not keep its {' and '.join(left)}"] if left else []
    return message, "; ".join(notes)


def _checked(given: Message, where: str) -> Message:
    """A Message whose parts are what they say."""
    checking.instance(given, Message, where, "a Message")
    checking.instance(given.text, str, f"{where}: text", "text")
    for name in ("id", "speaker", "caption"):
        checking.optional_text(getattr(given, name), f"{where}: {name}")
    if given.time is not None:
        checking.instance(given.time, datetime, f"{where}: time", "a datetime or None")
    return given


def _words(content: Any, where: str) -> str:
    """Text, or the text parts of a list as chat interfaces give them."""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        parts = [p.get("text") if isinstance(p, Mapping) else None for p in content]
        if parts and all(isinstance(p, str) for p in parts):
            return "\n".join(str(p) for p in parts)
    raise InputError(f"{where} needs 'content' as text or as a list of text parts")
