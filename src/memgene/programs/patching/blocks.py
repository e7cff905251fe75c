"""The SEARCH/REPLACE form."""

from __future__ import annotations

import re

from memgene.programs.patching.hunk import Hunk, replacement
from memgene.programs.patching.patched import PatchError, PatchFault

SEARCH = re.compile(r"^<{5,9} *SEARCH\b.*$", re.MULTILINE | re.IGNORECASE)
_MIDDLE = re.compile(r"^={5,9} *$")
_REPLACE = re.compile(r"^>{5,9} *REPLACE\b.*$", re.IGNORECASE)
_BEGUN = re.compile(r"^(?:<+$|<{5})")
_FORM = "<<<<<<< SEARCH, the lines to replace, =======, the new lines, >>>>>>> REPLACE"


def read_blocks(text: str) -> tuple[Hunk, ...]:
    """The blocks of a reply, in order.

    Raises:
        PatchError: a block is not complete, or has more than one line of `=======`.
    """
    hunks: list[Hunk] = []
    old: list[str] = []
    new: list[str] | None = None
    inside = False
    for line in text.split("\n"):
        if SEARCH.match(line):
            if inside:
                raise _malformed(len(hunks) + 1, "another block begins in it")
            inside, old, new = True, [], None
        elif not inside:
            if _BEGUN.match(line):
                raise _cut(len(hunks) + 1, "has no <<<<<<< SEARCH")
        elif _REPLACE.match(line):
            if new is None:
                raise _malformed(len(hunks) + 1, "it has no line of =======")
            hunks.append(replacement(old, new, f"block {len(hunks) + 1}"))
            inside = False
        elif _MIDDLE.match(line):
            if new is not None:
                raise _malformed(len(hunks) + 1, "it has more than one line of =======")
            new = []
        else:
            (old if new is None else new).append(line)
    if inside:
        raise _cut(len(hunks) + 1, "has no >>>>>>> REPLACE")
    unique = {hunk.lines: hunk for hunk in reversed(hunks) if hunk.changes}
    return tuple(reversed(unique.values()))


def _cut(number: int, what: str) -> PatchError:
    message = f"block {number} {what}, so the reply was cut off; send it again, shorter"
    return PatchError(PatchFault.TRUNCATED, message)


def _malformed(number: int, what: str) -> PatchError:
    return PatchError(
        PatchFault.MALFORMED, f"block {number} cannot be read: {what}. Each block is: {_FORM}"
    )
