"""Whatever is stored comes back, and a scope admits what `Scope.admits` says: for any text."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.bank import Fate, MemoryUnit, SqliteBank, UnitStatus, UnitType
from memgene.core import FixedClock, Scope

BANK_SETTINGS = settings(max_examples=60, deadline=None)
NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)

# Any code point but lone surrogates and NUL; control characters and unassigned ones included.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)
ids = st.none() | texts.filter(bool)
scopes = st.builds(Scope, ids, ids, ids)
times = st.none() | st.datetimes(
    timezones=st.none() | st.sampled_from([UTC, timezone(timedelta(hours=-7, minutes=30))])
)
lists = st.lists(texts, max_size=3).map(tuple)
shares = st.floats(0, 1)
turns = st.none() | st.integers(0, 1 << 40)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
units = st.builds(
    MemoryUnit,
    content=texts.filter(str.strip),
    scope=scopes,
    type=st.sampled_from(UnitType),
    summary=texts,
    speaker=st.none() | texts,
    source=st.none() | texts,
    turn_start=turns,
    turn_end=turns,
    refs=lists,
    entities=lists,
    persons=lists,
    locations=lists,
    topics=lists,
    keywords=lists,
    tags=lists,
    importance=shares,
    confidence=shares,
    utility=shares,
    reinforcement=st.integers(0, 1 << 40),
    access_count=st.integers(0, 1 << 40),
    status=st.sampled_from(UnitStatus),
    event_time=times,
    created=times,
    updated=times,
    last_accessed=times,
    expires=times,
    metadata=st.dictionaries(texts, json_values, max_size=3),
    id=texts,
)


def stored_times(unit: MemoryUnit) -> list[str | None]:
    """Times with their zone: equal moments in two zones must not pass for one another."""
    moments = (unit.event_time, unit.created, unit.updated, unit.last_accessed, unit.expires)
    return [moment.isoformat() if moment else None for moment in moments]


@BANK_SETTINGS
@given(unit=units)
def test_any_unit_comes_back_as_it_was_stored(unit: MemoryUnit) -> None:
    with closing(SqliteBank(":memory:", FixedClock(NOON))) as bank:
        (receipt,) = bank.add([unit])
        assert (receipt.fate, receipt.reason) == (Fate.ADDED, "")
        (stored,) = bank.get([receipt.id])
        created = unit.created or NOON
        expected = replace(
            unit, id=receipt.id, seq=1, created=created, updated=unit.updated or created
        )
        assert stored == expected
        assert stored_times(stored) == stored_times(expected)
        assert repr(stored.metadata) == repr(expected.metadata)
        assert bank.verify() == []


@BANK_SETTINGS
@given(unit=units)
def test_the_index_holds_the_rendered_line(unit: MemoryUnit) -> None:
    with closing(SqliteBank(":memory:", FixedClock(NOON))) as bank:
        bank.add([replace(unit, status=UnitStatus.ACTIVE)])
        with bank._connections.reading() as connection:
            (row,) = connection.execute("SELECT content FROM words_source").fetchall()
        assert row == (unit.rendered,)


@BANK_SETTINGS
@given(unit=units)
def test_adding_a_stored_unit_again_changes_nothing(unit: MemoryUnit) -> None:
    with closing(SqliteBank(":memory:", FixedClock(NOON))) as bank:
        bank.add([replace(unit, status=UnitStatus.ACTIVE)])
        version = bank.version()
        (receipt,) = bank.add([replace(unit, status=UnitStatus.ACTIVE)])
        assert (receipt.fate, receipt.reason) == (Fate.MERGED, "an equal unit is stored")
        assert bank.version() == version


few_ids = st.sampled_from([None, "a", "b"])
few_scopes = st.builds(Scope, few_ids, few_ids, few_ids)


@BANK_SETTINGS
@given(stored=st.lists(few_scopes, max_size=6), queries=st.lists(few_scopes, min_size=1))
def test_a_scope_admits_exactly_what_it_says(stored: list[Scope], queries: list[Scope]) -> None:
    with closing(SqliteBank(":memory:", FixedClock(NOON))) as bank:
        added = [MemoryUnit(f"fact {n} 東京", scope=scope) for n, scope in enumerate(stored)]
        receipts = bank.add(added)
        for query in queries:
            mine = {
                receipt.id
                for receipt, unit in zip(receipts, added, strict=True)
                if query.admits(unit.scope)
            }
            assert {u.id for u in bank.scan(query)} == mine
            for terms in (["fact"], ["東京"], ["東京の", "fact"]):
                assert {m.id for m in bank.search_text(terms, query, 99)} == mine
