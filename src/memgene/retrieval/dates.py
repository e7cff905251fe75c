"""Dates in English text, resolved against the day the text was said.

`find_dates` reads absolute dates (8 May 2023, March, 2016), relative ones (yesterday, two weeks
ago, last Saturday, next month) and named days (Christmas). Conventions where usage varies:
*last* and *next* with a weekday mean the nearest such day strictly before or after the anchor;
*last week* is the Monday-to-Sunday week before the anchor's; a date without a year is the most
recent one, or the coming one where the words speak of the future; *a couple* is 2, *a few* and
*several* are 3.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from memgene.bank.unit import MONTHS
from memgene.retrieval.periods import (
    SEASONS,
    Grain,
    count_of,
    is_vague,
    make_date,
    render,
    shift_days,
    shift_months,
    step,
)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A date found at `text[start:end]`: the first day of the period meant, and its grain."""

    start: int
    end: int
    day: date
    grain: Grain
    relative: bool

    def render(self) -> str:
        """`7 May 2023`, `weekend of 6 May 2023`, `week of 1 May 2023`, `May 2023`, `2023`."""
        return render(self.day, self.grain)


_WEEKDAYS = tuple(day.lower() for day in calendar.day_name)
_NAMED_DAYS = {
    "christmas eve": (12, 24),
    "christmas": (12, 25),
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "new year's": (1, 1),
    "valentine's day": (2, 14),
    "halloween": (10, 31),
}
_MONTH_NUMBERS = {name[:3].lower(): i for i, name in enumerate(MONTHS, 1)}

