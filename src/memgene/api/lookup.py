"""Memories by id: all that are asked for, or an error that names the one that is not there."""

from __future__ import annotations

from memgene.bank.protocol import Bank
from memgene.bank.unit import MemoryUnit
from memgene.core import NotFoundError, Scope


def several(bank: Bank, ids: list[str], scope: Scope | None) -> list[MemoryUnit]:
    """The memories of these ids, all of them or none."""
    found = bank.get(ids, scope)
    known = {unit.id for unit in found}
    for id in ids:
        if id not in known:
            raise not_found(id)
    return found


def not_found(id: str) -> NotFoundError:
    """The error for an id that is not there, or another owner's."""
    return NotFoundError(f"there is no memory {id!r} here (for this owner)")
