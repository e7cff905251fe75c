"""How many tokens a text is, where nobody counted."""

from __future__ import annotations

import math

CHARACTERS_PER_TOKEN = 4


def estimated_tokens(text: str) -> int:
    """A rule of thumb for English: a token for every four characters, rounded up."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)
