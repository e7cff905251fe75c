"""Code fences of Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}) *([\w.+-]*)[^`]*$")


@dataclass(frozen=True, slots=True)
class Fenced:
    """A fenced block: its language, its text, the line (from 0) it begins on, whether it ends."""

    language: str
    text: str
    line: int
    closed: bool


def fenced(text: str) -> list[Fenced]:
    """The fenced blocks of a text, in order."""
    found: list[Fenced] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if opening is None:
            at += 1
            continue
        end = next((n for n in range(at + 1, len(lines)) if _closes(lines[n], opening[1])), None)
        inside = lines[at + 1 : end]
        found.append(Fenced(opening[2].lower(), "\n".join(inside), at, end is not None))
        at = len(lines) if end is None else end + 1
    return found


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and not bare.strip(fence[0]) and not line.startswith("    ")
