"""What a question asks for: its words with their weights, names, dates, numbers, quotes, type."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from memgene.bank.unit import MONTHS
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.question_type import predict_type
from memgene.retrieval.text import STOP_WORDS, fold, stem, words
from memgene.retrieval.time_range import TimeRange, find_range

_QUOTED = re.compile(r"[\"“”«»]([^\"“”«»]{2,}?)[\"“”«»]|(?<!\w)['‘]([^'’]{2,}?)['’](?!\w)")
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d\b")
_TOKEN = re.compile(r"[^\W_]+(?:['’]\w+)?", re.UNICODE)
_MONTH_NUMBER = {m.lower(): i for i, m in enumerate(MONTHS, 1)} | {
    m[:3].lower(): i for i, m in enumerate(MONTHS, 1) if m != "May"
}
_MONTH = f"(?:{'|'.join(sorted(_MONTH_NUMBER, reverse=True))})"
_DAY = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}\b"
    rf"|\b{_MONTH}\.? (\d{{1,2}})(?:st|nd|rd|th)?\b"
)
_VERBS = (3, 5)  # to march, may: months when written as names
_CAPITAL = re.compile(r"\b(?:Mar|March|May)\b(?!\s+[^\W\d]+\?)")


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A content word of the query: surface form, stem, the index's term id, its idf."""

    word: str
    stem: str
    term: int | None
    idf: float
    is_name: bool


@dataclass(frozen=True, slots=True)
class DateMention:
    """Parts of a date the question names (None = not said)."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A question analysed against one index (idf, names and term ids are the index's)."""

    text: str
    type: str
    terms: tuple[QueryTerm, ...]
    speakers: frozenset[int]
    bigrams: frozenset[tuple[int, int]]
    quotes: tuple[tuple[int, ...], ...]
    proper: frozenset[int]
    numbers: frozenset[int]
    date: DateMention | None
    span: TimeRange | None = None

    def content(self, *, names: bool) -> tuple[QueryTerm, ...]:
        """Content terms, with or without person names (all, when nothing else would be left)."""
        if names:
            return self.terms
        return tuple(t for t in self.terms if not t.is_name) or self.terms

    def words(self, *, names: bool) -> str:
        """The content words as one text, the input of the dense view."""
        return " ".join(t.word for t in self.content(names=names)) or self.text

    def without_names(self) -> str:
        """The question as asked, person names left out."""
        names = {t.word for t in self.terms if t.is_name}
        kept = [w for w in self.text.split() if not names.intersection(words(w))]
        return " ".join(kept) or self.text


def analyse(text: str, index: UnitIndex) -> Query:
    """Read a question against an index. Deterministic; unknown words get the highest idf."""
    tokens = words(text)
    named = _name_tokens(text, index)
    terms: dict[str, QueryTerm] = {}
    for word in tokens:
        if word in STOP_WORDS:
            continue
        s = stem(word)
        if s not in terms:
            term = index.postings.term(s)
            terms[s] = QueryTerm(word, s, term, idf(index, term), word in named)
    ids = [index.postings.term(stem(w)) for w in tokens]
    is_content = [w not in STOP_WORDS for w in tokens]
    pairs = {
        (a, b)
        for a, b, ca, cb in zip(ids, ids[1:], is_content, is_content[1:], strict=False)
        if a is not None and b is not None and ca and cb
    }
    speakers: set[int] = set()
    for word in tokens:
        if word in named:
            speakers |= index.name_words.get(stem(word), set())
    return Query(
        text=text,
        type=predict_type(text),
        terms=tuple(terms.values()),
        speakers=frozenset(speakers),
        bigrams=frozenset(pairs),
        quotes=_quotes(text, index),
        proper=_proper(text, named, index),
        numbers=frozenset(
            t for w, t in zip(tokens, ids, strict=True) if t is not None and w.isdigit()
        ),
        date=_date(text),
        span=find_range(text),
    )


def idf(index: UnitIndex, term: int | None) -> float:
    """BM25's inverse document frequency, never negative (Robertson–Spärck Jones + 1)."""
    df = 0 if term is None else index.postings.df(term)
    return math.log1p((index.living - df + 0.5) / (df + 0.5))


def _name_tokens(text: str, index: UnitIndex) -> set[str]:
    """Words of the question that name somebody who speaks or is a person in memory."""
    lower_only = text == text.lower()
    found: set[str] = set()
    for match in _TOKEN.finditer(text):
        if lower_only or match.group()[0].isupper():
            for word in words(match.group()):
                if word not in STOP_WORDS and stem(word) in index.name_words:
                    found.add(word)
    return found


def _quotes(text: str, index: UnitIndex) -> tuple[tuple[int, ...], ...]:
    found = []
    for match in _QUOTED.finditer(text):
        ids = [index.postings.term(stem(w)) for w in words(match.group(1) or match.group(2))]
        if ids and all(i is not None for i in ids):
            found.append(tuple(i for i in ids if i is not None))
    return tuple(found)


def _proper(text: str, named: set[str], index: UnitIndex) -> frozenset[int]:
    """Capitalised words inside the question that are nobody in memory: places, titles, brands."""
    found = set()
    for i, match in enumerate(_TOKEN.finditer(text)):
        if i and match.group()[0].isupper():
            for word in words(match.group()):
                term = index.postings.term(stem(word))
                if word not in named and word not in STOP_WORDS and term is not None:
                    found.add(term)
    return frozenset(found)


def _date(text: str) -> DateMention | None:
    plain = fold(text)
    year, named = _YEAR.search(plain), _DAY.search(plain)
    day = int(named.group(1) or named.group(2)) if named else 0
    months = [_MONTH_NUMBER[w] for w in _TOKEN.findall(plain) if w in _MONTH_NUMBER]
    if not (day or _CAPITAL.search(text) or (year and text == text.lower())):
        months = [m for m in months if m not in _VERBS]
    if year is None and not months:
        return None
    return DateMention(
        int(year.group()) if year else None,
        months[0] if months else None,
        day if months and 1 <= day <= 31 else None,
    )
