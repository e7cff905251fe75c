"""Which texts are written without spaces between words and need the substring index."""

from __future__ import annotations

import re

# Korean has spaces, but glues particles to words, so a word index misses most of its matches.
_RANGES = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u0f00-\u0fff"  # Tibetan
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17ff\u19e0-\u19ff"  # Khmer
    "\u1950-\u19df\u1a20-\u1aaf"  # Tai Le, New Tai Lue, Tai Tham
    "\u1b00-\u1b7f\ua980-\ua9df"  # Balinese, Javanese
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Hiragana, Katakana
    "\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3100-\u312f\u31a0-\u31bf"  # CJK marks, Bopomofo
    "\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\ua000-\ua4cf"  # Yi
    "\U00020000-\U0003ffff"  # Han, supplementary planes
)
_UNSPACED = re.compile(f"[{_RANGES}]")


def is_unspaced(text: str) -> bool:
    """Whether any character belongs to a script that is written without spaces.

    Such terms are looked up as substrings (see `Bank.search_text`); a query in these scripts
    should be cut into short pieces before it is searched.
    """
    return not text.isascii() and _UNSPACED.search(text) is not None
