"""What is remembered: units with history, full text, vectors, relations and values."""

from memgene.bank.opening import open_bank
from memgene.bank.protocol import (
    Bank,
    BankStats,
    EmbedderInfo,
    Event,
    Fate,
    Filter,
    HistoryRow,
    Lesson,
    Problem,
    Relation,
    RelationKind,
    TextMatch,
    UnitReceipt,
    Value,
    Vectors,
)
from memgene.bank.sqlite import SqliteBank
from memgene.bank.unit import MemoryUnit, UnitStatus, UnitType

__all__ = [
    "Bank",
    "BankStats",
    "EmbedderInfo",
    "Event",
    "Fate",
    "Filter",
    "HistoryRow",
    "Lesson",
    "MemoryUnit",
    "Problem",
    "Relation",
    "RelationKind",
    "SqliteBank",
    "TextMatch",
    "UnitReceipt",
    "UnitStatus",
    "UnitType",
    "Value",
    "Vectors",
    "open_bank",
]
