"""Find the JSON document in what a model wrote, and tell a whole one from one that was cut off.

Nothing here closes what the model left open: a reply that ends inside a document, a fence or a
thought is refused. Repair is for documents that are closed but not quite JSON.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from memgene.core import ReplyError

_FENCE = re.compile(r"`{3,}")
_FENCE_INFO = re.compile(r"[\w+.-]*")
_THOUGHT = re.compile(r"\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_OPEN_THOUGHT = re.compile(r"\s*<think(?:ing)?>")
# What may follow an opening bracket if it begins JSON rather than prose; `$` is a reply cut there.
_BEGINS = {
    "{": re.compile(r"\{\s*(?:[\"'“}/]|[\w-]+\s*(?::|$)|$)"),
    "[": re.compile(r"\[\s*(?:[\"'\[\]{/\d-]|(?:true|false|null|True|False|None)\b|$)"),
}
_CLOSES = {"{": "}", "[": "]"}
_NO_VALUE = re.compile(r":\s*[,}\]]")
_MAX_DEPTH = 60
_MAX_REPAIR = 200_000  # characters; repair is much slower than parsing


@dataclass(frozen=True, slots=True)
class Document:
    """A balanced piece of the reply that begins like JSON. `whole` is False when it shows gaps
    (an ellipsis, a key without a value) that a repair would fill with invented content."""

    text: str
    fenced: bool
    whole: bool


def documents(reply: str) -> tuple[Document, ...]:
    """The outermost JSON-like documents of a reply, in their order.

    Raises:
        ReplyError: the reply was cut off inside a thought, a fence or a document, or a document's
            brackets do not match.
    """
    text = _without_thought(reply)
    found: list[Document] = []
    fence = ""
    position = 0
    while position < len(text):
        char = text[position]
        if char == "`" and (mark := _FENCE.match(text, position)):
            position = mark.end()
            if not fence:
                fence = mark.group()
                info = _FENCE_INFO.match(text, position)
                position = info.end() if info else position
            elif len(mark.group()) >= len(fence):
                fence = ""
        elif char in _BEGINS and _BEGINS[char].match(text, position):
            end, whole = _scan(text, position)
            found.append(Document(text[position:end], bool(fence), whole))
            position = end
        else:
            position += 1
    if fence:
        raise ReplyError("it was cut off: a code fence is not closed")
    return tuple(found)


def preferred(found: tuple[Document, ...], opening: str) -> tuple[Document, ...]:
    """Documents that begin with one of the brackets in `opening`, the likeliest answer first: the
    last one in a fence; without fences all, from the last to the first."""
    fitting = [d for d in found if d.text[0] in opening]
    fenced = [d for d in fitting if d.fenced]
    return (fenced[-1],) if fenced else tuple(reversed(fitting))


def load(document: Document, *, repair: bool) -> tuple[Any, bool]:
    """The document's value, and whether it had to be repaired.

    Raises:
        ReplyError: it is not JSON, and repair is not wanted or would have to invent.
    """
    try:
        return json.loads(document.text), False
    except ValueError as error:  # also integers too long to convert
        fault = _explained(error)
    if not repair:
        raise ReplyError(f"it is not valid JSON: {fault}")
    if not document.whole:
        raise ReplyError(f"the JSON leaves something out: {fault}")
    if len(document.text) > _MAX_REPAIR:
        raise ReplyError(f"it is not valid JSON, and too long to repair: {fault}")
    return _repaired(document.text, fault), True


def _repaired(text: str, fault: str) -> Any:
    import json_repair

    try:
        value = json_repair.repair_json(text, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError) as error:  # such as integers too long to convert
        raise ReplyError(f"it is not valid JSON: {fault}") from error
    if not isinstance(value, dict if text[0] == "{" else list):
        raise ReplyError(f"it is not valid JSON: {fault}")
    return value


def _explained(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno} column {error.colno}"
    return str(error).partition(";")[0]


def _without_thought(reply: str) -> str:
    text = reply.removeprefix("\ufeff")
    thought = _THOUGHT.match(text)
    if thought:
        return text[thought.end() :]
    if _OPEN_THOUGHT.match(text):
        raise ReplyError("it was cut off: it ends before the thinking does")
    return text


def _scan(text: str, start: int) -> tuple[int, bool]:
    """End of the document that begins at `start`, and whether it is whole.

    On valid JSON this is exact. Beyond it, comments and single-quoted strings are understood.
    """
    open_brackets: list[str] = []
    whole = True
    token_start = False  # whether a value or key may begin here
    position = start
    while position < len(text):
        char = text[position]
        if char == '"' or (char == "'" and token_start):
            position = _string_end(text, position)
            token_start = False
            continue
        if char == "/" and (end := _comment_end(text, position)):
            position = end
            continue
        if char in _CLOSES:
            open_brackets.append(char)
            if len(open_brackets) > _MAX_DEPTH:
                raise ReplyError(f"its JSON is nested deeper than {_MAX_DEPTH} levels")
        elif char in "}]":
            if _CLOSES[open_brackets.pop()] != char:
                raise ReplyError(f"the brackets of its JSON do not match: unexpected {char!r}")
            if not open_brackets:
                return position + 1, whole
        elif char == "…" or text.startswith("...", position) or _NO_VALUE.match(text, position):
            whole = False
        if not char.isspace():
            token_start = char in "{[,:"
        position += 1
    raise ReplyError("it was cut off: its JSON is not closed")


def _string_end(text: str, start: int) -> int:
    quote = text[start]
    position = start + 1
    while position < len(text):
        if text[position] == "\\":
            position += 2
            continue
        if text[position] == quote and (quote == '"' or _ends_token(text, position + 1)):
            return position + 1
        position += 1
    raise ReplyError("it was cut off: a text in its JSON is not closed")


def _ends_token(text: str, position: int) -> bool:
    """Whether a single quote before `position` closes its string rather than being in a word."""
    rest = text[position : position + 200].lstrip()
    return not rest or rest[0] in ",:}]/"


def _comment_end(text: str, start: int) -> int | None:
    if text.startswith("/*", start):
        end = text.find("*/", start + 2)
        if end < 0:
            raise ReplyError("it was cut off: a comment in its JSON is not closed")
        return end + 2
    if text.startswith("//", start) and text[start - 1] != ":":
        end = text.find("\n", start)
        return len(text) if end < 0 else end
    return None
