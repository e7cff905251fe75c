"""Keeping the word index and the trigram index in step with the units.

Both are FTS5 tables whose content is a view over `units` (schema.py), so the file holds each
text once. A row leaves an index before its unit changes and enters it again afterwards.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from memgene.bank.sqlite.conditions import chunks, marks

_INDICES = {"words": "content, summary, entities, topics, owner", "grams": "content, owner"}


def index_after(connection: sqlite3.Connection, seq: int) -> None:
    """Enter all active units above `seq`, which are not indexed yet."""
    for index, columns in _INDICES.items():
        connection.execute(
            f"INSERT INTO {index} (rowid, {columns})"
            f" SELECT seq, {columns} FROM {index}_source WHERE seq > ?",
            (seq,),
        )


def index_units(connection: sqlite3.Connection, seqs: Sequence[int]) -> None:
    """Enter these units (the active ones), which are not indexed at the moment."""
    for some in chunks(seqs):
        for index, columns in _INDICES.items():
            connection.execute(
                f"INSERT INTO {index} (rowid, {columns})"
                f" SELECT seq, {columns} FROM {index}_source WHERE seq IN ({marks(some)})",
                some,
            )


def unindex_units(connection: sqlite3.Connection, seqs: Sequence[int]) -> None:
    """Take these units out; must run while their rows still read as they were indexed."""
    for some in chunks(seqs):
        for index, columns in _INDICES.items():
            connection.execute(
                f"INSERT INTO {index} ({index}, rowid, {columns})"
                f" SELECT 'delete', seq, {columns} FROM {index}_source"
                f" WHERE seq IN ({marks(some)})",
                some,
            )


def purge(connection: sqlite3.Connection) -> None:
    """Purge the words of deleted units from the index segments (about 1 µs per indexed unit).

    FTS5 only marks a deletion and drops the words when segments merge; SQLite before 3.42 has
    no `secure-delete` for it. A lone segment is not merged by `optimize`, hence the rebuild.
    """
    for index in _INDICES:
        segments = connection.execute(f"SELECT count(DISTINCT segid) FROM {index}_idx").fetchone()
        step = "optimize" if segments[0] > 1 else "rebuild"
        connection.execute(f"INSERT INTO {index} ({index}) VALUES (?)", (step,))
