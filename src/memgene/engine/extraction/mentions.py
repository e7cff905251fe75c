"""What can be checked in a text: the names, numbers and dates it mentions."""

from __future__ import annotations

import calendar
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType

from memgene.bank.unit import MONTHS
from memgene.retrieval.dates import Resolved, find_dates
from memgene.retrieval.periods import Grain, shift_days, shift_months
from memgene.retrieval.text import STOP_WORDS, stem, words

_TOKEN = re.compile(r"[^\W_]+(?:['’&.-][^\W_]+)*")
_CLOSED = frozenset('.!?…:;\n"“”()[]*—–-~')
_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_UNITS = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_TEENS = "sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBER_WORDS: Mapping[str, str] = MappingProxyType(
    {w: str(n) for n, w in enumerate((*_UNITS.split(), *_TEENS.split()), 2)}
    | {w: str(10 * n) for n, w in enumerate(_TENS.split(), 2)}
    | {"hundred": "100", "thousand": "1000", "dozen": "12"}
)
_CALENDAR = frozenset(m.lower() for m in MONTHS) | frozenset(d.lower() for d in calendar.day_name)
# Capitalised in mid-sentence by habit, names of nobody.
_HABITS = "ok okay tv yeah yes wow hey hi hello haha thanks mom dad pm am"
_NO_NAMES = frozenset(_HABITS.split())


@dataclass(frozen=True, slots=True)
class Name:
    """A run of capitalised words, as written, with the stems of its words."""

    text: str
    stems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Period:
    """First and last day of a date as said, and how exact it was."""

    first: date
    last: date
    grain: Grain
    text: str = ""


@dataclass(frozen=True, slots=True)
class Mentions:
    """Names, numbers (as digits) and dates of a text."""

    names: tuple[Name, ...]
    numbers: tuple[str, ...]
    dates: tuple[Period, ...]

    @property
    def empty(self) -> bool:
        """Nothing that could be checked."""
        return not (self.names or self.numbers or self.dates)


def find_mentions(text: str, day: date | None) -> Mentions:
    """Mentions of a text that was said on `day`. A number that is part of a date is a date."""
    found = find_dates(text, day)
    spans = [(r.start, r.end) for r in found]
    return Mentions(
        names=tuple(_names(text, spans)),
        numbers=tuple(dict.fromkeys(n for n, at in _numbers(text) if not _inside(at, spans))),
        dates=tuple(period_of(r, text) for r in found),
    )


def capitals(text: str, day: date | None) -> tuple[list[str], list[str]]:
    """Capitalised words outside dates: those inside a sentence, and those that start one."""
    spans = [(r.start, r.end) for r in find_dates(text, day)]
    inner: list[str] = []
    first: list[str] = []
    for match, starts in _capitalised(text):
        if not _inside(match.start(), spans):
            (first if starts else inner).append(match.group())
    return inner, first


def numbers_of(text: str) -> frozenset[str]:
    """Every number of a text as digits, those in dates too."""
    return frozenset(number for number, _ in _numbers(text))


def period_of(found: Resolved, text: str) -> Period:
    """The days a resolved date covers."""
    return Period(
        found.day, _last(found.day, found.grain), found.grain, text[found.start : found.end].strip()
    )


def backs(source: Period, said: Period) -> bool:
    """Whether a date that was said may be told as another: the same days or a longer period that
    holds them; of days, weekends and weeks, also a part."""
    if said.first <= source.first and source.last <= said.last:
        return True
    overlap = said.first <= source.last and source.first <= said.last
    return overlap and source.grain <= Grain.WEEK


def _last(day: date, grain: Grain) -> date:
    if grain in (Grain.DAY, Grain.WEEKEND, Grain.WEEK):
        return shift_days(day, {Grain.DAY: 0, Grain.WEEKEND: 1, Grain.WEEK: 6}[grain])
    months = {Grain.MONTH: 1, Grain.SEASON: 3, Grain.YEAR: 12}[grain]
    return shift_months(day.replace(day=1), months) - timedelta(days=1)


def _inside(at: int, spans: Collection[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)


def _capitalised(text: str) -> Iterable[tuple[re.Match[str], bool]]:
    """Capitalised words that may be names, each with whether it starts a sentence."""
    if text.isupper() and " " in text.strip():
        return  # shouting: capitals tell nothing
    before = 0
    for match in _TOKEN.finditer(text):
        gap = text[before : match.start()]
        starts = before == 0 or bool(_CLOSED.intersection(gap)) or not gap.isascii()
        before = match.end()
        folded = words(match.group())
        plain = folded[0] if folded else ""
        if not match.group()[0].isupper() or plain in STOP_WORDS or plain in _NO_NAMES:
            continue
        if plain in _CALENDAR:
            continue
        acronym = len(match.group()) > 1 and match.group().isupper()
        yield match, starts and not acronym


def _names(text: str, dates: Collection[tuple[int, int]]) -> Iterable[Name]:
    """Runs of capitalised words. One that starts a sentence counts only in front of another."""
    run: list[re.Match[str]] = []
    kept: list[list[re.Match[str]]] = []
    opener = False
    for match, starts in _capitalised(text):
        if _inside(match.start(), dates):
            continue
        joined = bool(run) and text[run[-1].end() : match.start()] == " " and not starts
        if not joined:
            if run and not (opener and len(run) == 1):
                kept.append(run)
            run, opener = [], starts
        run.append(match)
    if run and not (opener and len(run) == 1):
        kept.append(run)
    seen: set[tuple[str, ...]] = set()
    for matches in kept:
        said = text[matches[0].start() : matches[-1].end()]
        stems = tuple(stem(w) for w in words(said))
        if stems and stems not in seen:
            seen.add(stems)
            yield Name(said, stems)


def _numbers(text: str) -> Iterable[tuple[str, int]]:
    for match in _NUMBER.finditer(text):
        yield _digits(match.group()), match.start()
    for match in _TOKEN.finditer(text.lower()):
        for part in match.group().split("-"):
            if part in _NUMBER_WORDS:
                yield _NUMBER_WORDS[part], match.start()


def _digits(number: str) -> str:
    """`1,000` → `1000`; `10:00` and `3.5` stay."""
    return re.sub(r",(?=\d{3}(?!\d))", "", number)
