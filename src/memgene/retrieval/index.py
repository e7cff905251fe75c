"""What retrieval keeps in memory about the units one query scope may see.

Built from the bank and brought up to date by version, so that it can always be rebuilt: words
(`Postings`), neighbours in a source, speakers, dates, rescoring values, vectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from memgene.bank.unit import MemoryUnit, render_date
from memgene.retrieval.growable import Column
from memgene.retrieval.postings import Postings
from memgene.retrieval.text import stem, words
from memgene.retrieval.traits import TRAITS, traits

NONE = -1
PREFIX = 4
_EPOCH = datetime(1970, 1, 1).toordinal()
_INDEXED = (
    "content",
    "speaker",
    "source",
    "turn_start",
    "event_time",
    "persons",
    "entities",
    "locations",
    "topics",
    "keywords",
    "seq",
)
Rows = NDArray[np.int64]


class UnitIndex:
    """Rows 0 … n−1, one a unit, in insertion order; removed rows stay as holes (`alive`)."""

    def __init__(self) -> None:
        self.units: list[MemoryUnit] = []
        self.row_of: dict[str, int] = {}
        self.row_of_seq: dict[int, int] = {}
        self.postings = Postings()
        self.surface: list[str] = []  # term id → the first word seen with that stem
        self._prefixes: dict[str, list[int]] = {}
        self._date_words: dict[str, int] = {}
        # derived from the columns, forgotten with every change
        self._window_lengths: dict[tuple[int, ...], tuple[NDArray[np.float32], float]] = {}
        self._date_parts: dict[str, NDArray[np.int64]] = {}
        self._source_lengths: tuple[NDArray[np.float64], int] | None = None
        self.sources: dict[str, int] = {}
        self.speakers: dict[str, int] = {}
        self.name_words: dict[str, set[int]] = {}  # stem of a name → speaker ids
        self._bearers: Counter[int] = Counter()  # speaker id → living units that name it
        self._alive = Column(np.bool_)
        self._source = Column(np.int32)
        self._speaker = Column(np.int32)
        self._previous = Column(np.int64)
        self._next = Column(np.int64)
        self._length = Column(np.float32)
        self._day = Column(np.float64)
        self._boosts = {n: Column(np.float32) for n in ("importance", "reinforcement", "utility")}
        self._traits: dict[int, tuple[float, ...]] = {}
        self._seq = Column(np.int64)
        self._labels: dict[str, list[int]] = {}
        self._members: dict[int, list[tuple[int, int, int]]] = {}
        self._living = 0

    # -- columns
    def __len__(self) -> int:
        return len(self.units)

    @property
    def living(self) -> int:
        """How many rows are alive."""
        return self._living

    @property
    def alive(self) -> NDArray[np.bool_]:
        return self._alive.values

    @property
    def source(self) -> NDArray[np.int32]:
        """Number of the unit's source, −1 without one."""
        return self._source.values

    @property
    def speaker(self) -> NDArray[np.int32]:
        """Number of the unit's speaker, −1 without one."""
        return self._speaker.values

    @property
    def seq(self) -> NDArray[np.int64]:
        """Insertion order given by the bank."""
        return self._seq.values

    @property
    def previous(self) -> Rows:
        """Row of the unit before in the same source, −1 at its start."""
        return self._previous.values

    @property
    def next(self) -> Rows:
        """Row of the unit after in the same source, −1 at its end."""
        return self._next.values

    @property
    def length(self) -> NDArray[np.float32]:
        """Words in the unit."""
        return self._length.values

    @property
    def day(self) -> NDArray[np.float64]:
        """Event time in days since year 1 (fractions are the time of day), NaN without one."""
        return self._day.values

    def boost(self, name: str) -> NDArray[np.float32]:
        """Column `importance`, `reinforcement` or `utility`."""
        return self._boosts[name].values

    def traits_at(self, rows: Rows) -> NDArray[np.float32]:
        """`TRAITS` of some rows, shape (rows, traits); read from the text at first need."""
        known = self._traits
        for row in rows.tolist():
            if row not in known:
                known[row] = traits(self.units[row])
        found = [known[row] for row in rows.tolist()]
        return np.asarray(found, np.float32).reshape(len(found), len(TRAITS))

    # -- changes
    def append(self, units: Sequence[MemoryUnit]) -> None:
        """Add rows."""
        first = len(self.units)
        self._forget_derived()
        documents = [words(u.spoken) for u in units]
        stemmed = [[stem(w) for w in document] for document in documents]
        self.postings.append(stemmed)
        self._remember_surfaces(documents, stemmed)
        self.units.extend(units)
        lengths = [len(d) for d in documents]
        self._length.extend(lengths)
        self._alive.extend([True] * len(units))
        self._living += len(units)
        self._seq.extend([u.seq for u in units])
        self._day.extend([day_number(u.event_time) for u in units])
        for name, column in self._boosts.items():
            column.extend([getattr(u, name) for u in units])
        self._speaker.extend([self._speaker_number(u) for u in units])
        self._source.extend(
            [
                NONE if u.source is None else self.sources.setdefault(u.source, len(self.sources))
                for u in units
            ]
        )
        self._previous.extend([NONE] * len(units))
        self._next.extend([NONE] * len(units))
        touched: dict[int, None] = {}
        for row, unit in enumerate(units, first):
            self.row_of[unit.id] = self.row_of_seq[unit.seq] = row
            self._count_date(unit, 1)
            persons = (p for p in unit.persons if p != unit.speaker)
            for label in (*persons, *unit.entities, *unit.locations, *unit.topics, *unit.keywords):
                for w in words(label):
                    self._labels.setdefault(stem(w), []).append(row)
            if unit.source is not None:
                turn = unit.seq if unit.turn_start is None else unit.turn_start
                number = self.sources[unit.source]
                self._members.setdefault(number, []).append((turn, unit.seq, row))
                touched[number] = None
        for number in touched:
            self._chain(number)

    def remove(self, unit_id: str) -> None:
        """Take a unit out of every answer and statistic; unknown ids are ignored."""
        row = self.row_of.pop(unit_id, None)
        if row is None:
            return
        self._forget_derived()
        self.row_of_seq.pop(self.units[row].seq, None)
        self._count_date(self.units[row], -1)
        self.alive[row] = False
        self._living -= 1
        self.postings.remove(row)
        self._forget_names(self.units[row])
        number = int(self.source[row])
        if number != NONE:
            self._members[number] = [m for m in self._members[number] if m[2] != row]
            self._chain(number)
        self.previous[row] = self.next[row] = NONE

    def revalue(self, row: int, unit: MemoryUnit) -> bool:
        """Take over changed values (importance, utility, metadata, …); False if more changed."""
        old = self.units[row]
        if any(getattr(old, name) != getattr(unit, name) for name in _INDEXED):
            return False
        self.units[row] = unit
        for name, column in self._boosts.items():
            column.values[row] = getattr(unit, name)
        if old.metadata != unit.metadata:
            self._traits.pop(row, None)
        return True

    def set_utility(self, row: int, utility: float) -> None:
        """Take over a learned value. The column `utility` has it; the unit itself stays as it was
        read, since learning moves many units at once and nothing that ranks reads it there."""
        self._boosts["utility"].values[row] = utility

    def _forget_derived(self) -> None:
        self._window_lengths.clear()
        self._date_parts.clear()
        self._source_lengths = None

    def _count_date(self, unit: MemoryUnit, by: int) -> None:
        if unit.event_time is not None:
            for s in {stem(w) for w in words(render_date(unit.event_time))}:
                self._date_words[s] = self._date_words.get(s, 0) + by

    def _chain(self, source: int) -> None:
        """Link the living units of a source in the order of their turns."""
        members = self._members[source]
        members.sort()
        rows = np.fromiter((m[2] for m in members), np.int64, len(members))
        if len(rows):
            self.previous[rows] = np.concatenate([[NONE], rows[:-1]])
            self.next[rows] = np.concatenate([rows[1:], [NONE]])

    def _speaker_number(self, unit: MemoryUnit) -> int:
        for name in _names(unit):
            number = self.speakers.setdefault(name, len(self.speakers))
            self._bearers[number] += 1
            for w in words(name):
                self.name_words.setdefault(stem(w), set()).add(number)
        return self.speakers[unit.speaker] if unit.speaker else NONE

    def _forget_names(self, unit: MemoryUnit) -> None:
        """Names that no living unit bears are words like any other."""
        for name in _names(unit):
            number = self.speakers[name]
            self._bearers[number] -= 1
            for w in words(name) if not self._bearers[number] else ():
                bearers = self.name_words.get(stem(w), set())
                bearers.discard(number)
                if not bearers:
                    self.name_words.pop(stem(w), None)

    def _remember_surfaces(self, documents: list[list[str]], stemmed: list[list[str]]) -> None:
        for document, stems in zip(documents, stemmed, strict=True):
            for word, s in zip(document, stems, strict=True):
                if self.postings.vocabulary[s] == len(self.surface):
                    self.surface.append(word)
                    if len(s) >= PREFIX:
                        self._prefixes.setdefault(s[:PREFIX], []).append(len(self.surface) - 1)

    def labelled(self, stem: str) -> Rows:
        """Rows whose persons (but the speaker), entities, locations, topics or keywords hold a
        stem."""
        return np.unique(np.asarray(self._labels.get(stem, []), np.int64))

    def prefixed(self, stem: str) -> list[int]:
        """Terms that share the first four characters with a stem."""
        return self._prefixes.get(stem[:PREFIX], [])

    # -- neighbours
    def shifted(self, rows: Rows, offset: int) -> Rows:
        """Rows `offset` places further in the same source; −1 where there is none."""
        step = self.next if offset > 0 else self.previous
        for _ in range(abs(offset)):
            # −1 would read the last row; it is put right after the look-up
            rows = np.where(rows == NONE, NONE, step[rows]) if len(step) else rows
        return rows

    def text_df(self, stem: str) -> int:
        """In how many living units the bank's full text holds a stem, dates included (a unit
        that says it twice, in its words and its date, counts twice)."""
        term = self.postings.term(stem)
        return (0 if term is None else self.postings.df(term)) + self._date_words.get(stem, 0)

    def date_part(self, name: str) -> NDArray[np.int64]:
        """`year`, `month` or `day` of each unit's event time; −1 without one."""
        if name not in self._date_parts:
            known = ~np.isnan(self.day)
            days = np.where(known, self.day, 1).astype(np.int64) - _EPOCH
            date = days.astype("datetime64[D]")
            month = date.astype("datetime64[M]")
            parts = {
                "year": date.astype("datetime64[Y]").astype(np.int64) + 1970,
                "month": month.astype(np.int64) % 12 + 1,
                "day": (date - month).astype(np.int64) + 1,
            }
            self._date_parts = {n: np.where(known, p, NONE) for n, p in parts.items()}
        return self._date_parts[name]

    def source_lengths(self) -> tuple[NDArray[np.float64], int]:
        """Words in the living units of each source, and how many sources have living units."""
        if self._source_lengths is None:
            owned = (self.source != NONE) & self.alive
            lengths = np.bincount(self.source[owned], self.length[owned], len(self.sources))
            living = len(np.unique(self.source[owned]))
            self._source_lengths = (lengths.astype(np.float64), living)
        return self._source_lengths

    def window_lengths(self, offsets: tuple[int, ...]) -> tuple[NDArray[np.float32], float]:
        """Words in the rows at `offsets` around each row, and their mean over living rows."""
        if offsets not in self._window_lengths:
            everything = np.arange(len(self))
            total = np.zeros(len(self), np.float32)
            for offset in offsets:
                rows = self.shifted(everything, offset)
                total += np.where(rows == NONE, 0, self.length[rows])
            mean = float(total[self.alive].mean()) if self.living else 1.0
            self._window_lengths[offsets] = (total, max(mean, 1.0))
        return self._window_lengths[offsets]


def _names(unit: MemoryUnit) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*unit.persons, unit.speaker) if unit.speaker else unit.persons))


def day_number(moment: datetime | None) -> float:
    """Days since year 1 as a float; NaN for None. Time zones are ignored (compared as given)."""
    if moment is None:
        return float("nan")
    seconds = moment.hour * 3600 + moment.minute * 60 + moment.second
    return moment.toordinal() + seconds / 86400
