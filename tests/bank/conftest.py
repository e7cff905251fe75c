"""Banks under test. Another backend joins the contract by one more line in BACKENDS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from memgene.bank import Bank, SqliteBank
from memgene.core import FixedClock

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)

BACKENDS: dict[str, Callable[[Path], Bank]] = {
    "sqlite-file": lambda path: SqliteBank(path, FixedClock(NOON)),
    "sqlite-memory": lambda _: SqliteBank(":memory:", FixedClock(NOON)),
}


@pytest.fixture(params=BACKENDS)
def make_bank(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Bank]]:
    """Makes empty banks of one backend and closes them after the test."""
    made: list[Bank] = []
    number = count()

    def make() -> Bank:
        bank = BACKENDS[request.param](tmp_path / f"bank-{next(number)}.db")
        made.append(bank)
        return bank

    yield make
    for bank in made:
        bank.close()


@pytest.fixture
def bank(make_bank: Callable[[], Bank]) -> Bank:
    """An empty bank of each backend."""
    return make_bank()
