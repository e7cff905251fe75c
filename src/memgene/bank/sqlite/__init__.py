"""The bank in one SQLite file."""

from memgene.bank.sqlite.bank import SqliteBank

__all__ = ["SqliteBank"]
