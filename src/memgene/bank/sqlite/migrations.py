"""The schema as numbered migrations. A file remembers which ones it has had."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from memgene.bank.sqlite import schema
from memgene.core import BankError

APPLICATION_ID = 0x6D67656E  # "mgen": tells a bank from any other SQLite file
PAGE_SIZE = 8192  # seven 256-d vectors a page; 4096 wastes a quarter of each


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the format. Its statements run in one transaction and never change again."""

    number: int
    name: str
    statements: tuple[str, ...]


MIGRATIONS = (
    Migration(1, "units, text, vectors, relations, values, history", schema.FIRST),
    Migration(2, "states and lessons", schema.SECOND),
)


def migrate(connection: sqlite3.Connection, location: str) -> None:
    """Create the schema in an empty file, or apply the migrations a bank has not had yet."""
    if applied(connection, location) == MIGRATIONS[-1].number:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        done = applied(connection, location)  # another process may have been faster
        if done == 0:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for step in MIGRATIONS:
            if step.number > done:
                for statement in step.statements:
                    connection.execute(statement)
                connection.execute(
                    "INSERT INTO migrations (number, name) VALUES (?, ?)", (step.number, step.name)
                )
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def applied(connection: sqlite3.Connection, location: str) -> int:
    """Number of the last migration the file has had; 0 for an empty file. Only reads.

    Raises BankError when the file belongs to another program or to a newer memgene.
    """
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    if mark != APPLICATION_ID:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise BankError(
                f"{location} is an SQLite file of another program, not a memgene bank; "
                "it was left untouched"
            )
        return 0
    done = int(connection.execute("SELECT max(number) FROM migrations").fetchone()[0])
    if done > MIGRATIONS[-1].number:
        raise BankError(
            f"{location} has format {done}, this memgene reads up to {MIGRATIONS[-1].number}; "
            "upgrade memgene"
        )
    return done
