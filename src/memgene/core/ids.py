"""Identifiers that depend on content alone, so that equal things get equal names everywhere."""

from __future__ import annotations

import hashlib

_SEPARATOR = "\x1f"
_ABSENT = "\x00"


def content_hash(text: str) -> str:
    """SHA-256 of the text as UTF-8, 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def stable_id(*parts: str | None) -> str:
    """A 20-digit hex name of the parts. `None` and the empty string give different names."""
    joined = _SEPARATOR.join(_ABSENT if p is None else p for p in parts)
    return content_hash(joined)[:20]
