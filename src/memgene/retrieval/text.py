"""Words of a text: folded, split, stemmed. The same rules for units and queries."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
# Scripts written without spaces: Thai–Lao–Myanmar–Khmer, kana, Han, Hangul is spaced.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
_CONTRACTION = re.compile(r"(?i)(?<=\w)['’](?:s|m|d|ll|re|ve|t)\b")

_STOP = (
    "a about above after again against all am an and any are aren as at be because been before "
    "being below between both but by can cannot could couldn d did didn do does doesn doing "
    "don down during each few for from further had hadn has hasn have haven having he her here "
    "hers herself him himself his how i if in into is isn it its itself ll m me more most my "
    "myself no nor not of off on once only or other our ours ourselves out over own re s same "
    "she should shouldn so some such t than that the their theirs them themselves then there "
    "these they this those through to too under until up ve very was wasn we were weren what "
    "when where which while who whom whose why will with won would wouldn you your yours "
    "yourself yourselves might may must shall also just get got"
)
STOP_WORDS = frozenset(_STOP.split())


def words(text: str) -> list[str]:
    """Lower-case words without diacritics; scripts without spaces give character pairs."""
    plain = fold(text)
    if plain.isascii():
        return _WORD.findall(plain)
    found: list[str] = []
    for match in _WORD.finditer(plain):
        found.extend(_pieces(match.group()))
    return found


def fold(text: str) -> str:
    """Lower case; accents stripped; possessive and contracted endings cut (`Anna's` → `anna`)."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(c for c in decomposed if not unicodedata.combining(c))
    return _CONTRACTION.sub("", text.lower())


def _pieces(word: str) -> Iterable[str]:
    if not _UNSPACED.search(word):
        return (word,)
    pieces: list[str] = []
    at = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > at:
            pieces.append(word[at : run.start()])
        chars = run.group()
        pieces.extend(chars[i : i + 2] for i in range(max(1, len(chars) - 1)))
        at = run.end()
    if at < len(word):
        pieces.append(word[at:])
    return pieces


class _Stemmers(threading.local):
    """PyStemmer objects are not thread-safe: one of each per thread."""

    def __init__(self) -> None:
        import Stemmer

        self.porter: Any = Stemmer.Stemmer("porter", 0)
        self.english: Any = Stemmer.Stemmer("english", 0)


@lru_cache(maxsize=1)
def _stemmers() -> _Stemmers:
    return _Stemmers()


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Porter stem of one lower-case word, the algorithm of SQLite's full-text index (which has
    two later rules more, for -bly and -logy)."""
    if len(word) < 3:
        return word
    stemmed: str = _stemmers().porter.stemWord(word)
    return stemmed


@lru_cache(maxsize=1 << 16)
def english_stem(word: str) -> str:
    """Snowball English (Porter2) stem of one lower-case word, for reading rather than indexing."""
    stemmed: str = _stemmers().english.stemWord(word)
    return stemmed


def stems(text: str) -> list[str]:
    """Stemmed words of a text, in order, stop words included."""
    return [stem(w) for w in words(text)]


def content_words(text: str) -> list[str]:
    """Words that carry meaning: stop words left out."""
    return [w for w in words(text) if w not in STOP_WORDS]
