"""From a model's reply to a new program: the one way in."""

from __future__ import annotations

import re

from memgene.llm.protocol import Finish
from memgene.programs.patching.apply import apply_hunks
from memgene.programs.patching.blocks import SEARCH, read_blocks
from memgene.programs.patching.fences import fenced
from memgene.programs.patching.message import read_message
from memgene.programs.patching.patched import Form, Patched, PatchError, PatchFault
from memgene.programs.patching.v4a import BEGIN, END, FILE, UPDATE, V4A, read_v4a
from memgene.programs.patching.whole import HOW, Whole, read_whole
from memgene.programs.syntax import missing_names

_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>(?:.*?(</think(?:ing)?>)|.*)", re.DOTALL | re.I)
_DIFF = ("diff", "patch", "udiff")


def apply_reply(source: str, reply: str, *, finish: Finish = Finish.STOP) -> Patched:
    """The program after the change that a reply describes, with the reply's commit message.

    Three forms are understood: V4A (or a unified diff in a fence), SEARCH/REPLACE blocks, and the
    whole program anew. Lines are looked up exactly, then without blanks at line ends, then with
    indentation off by one amount; a hunk that fits several places is refused unless its hint
    leaves one. Either every change is applied or none.

    Args:
        source: the program as the model saw it.
        reply: the model's text.
        finish: why the model stopped; only a whole reply is used.

    Raises:
        PatchError: the reply is empty, was cut off, changes nothing, or does not fit. The message
            is written for the model that must send another.
    """
    if finish is not Finish.STOP:
        how = "at the limit of tokens" if finish is Finish.LENGTH else "before its end"
        message = f"the reply was cut off {how}; send a shorter one, with small hunks"
        raise PatchError(PatchFault.TRUNCATED, message)
    whole = reply.encode("utf-8", "replace").decode("utf-8")  # without lone surrogates
    text = _spoken(whole.replace("\r\n", "\n").replace("\r", "\n"))
    if not text.strip():
        raise PatchError(PatchFault.EMPTY, f"the reply is empty. {HOW}")
    patched = _read(source, text)
    if patched.source == source:
        message = "the change leaves the program as it was; change something, or repair the patch"
        raise PatchError(PatchFault.NO_CHANGE, message)
    if not patched.source.strip():
        raise PatchError(PatchFault.NO_CHANGE, "the change would empty the program")
    return patched


def _spoken(text: str) -> str:
    """The reply without the thoughts it begins with."""
    thought = _THOUGHT.match(text)
    if thought is None:
        return text
    if thought[1] is None:
        message = "the reply ends inside <think>, so it was cut off; think less, and send the patch"
        raise PatchError(PatchFault.TRUNCATED, message)
    return text[thought.end() :]


def _read(source: str, text: str) -> Patched:
    if BEGIN.search(text) or UPDATE.search(text):
        return _from_v4a(source, *_enveloped(text))
    search = SEARCH.search(text)
    if search:
        hunks = read_blocks(text)
        if not hunks:
            message = "no block changes anything: SEARCH and REPLACE are the same"
            raise PatchError(PatchFault.NO_CHANGE, message)
        return Patched(
            apply_hunks(source, hunks), *read_message(text[: search.start()]), Form.BLOCKS
        )
    diffs = [block for block in fenced(text) if block.language in _DIFF]
    if diffs:
        if not all(block.closed for block in diffs):
            message = "the fenced diff is never closed, so the reply was cut off; send it again"
            raise PatchError(PatchFault.TRUNCATED, message)
        before = "\n".join(text.split("\n")[: diffs[0].line])
        return _from_v4a(source, "\n@@\n".join(block.text for block in diffs), before, "")
    whole = read_whole(text)
    if whole is None:
        raise PatchError(PatchFault.NO_CHANGE, f"the reply holds no change. {HOW}")
    return _from_whole(text, whole)


def _enveloped(text: str) -> tuple[str, str, str]:
    """What stands in the envelopes of V4A patches, before the first and after the last.

    The Begin line may be missing, the End line may not: without it the patch may go on.
    """
    begins, ends = list(BEGIN.finditer(text)), list(END.finditer(text))
    if not begins:
        begins = list(UPDATE.finditer(text))[:1]
    parts = []
    at = 0
    for begin in begins:
        if begin.start() < at:
            continue
        end = next((found for found in ends if found.start() >= begin.end()), None)
        if end is None:
            raise PatchError(
                PatchFault.TRUNCATED,
                "the patch has no `*** End Patch`, so the reply was cut off; send it again, "
                "shorter, and end it with that line",
            )
        parts.append(text[begin.start() : end.start()])
        at = end.end()
    return "\n".join(parts), text[: begins[0].start()], text[at:]


def _from_v4a(source: str, patch: str, before: str, after: str) -> Patched:
    found = read_v4a(patch)
    title, body = read_message(before, after)
    whole = found.whole if found.whole is not None else _all_added(found)
    if whole is not None:
        lacking = missing_names(whole)
        if lacking:
            message = f"the new {FILE} is no whole program: it lacks {', '.join(lacking)}"
            raise PatchError(PatchFault.MALFORMED, message)
        return Patched(whole, title, body, Form.WHOLE)
    if not found.hunks:
        message = "the patch changes nothing: it has no line that begins with - or +"
        raise PatchError(PatchFault.NO_CHANGE, message)
    return Patched(apply_hunks(source, found.hunks), title, body, Form.V4A)


def _all_added(found: V4A) -> str | None:
    """A whole program sent as one hunk of added lines: it cannot be meant to stand beside the old
    one."""
    if len(found.hunks) != 1 or "".join(found.hunks[0].old).strip():
        return None
    text = "\n".join(found.hunks[0].new).strip("\n") + "\n"
    return None if missing_names(text) else text


def _from_whole(text: str, whole: Whole) -> Patched:
    before = "\n".join(text.split("\n")[: whole.line])
    return Patched(whole.source, *read_message(before), Form.WHOLE)