# Months count only with a capital: "may" and "march" are also verbs.
_MONTH = (
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_UNIT = r"(?P<unit>day|night|week|weekend|month|year|decade)"
_COUNT = (
    r"(?P<count>\d{1,3}|(?:a )?(?:couple|few)(?: of)?|several|an?|one|two|three|four|five|six"
    r"|seven|eight|nine|ten|eleven|twelve)"
)
_SHIFT = r"(?P<shift>last|past|previous|this past|this|next|coming|upcoming|following)"
_FUTURE = re.compile(
    r"\b(?:will|won't|\w+'ll|gonna|going to|plan|plans|planning|planned|next|upcoming|tomorrow"
    r"|coming up|soon|looking forward|can't wait|hope to|hoping to|want to)\b",
    re.IGNORECASE,
)


def _month(match: re.Match[str]) -> int:
    return _MONTH_NUMBERS[match["month"][:3].lower()]


def _direction(shift: str | None) -> int:
    """-1 for last, 0 for this, 1 for next."""
    if shift is None or shift.lower() == "this":
        return 0
    return 1 if shift.lower() in ("next", "coming", "upcoming", "following") else -1


def _yearless(anchor: date, month: int, day: int, shift: str | None, future: bool) -> date | None:
    """Place a month (and day) without a year before or after the anchor."""
    this = make_date(anchor.year, month, day)
    if shift and shift.lower() == "this":
        return this
    way = _direction(shift) or (1 if future else -1)
    if this is None:
        return None
    strict = bool(shift)
    whole_month = (this.year, this.month) == (anchor.year, anchor.month)
    late = this > anchor and not (whole_month and day == 1 and not strict)
    early = this < anchor and not (whole_month and day == 1 and not strict)
    if way < 0 and (late or (strict and whole_month)):
        return make_date(anchor.year - 1, month, day)
    if way > 0 and (early or (strict and whole_month)):
        return make_date(anchor.year + 1, month, day)
    return this


Found = tuple[date, Grain] | None
Handler = Callable[[re.Match[str], date, bool], Found]


def _iso(m: re.Match[str], anchor: date, future: bool) -> Found:
    day = make_date(int(m["year"]), int(m["m"]), int(m["d"]))
    return (day, Grain.DAY) if day else None


def _day_month(m: re.Match[str], anchor: date, future: bool) -> Found:
    number = int(m["day"])
    if m["year"]:
        day = make_date(int(m["year"]), _month(m), number)
    else:
        day = _yearless(anchor, _month(m), number, None, future)
    return (day, Grain.DAY) if day else None


def _month_year(m: re.Match[str], anchor: date, future: bool) -> Found:
    return date(int(m["year"]), _month(m), 1), Grain.MONTH


def _bare_month(m: re.Match[str], anchor: date, future: bool) -> Found:
    day = _yearless(anchor, _month(m), 1, m["shift"], future)
    return (day, Grain.MONTH) if day else None


def _season(m: re.Match[str], anchor: date, future: bool) -> Found:
    first = SEASONS[m["season"].lower()]
    if m["year"]:
        return date(int(m["year"]), first, 1), Grain.SEASON
    this = date(anchor.year, first, 1)
    way = _direction(m["shift"])
    if way < 0 and this > shift_months(anchor, -3):
        return date(anchor.year - 1, first, 1), Grain.SEASON
    if way > 0 and this <= anchor:
        return date(anchor.year + 1, first, 1), Grain.SEASON
    return this, Grain.SEASON


def _year(m: re.Match[str], anchor: date, future: bool) -> Found:
    return date(int(m["year"]), 1, 1), Grain.YEAR


def _near_day(m: re.Match[str], anchor: date, future: bool) -> Found:
    words = " ".join(m["near"].lower().split())
    if words.startswith(("the day before", "day before")):
        offset = -2 if words.endswith("yesterday") else -1
    elif "day after" in words:
        offset = 2 if words.endswith("tomorrow") else 1
    elif words in ("yesterday", "last night") or words.startswith("yesterday"):
        offset = -1
    else:
        offset = 1 if words == "tomorrow" else 0
    return shift_days(anchor, offset), Grain.DAY


def _ago(m: re.Match[str], anchor: date, future: bool) -> Found:
    return step(anchor, -count_of(m["count"]), m["unit"].lower(), is_vague(m["count"]))


def _ahead(m: re.Match[str], anchor: date, future: bool) -> Found:
    count, unit = m["count"] or m["n"], m["unit"] or m["u"]
    return step(anchor, count_of(count), unit.lower(), is_vague(count))


def _shifted_unit(m: re.Match[str], anchor: date, future: bool) -> Found:
    unit = m["unit"].lower()
    way = _direction(m["shift"])
    if unit == "weekend":
        saturday = shift_days(anchor, 5 - anchor.weekday())
        return shift_days(saturday, 7 * way), Grain.WEEKEND
    if unit in ("day", "night", "decade") and way == 0:
        return None
    return step(anchor, way, unit)


def _unit_before(m: re.Match[str], anchor: date, future: bool) -> Found:
    return step(anchor, -2 if m["twice"] else -1, m["unit"].lower())


def _weekend(m: re.Match[str], anchor: date, future: bool) -> Found:
    saturday = shift_days(anchor, 5 - anchor.weekday())
    if not future and saturday > anchor:
        saturday = shift_days(saturday, -7)
    return saturday, Grain.WEEKEND


def _weekday(m: re.Match[str], anchor: date, future: bool) -> Found:
    name = m["weekday"].lower()
    target = next(i for i, day in enumerate(_WEEKDAYS) if day.startswith(name[:3]))
    way = _direction(m["shift"])
    if m["shift"] and m["shift"].lower() == "this":
        return shift_days(anchor, (target - anchor.weekday()) % 7), Grain.DAY
    if (way or (1 if future else -1)) > 0:
        return shift_days(anchor, (target - anchor.weekday() - 1) % 7 + 1), Grain.DAY
    back = (anchor.weekday() - target - 1) % 7 + 1
    if m["shift"] is None and back == 7:
        back = 0
    return shift_days(anchor, -back), Grain.DAY


def _day_of_month(m: re.Match[str], anchor: date, future: bool) -> Found:
    number = int(m["day"])
    base = anchor.replace(day=1)
    if not future and number > anchor.day:
        base = shift_months(base, -1)
    elif future and number < anchor.day:
        base = shift_months(base, 1)
    day = make_date(base.year, base.month, number)
    return (day, Grain.DAY) if day else None


def _named_day(m: re.Match[str], anchor: date, future: bool) -> Found:
    month, number = _NAMED_DAYS[m["named"].lower().replace("’", "'")]
    if m["year"]:
        return date(int(m["year"]), month, number), Grain.DAY
    day = _yearless(anchor, month, number, m["shift"], future)
    return (day, Grain.DAY) if day else None


_I = re.IGNORECASE
_NAMED = "|".join(name.replace("'", "['’]") for name in _NAMED_DAYS)
# Longer and more exact forms stand first; text that one form took is closed to the later ones.
_FORMS: tuple[tuple[re.Pattern[str], Handler, bool], ...] = (
    (re.compile(rf"\b{_YEAR}-(?P<m>\d\d)-(?P<d>\d\d)\b"), _iso, False),
    (re.compile(rf"\b{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?(?!\d)"), _day_month, False),
    (re.compile(rf"\b{_MONTH} (?:the )?{_DAY}\b(?:,? {_YEAR})?(?!\d)"), _day_month, False),
    (re.compile(rf"\b{_MONTH},?(?: of)? {_YEAR}\b"), _month_year, False),
    (
        re.compile(
            rf"\b(?:{_SHIFT} |(?:in|on|over|for|at|around|since|during)? ?\b)(?P<named>{_NAMED})"
            rf"(?:,? {_YEAR})?",
            _I,
        ),
        _named_day,
        True,
    ),
    (
        re.compile(
            rf"\b(?:(?:{_SHIFT}|in|early|late|mid|since|until|by|during|of|around|for)[ -])"
            rf"(?:early |late |mid-?)?{_MONTH}"
        ),
        _bare_month,
        True,
    ),
    (
        re.compile(
            rf"\b(?:{_SHIFT}|in(?: the)?|during the|over the|the|since|every)? ?\b"
            rf"(?P<season>spring|summer|autumn|winter|(?<=[st] )fall|(?<=the )fall)"
            rf"(?:(?: of)? {_YEAR})?\b(?! break| camp| vacation)",
            _I,
        ),
        _season,
        True,
    ),
    (
        re.compile(
            r"\b(?P<near>(?:the )?day before yesterday|(?:the )?day after tomorrow"
            r"|yesterday|last night|tomorrow|today|tonight|the day before|the day after"
            r"|(?:earlier )?this (?:morning|afternoon|evening)|just now)\b",
            _I,
        ),
        _near_day,
        True,
    ),
    (
        re.compile(rf"\b{_COUNT} {_UNIT}s? (?P<back>ago|back|earlier|before)\b", _I),
        _ago,
        True,
    ),
    (
        re.compile(
            rf"\b(?:in {_COUNT} {_UNIT}s?(?:['’]? time)?"
            rf"|{_COUNT.replace('count', 'n')} {_UNIT.replace('unit', 'u')}s? from now)\b",
            _I,
        ),
        _ahead,
        True,
    ),
    (re.compile(rf"\bthe {_UNIT} before(?P<twice> last)?\b", _I), _unit_before, True),
    (re.compile(rf"\b(?:the )?{_SHIFT} {_UNIT}\b", _I), _shifted_unit, True),
    (
        re.compile(
            rf"\b(?:{_SHIFT} |on |since |until |by |this coming )?"
            rf"(?P<weekday>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?<=[a-z] )(?:Tue|Thu|Fri)\b)"
            rf"(?!s)",
            _I,
        ),
        _weekday,
        True,
    ),
    (re.compile(r"\b(?:over|on|during) the weekend\b", _I), _weekend, True),
    (
        re.compile(r"\b(?:on |by )?the (?P<day>[0-3]?\d)(?:st|nd|rd|th)\b(?! \w+day)"),
        _day_of_month,
        True,
    ),
    (re.compile(rf"(?<![\d.,$€£-])\b{_YEAR}\b(?![\d.,]*\d|%)"), _year, False),
)


def find_dates(text: str, anchor: date | None) -> list[Resolved]:
    """All dates in `text`, in order of appearance, none overlapping another.

    Without an anchor only dates that need none (with a year) are found.
    """
    found: list[Resolved] = []
    future: bool | None = None
    for pattern, handler, relative in _FORMS:
        for match in pattern.finditer(text):
            if any(r.start < match.end() and match.start() < r.end for r in found):
                continue
            needs_anchor = relative or (handler is _day_month and not match["year"])
            if anchor is None and needs_anchor and not match.groupdict().get("year"):
                continue
            if future is None:
                future = _FUTURE.search(text) is not None
            result = handler(match, anchor or date(1, 1, 1), future)
            if result is not None:
                found.append(Resolved(match.start(), match.end(), *result, needs_anchor))
    return sorted(found, key=lambda r: r.start)


def read_date(text: str) -> date | None:
    """The first complete date (day, month, year) in a text such as a line's header."""
    return next((r.day for r in find_dates(text, None) if r.grain is Grain.DAY), None)
