"""Text → sentences → words with stems and classes. Pure and memoised by text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from memgene.agents.extractive.words import STOP, WordClass, classify
from memgene.retrieval.text import english_stem

# A word may hold inner marks (don't, co-op, 6.9, 1,000, 5:30); scripts without spaces are cut
# into single characters so that overlap still means something.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(
    rf"[{_UNSPACED}]|[$€£@#]?[^\W{_UNSPACED}]+(?:[.,:]\d+|['’&/+\-][^\W{_UNSPACED}]+)*[%+]?"
)
_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s|$)|[。！？]+|\n+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|a\.m|p\.m|No)|\b[A-Z])$"
)
_ASIDE = re.compile(r"\(([^()]*)\)\s*$")
_QUOTES = frozenset('"“”‘«»„')


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `words[i]` (lower case) stands at `text[starts[i]:ends[i]]`.

    `breaks[i]` names the mark between words i-1 and i: empty, `comma`, `quote`, `mark`, or `edge`
    at both ends (there is one more break than words). `content` holds the stems that are no stop
    words, `pairs` those that follow each other. `asks` marks a question, `aside` a closing
    parenthesis such as an image caption.
    """

    text: str
    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    stems: tuple[str, ...]
    classes: tuple[WordClass, ...]
    breaks: tuple[str, ...]
    content: frozenset[str]
    pairs: tuple[tuple[str, str], ...]
    asks: bool
    aside: bool

    def cut(self, first: int, last: int) -> str:
        """The text of words `first..last` (inclusive)."""
        return self.text[self.starts[first] : self.ends[last]]


def split(text: str) -> list[str]:
    """Cut a text into sentences at closing marks and line ends, not after abbreviations."""
    pieces: list[str] = []
    begin = 0
    for mark in _END.finditer(text):
        if text[mark.start()] == "." and _ABBREVIATION.search(
            text[max(begin, mark.start() - 6) : mark.start()]
        ):
            continue
        pieces.append(text[begin : mark.end()])
        begin = mark.end()
    pieces.append(text[begin:])
    return [p.strip() for p in pieces if p.strip()]


def _mark(gap: str) -> str:
    """Name of what stands between two words."""
    marks = gap.strip()
    if not marks:
        return ""
    if any(c in _QUOTES for c in marks):
        return "quote"
    return "comma" if marks == "," else "mark"


def analyse(text: str, aside: bool = False) -> Sentence:
    """Words, stems and classes of one sentence."""
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    stems: list[str] = []
    classes: list[WordClass] = []
    breaks: list[str] = []
    previous = 0
    for match in _WORD.finditer(text):
        word = match.group()
        lower = word.lower().replace("’", "'")
        gap = text[previous : match.start()]
        bare = lower[:-2] if lower.endswith("'s") else lower
        words.append(lower)
        starts.append(match.start())
        ends.append(match.end())
        stems.append(english_stem(bare))
        mark = _mark(gap)
        classes.append(classify(word, lower, previous == 0 and mark != "quote"))
        breaks.append("edge" if previous == 0 and mark != "quote" else mark)
        previous = match.end()
    breaks.append("quote" if _mark(text[previous:]) == "quote" else "edge")
    kept = [s for s, w in zip(stems, words, strict=True) if w not in STOP]
    return Sentence(
        text,
        tuple(words),
        tuple(starts),
        tuple(ends),
        tuple(stems),
        tuple(classes),
        tuple(breaks),
        frozenset(kept),
        tuple(pairwise(kept)),
        text.rstrip("\"'”’) ").endswith(("?", "？")),
        aside,
    )


@lru_cache(maxsize=1 << 13)
def sentences(text: str) -> tuple[Sentence, ...]:
    """All sentences of a text; a closing parenthesis becomes a sentence of its own."""
    aside = _ASIDE.search(text)
    body = text[: aside.start()] if aside else text
    found = [analyse(piece) for piece in split(body)]
    if aside:
        found.append(analyse(aside.group(1).strip(), aside=True))
    return tuple(s for s in found if s.words)
