"""The commit message of a reply."""

from __future__ import annotations

import re

_MARKER = re.compile(r"^\*\*\* *Commit Message\b.*$", re.IGNORECASE)
_ANY_MARKER = re.compile(r"^\*\*\* ")
_TITLE = re.compile(
    r"^\s*(?:#+\s*|\*\*|-\s*)?(?:commit )?title(?:\*\*)?\s*:\s*(?:\*\*)?", re.IGNORECASE
)
_OTHER = re.compile(r"^\s*(?:```|~~~|\*\*\* |[`*]*program\.py[`*:]*\s*$)")
_MARKS = re.compile(r"^[#>*_`\s-]+|[*_`\s]+$")
_LONGEST_TITLE, _LONGEST_BODY = 200, 4000


def read_message(before: str, after: str = "") -> tuple[str, str]:
    """Title and body of the message in the text before a change, or else after it.

    The block `*** Commit Message` counts where there is one, with its `Title:` line; else the
    first line is the title, without marks of Markdown, and all others are the body.
    """
    for text in (before, after):
        lines = _block(text.split("\n"))
        if lines:
            return _parted(lines)
    return "", ""


def _block(lines: list[str]) -> list[str]:
    """Lines of the marked block, or all, without fences, empty ones and markers."""
    marked = [n for n, line in enumerate(lines) if _MARKER.match(line)]
    if marked:
        lines = lines[marked[-1] + 1 :]
        end = next((n for n, line in enumerate(lines) if _ANY_MARKER.match(line)), len(lines))
        lines = lines[:end]
    return [line.strip() for line in lines if line.strip() and not _OTHER.match(line)]


def _parted(lines: list[str]) -> tuple[str, str]:
    titled = next((n for n, line in enumerate(lines) if _TITLE.match(line)), None)
    place = titled or 0
    title = _MARKS.sub("", _TITLE.sub("", lines[place]))
    body = lines[place + 1 :] if titled is not None else lines[1:]
    return title[:_LONGEST_TITLE], "\n".join(body)[:_LONGEST_BODY]
