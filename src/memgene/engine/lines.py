"""Memories as a language model is shown them: one numbered line each, of bounded length."""

from __future__ import annotations

from collections.abc import Sequence

from memgene.core import Hit

SHOWN_CHARACTERS = 400


def numbered(hits: Sequence[Hit]) -> str:
    """One line a hit, numbered from 1, so that numbers and notes cannot be mistaken."""
    return "\n".join(f"{n}. {one_line(hit.rendered or hit.text)}" for n, hit in enumerate(hits, 1))


def one_line(text: str, most: int = SHOWN_CHARACTERS) -> str:
    """The text without line breaks and runs of spaces, at most `most` characters of it."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
