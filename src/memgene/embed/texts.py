"""Checks that every embedder makes before it looks at a text."""

from __future__ import annotations

from collections.abc import Sequence

from memgene.core.errors import InputError


def checked(texts: Sequence[str]) -> list[str]:
    """The texts as a list.

    Raises:
        InputError: one string was given for a sequence of strings, an item is not a string, or an
            item holds a lone surrogate (no valid UTF-8 exists for it).
    """
    if isinstance(texts, str):
        raise InputError("embed() takes a sequence of texts, not one string: pass [text]")
    items = list(texts)
    for position, text in enumerate(items):
        if not isinstance(text, str):
            raise InputError(f"text {position} is a {type(text).__name__}, not a string")
        if not text.isascii():
            _refuse_surrogates(text, position)
    return items


def _refuse_surrogates(text: str, position: int) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"text {position} holds a lone surrogate at character {error.start}; "
            "decode its source with errors='replace' first"
        ) from error
