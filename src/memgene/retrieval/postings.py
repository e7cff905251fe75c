"""Word statistics in memory: which rows hold a stem, how often; exact under adds and removals."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]

_TAIL_LEAST = 2_000
_NO_ROWS: Ints = np.empty(0, np.int32)
_NO_COUNTS: Floats = np.empty(0, np.float32)


class Postings:
    """Inverted index over rows 0, 1, 2 …: a sorted main part and a short tail of recent rows.

    Removed rows stay in the lists (callers mask them) but leave every statistic at once.
    """

    def __init__(self) -> None:
        self.vocabulary: dict[str, int] = {}
        self._terms: list[Ints] = []  # distinct term ids of a row
        self._counts: list[Floats] = []
        self._ordered: list[Ints] = []  # term ids of a row in reading order
        self._df = np.zeros(1024, np.int32)
        self._starts: NDArray[np.int64] = np.zeros(1, np.int64)
        self._rows: Ints = _NO_ROWS
        self._tfs: Floats = _NO_COUNTS
        self._main = 0
        self._tail: dict[int, tuple[array[int], array[float]]] = {}

    def __len__(self) -> int:
        return len(self._terms)

    def append(self, documents: Sequence[Sequence[str]]) -> None:
        """Add rows, each a list of stems."""
        vocabulary = self.vocabulary
        for stems in documents:
            counted: dict[int, int] = {}
            ordered = [vocabulary.setdefault(s, len(vocabulary)) for s in stems]
            self._ordered.append(np.asarray(ordered, np.int32))
            for term in ordered:
                counted[term] = counted.get(term, 0) + 1
            terms = np.fromiter(counted, np.int32, len(counted))
            self._terms.append(terms)
            self._counts.append(np.fromiter(counted.values(), np.float32, len(counted)))
        while len(vocabulary) > len(self._df):
            self._df = np.concatenate([self._df, np.zeros_like(self._df)])
        new = range(len(self._terms) - len(documents), len(self._terms))
        for row in new:
            self._df[self._terms[row]] += 1
        if len(self._terms) - self._main > max(_TAIL_LEAST, self._main // 8):
            self._compact()
        else:
            for row in new:
                for term, count in zip(
                    self._terms[row].tolist(), self._counts[row].tolist(), strict=True
                ):
                    rows, counts = self._tail.setdefault(term, (array("i"), array("f")))
                    rows.append(row)
                    counts.append(count)

    def remove(self, row: int) -> None:
        """Take a row out of the document frequencies."""
        self._df[self._terms[row]] -= 1

    def _compact(self) -> None:
        """Sort all rows into the main part."""
        sizes = np.fromiter((len(t) for t in self._terms), np.int64, len(self._terms))
        terms = np.concatenate(self._terms) if self._terms else _NO_ROWS
        order = np.argsort(terms, kind="stable")
        rows = np.repeat(np.arange(len(self._terms), dtype=np.int32), sizes)
        self._rows = rows[order]
        self._tfs = np.concatenate(self._counts)[order] if self._counts else _NO_COUNTS
        starts = np.zeros(len(self.vocabulary) + 1, np.int64)
        np.cumsum(np.bincount(terms, minlength=len(self.vocabulary)), out=starts[1:])
        self._starts = starts
        self._main = len(self._terms)
        self._tail = {}

    def term(self, stem: str) -> int | None:
        """Id of a stem, None if no living row holds it."""
        term = self.vocabulary.get(stem)
        return term if term is not None and self._df[term] else None

    def df(self, term: int) -> int:
        """In how many living rows the term occurs."""
        return int(self._df[term])

    def rows(self, term: int) -> tuple[Ints, Floats]:
        """Rows (ascending) that hold the term, and how often each does."""
        if term + 1 < len(self._starts):
            part = slice(self._starts[term], self._starts[term + 1])
            rows, counts = self._rows[part], self._tfs[part]
        else:
            rows, counts = _NO_ROWS, _NO_COUNTS
        tail = self._tail.get(term)
        if tail:
            rows = np.concatenate([rows, np.frombuffer(tail[0], np.int32)])
            counts = np.concatenate([counts, np.frombuffer(tail[1], np.float32)])
        return rows, counts

    def terms_of(self, row: int) -> Ints:
        """Distinct term ids of a row, in order of first occurrence."""
        return self._terms[row]

    def reading(self, row: int) -> Ints:
        """Term ids of a row in reading order, repeats included."""
        return self._ordered[row]
