"""Counts and size of a bank."""

from __future__ import annotations

import sqlite3

from memgene.bank.protocol import BankStats
from memgene.bank.sqlite.conditions import ANY_STATUS, conditions
from memgene.bank.sqlite.history import version
from memgene.bank.sqlite.vectors import embedder
from memgene.bank.unit import UnitStatus
from memgene.core import Scope


def stats(connection: sqlite3.Connection, scope: Scope | None) -> BankStats:
    """Counts of what the scope admits; size, embedder and version are the whole bank's."""
    admitted = conditions(connection, scope, ANY_STATUS)
    condition = "FALSE" if admitted.nothing else admitted.sql()
    parameters = () if admitted.nothing else admitted.parameters

    def count(sql: str) -> int:
        return int(connection.execute(f"{sql} WHERE {condition}", parameters).fetchone()[0])

    by_status = dict.fromkeys((s.value for s in UnitStatus), 0)
    by_status.update(
        connection.execute(
            f"SELECT u.status, count(*) FROM units u WHERE {condition} GROUP BY u.status",
            parameters,
        )
    )
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    size = connection.execute("PRAGMA page_size").fetchone()[0]
    history = "SELECT count(*) FROM history h"
    return BankStats(
        units=sum(by_status.values()),
        by_status=by_status,
        sources=count("SELECT count(DISTINCT u.source) FROM units u"),
        relations=count("SELECT count(*) FROM relations r JOIN units u ON u.seq = r.source"),
        history=(
            int(connection.execute(history).fetchone()[0])
            if scope is None
            else count(f"{history} JOIN units u ON u.id = h.unit_id")
        ),
        bytes=pages * size,
        embedder=embedder(connection),
        version=version(connection),
    )
