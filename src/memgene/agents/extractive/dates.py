"""Moved to `memgene.retrieval.dates`."""

from memgene.retrieval.dates import Resolved, find_dates, read_date

__all__ = ["Resolved", "find_dates", "read_date"]
