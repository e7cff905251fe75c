"""The form that sends the whole program again."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memgene.programs.patching.fences import Fenced, fenced
from memgene.programs.patching.patched import PatchError, PatchFault
from memgene.programs.syntax import UnparsableError, missing_names, parse

_PYTHON = ("", "python", "py", "python3")
_STARTS = re.compile(
    r"^(?:from\s+\w|import\s+\w|@dataclass|class\s+\w|[A-Z][A-Z_]+\s*[:=]|\"\"\"|#)"
)


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole program, and the line of the reply (from 0) it begins on."""

    source: str
    line: int


def read_whole(text: str) -> Whole | None:
    """The program a reply holds, in a fenced block or bare; None where it holds no code.

    Raises:
        PatchError: code is there, but no whole program, or more than one.
    """
    blocks = [block for block in fenced(text) if block.language in _PYTHON]
    whole = [found for block in blocks if (found := _program(text, block)) is not None]
    if len({found.source for found in whole}) > 1:
        message = f"the reply holds {len(whole)} different programs; send the one that is meant"
        raise PatchError(PatchFault.AMBIGUOUS, message)
    if whole:
        return whole[-1]
    if any(not block.closed for block in blocks):
        message = "a code block is never closed, so the reply was cut off; send it again, shorter"
        raise PatchError(PatchFault.TRUNCATED, message)
    bare = _bare(text)
    if bare is not None:
        return bare
    if not missing_names(text):
        message = f"the program in the reply is no Python from its first line to its last. {HOW}"
        raise PatchError(PatchFault.MALFORMED, message)
    if blocks:
        lacking = min((list(missing_names(block.text)) for block in blocks), key=len)
        message = f"the code in the reply is no whole program: it lacks {', '.join(lacking)}. {HOW}"
        raise PatchError(PatchFault.MALFORMED, message)
    return None


HOW = (
    "Send a patch between the lines `*** Begin Patch` and `*** End Patch`, or the whole program in "
    "one block fenced with ```python"
)


def _program(text: str, block: Fenced) -> Whole | None:
    """The program in a block. One that itself holds lines of ``` ends at the first of them that
    leaves Python with every name of the interface."""
    if not block.closed:
        return None
    lines = text.split("\n")
    ends = [n for n in range(block.line + 1, len(lines)) if lines[n].strip() == "```"]
    for end in ends:
        source = _text(lines[block.line + 1 : end])
        if not missing_names(source) and _is_python(source):
            return Whole(source, block.line)
    source = _text([block.text])
    return None if missing_names(source) else Whole(source, block.line)


def _bare(text: str) -> Whole | None:
    """A program without fences: from its first line of code to the end of the reply."""
    lines = text.split("\n")
    for start, line in enumerate(lines):
        if not _STARTS.match(line):
            continue
        source = _text(lines[start:])
        if missing_names(source):
            return None
        if _is_python(source):
            return Whole(source, start)
    return None


def _text(lines: list[str]) -> str:
    return "\n".join(lines).strip("\n") + "\n"


def _is_python(source: str) -> bool:
    try:
        parse(source)
    except UnparsableError:
        return False
    return True
