"""A model's reply as items: whole, cut, looping or unusable. A cut item is never adopted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memgene.llm.protocol import Finish, Reply

FACT = "fact"
_FENCE = re.compile(r"^\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)
_SPLIT = re.compile(r"\s*[,;]\s*")
_INTEGER = re.compile(r"\d+")
_SPACES = re.compile(r"\s+")
_NOTHING = frozenset(("none", "null", "n/a", "unknown", "empty", "-"))
_LISTED = 6
_LOOPS_AFTER = 3
_LONGEST = 600


class State(StrEnum):
    """How much of a reply can be used."""

    WHOLE = "whole"
    CUT = "cut"
    UNUSABLE = "unusable"


@dataclass(frozen=True, slots=True)
class Item:
    """One fact as the model wrote it; nothing is checked yet. `turns` are numbers from 1."""

    fact: str
    persons: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    topic: str = ""
    location: str = ""
    date: str = ""
    turns: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """Equal for items that say the same in the same words."""
        return _SPACES.sub(" ", self.fact).strip(" .!").casefold()


@dataclass(frozen=True, slots=True)
class Reading:
    """Items of a reply in order, each once; `repeated` were dropped. `problem` is what to tell
    the model when the reply is not whole; `loops` says that it kept saying one thing."""

    items: tuple[Item, ...]
    state: State
    problem: str = ""
    repeated: int = 0
    loops: bool = False
    mended: bool = False


def schema(turns: int, most: int) -> dict[str, Any]:
    """JSON schema of at most `most` flat items about so many turns, every length bounded."""
    text = {"type": "string", "maxLength": 60}
    listed = {"type": "array", "items": text, "maxItems": _LISTED}
    number = {"type": "integer", "minimum": 1, "maximum": turns}
    item = {
        "type": "object",
        "properties": {
            FACT: {"type": "string", "minLength": 8, "maxLength": 240},
            "turns": {"type": "array", "items": number, "minItems": 1, "maxItems": 4},
            "persons": listed,
            "entities": listed,
            "location": text,
            "date": text,
            "topic": text,
            "keywords": listed,
        },
        "required": [FACT, "turns"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": item, "maxItems": most}},
        "required": ["facts"],
        "additionalProperties": False,
    }


def most_items(turns: int, characters: int) -> int:
    """Facts that so much talk may give: five for four turns or 600 characters, 4 to 48."""
    return min(max(4, turns + turns // 4, characters // 120), 48)


def most_tokens(items: int) -> int:
    """Tokens that so many facts may take, about 72 each."""
    return 128 + 72 * items


def read_reply(reply: Reply, repair: bool) -> Reading:
    """Items of a reply.

    With `repair`, complete items of a reply that was cut or is malformed are kept (the state says
    CUT when something may be missing after them); without it such a reply is unusable.
    """
    text = reply.text.strip()
    if not text:
        return Reading((), State.UNUSABLE, "it was empty")
    strict = _strict(text)
    if strict is not None:
        return _once(strict, State.WHOLE, "", mended=False, guarded=repair)
    cut = reply.finish is Finish.LENGTH
    if not repair:
        said = "it was cut off before its end" if cut else "it is not JSON of the form asked for"
        return Reading((), State.UNUSABLE, said)
    found, closed = _salvage(text)
    if not found:
        said = "it was cut off before its first fact ended" if cut else "it holds no JSON facts"
        return Reading((), State.UNUSABLE, said)
    if closed:
        return _once(found, State.WHOLE, "", mended=True)
    return _once(found, State.CUT, "it was cut off before its end", mended=True)


def _strict(text: str) -> list[Any] | None:
    """The list of a reply that is JSON as asked for, None otherwise."""
    fenced = _FENCE.match(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except ValueError:
        return None
    if isinstance(value, dict):
        value = value.get("facts")
    return value if isinstance(value, list) else None


def _salvage(text: str) -> tuple[list[Any], bool]:
    """Complete items of the first list in a text, and whether the list was closed."""
    start = text.find("[", max(text.find('"facts"'), 0))
    if start < 0:
        start = text.find("{") - 1
        if start < -1:
            return [], False
    found: list[Any] = []
    at = start + 1
    while at < len(text):
        char = text[at]
        if char == "]":
            return found, True
        if char == "{":
            end = _close(text, at)
            if end is None:
                return found, False
            found.append(_object(text[at:end]))
            at = end
        elif char == '"':
            end = _quote(text, at)
            if end is None:
                return found, False
            found.append(text[at + 1 : end - 1])
            at = end
        else:
            at += 1
    return found, False


def _close(text: str, start: int) -> int | None:
    """Behind the brace that closes the one at `start`; None where the text ends first."""
    depth, at = 0, start
    while at < len(text):
        char = text[at]
        if char == '"':
            end = _quote(text, at)
            if end is None:
                return None
            at = end
            continue
        depth += (char == "{") - (char == "}")
        at += 1
        if depth == 0:
            return at
    return None


def _quote(text: str, start: int) -> int | None:
    at = start + 1
    while at < len(text):
        if text[at] == "\\":
            at += 2
            continue
        if text[at] == '"':
            return at + 1
        at += 1
    return None


def _object(text: str) -> Any:
    """A complete object, mended where a comma or a quote is missing."""
    try:
        return json.loads(text)
    except ValueError:
        import json_repair

        return json_repair.loads(text)


def _once(
    values: Sequence[Any], state: State, problem: str, *, mended: bool, guarded: bool = True
) -> Reading:
    """Usable items, each once. A reply that loops counts as cut at its first repetition
    (`guarded`)."""
    items: dict[str, Item] = {}
    repeated = unusable = before_loop = 0
    for value in values:
        item = _item(value)
        if item is None:
            unusable += 1
        elif item.key in items:
            before_loop = before_loop if repeated else len(items)
            repeated += 1
        else:
            items[item.key] = item
    loops = repeated >= _LOOPS_AFTER
    if loops and guarded and state is State.WHOLE:
        state, problem = State.CUT, "it says the same again and again"
        items = dict(list(items.items())[:before_loop])
    if unusable and not items:
        return Reading((), State.UNUSABLE, f'its items have no "{FACT}"', repeated, loops)
    return Reading(tuple(items.values()), state, problem, repeated, loops, mended or bool(unusable))


def _item(value: Any) -> Item | None:
    """A value as an item, None where it tells no fact."""
    if isinstance(value, str):
        value = {FACT: value}
    if not isinstance(value, Mapping):
        return None
    fact = value.get(FACT)
    if not isinstance(fact, str) or not 0 < len(fact.strip()) <= _LONGEST:
        return None
    return Item(
        fact=" ".join(fact.split()),
        persons=_texts(value.get("persons")),
        entities=_texts(value.get("entities")),
        keywords=_texts(value.get("keywords")),
        topic=_text(value.get("topic")),
        location=_text(value.get("location")),
        date=_text(value.get("date")),
        turns=_numbers(value.get("turns")),
    )


def _text(value: Any) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return "" if text.casefold() in _NOTHING else text


def _texts(value: Any) -> tuple[str, ...]:
    listed: Iterable[Any] = _SPLIT.split(value) if isinstance(value, str) else value or ()
    if not isinstance(listed, list | tuple):
        return ()
    return tuple(dict.fromkeys(text for part in listed if (text := _text(part))))


def _numbers(value: Any) -> tuple[int, ...]:
    """Numbers in whatever form they came: 3, "3", "[3]", [3, "4"]."""
    if isinstance(value, bool):
        return ()
    if isinstance(value, int):
        return (value,)
    if isinstance(value, str):
        return tuple(dict.fromkeys(int(n) for n in _INTEGER.findall(value)))
    if isinstance(value, list | tuple):
        return tuple(dict.fromkeys(n for part in value for n in _numbers(part)))
    return ()
