"""What every backend promises (`memgene.bank.Bank`): adding, reading, scopes."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import product

import numpy as np
import pytest

from memgene.bank import (
    Bank,
    EmbedderInfo,
    Event,
    Fate,
    Filter,
    MemoryUnit,
    UnitStatus,
    UnitType,
)
from memgene.core import (
    InputError,
    Scope,
)
from memgene.testing.banks import found, put

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
EVERY = Filter(statuses=tuple(UnitStatus))
TINY = EmbedderInfo("tiny", 2)


FULL = MemoryUnit(
    content="Lena moved to Graz",
    scope=Scope("lena", "helper", "run-1"),
    type=UnitType.SEMANTIC,
    summary="a move",
    speaker="Lena",
    source="s1",
    turn_start=3,
    turn_end=4,
    refs=("D1:3", "D1:4"),
    entities=("Graz",),
    persons=("Lena",),
    locations=("Graz",),
    topics=("home",),
    keywords=("move", "city"),
    tags=("x",),
    importance=0.25,
    confidence=0.75,
    utility=0.125,
    reinforcement=2,
    access_count=7,
    event_time=datetime(2023, 5, 8, 13, 56, 7, 89),
    created=datetime(2024, 1, 1, tzinfo=UTC),
    updated=datetime(2024, 1, 2, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    last_accessed=datetime(2024, 1, 3, tzinfo=UTC),
    expires=datetime(2030, 1, 1),
    metadata={"channel": "mail", "nested": {"a": [1, 2.5, None, True]}},
)


class TestAdding:
    def test_a_unit_comes_back_as_it_was_stored(self, bank: Bank) -> None:
        (receipt,) = bank.add([FULL])
        assert receipt.id == FULL.identity()
        assert bank.get([receipt.id]) == [replace(FULL, id=receipt.id, seq=1)]

    def test_times_of_storage_come_from_the_clock(self, bank: Bank) -> None:
        (unit,) = bank.get(put(bank, "hello"))
        assert (unit.created, unit.updated, unit.event_time) == (NOON, NOON, None)

    def test_an_exact_duplicate_is_merged_and_changes_nothing(self, bank: Bank) -> None:
        (first,) = put(bank, "I like tea")
        version = bank.version()
        (receipt,) = bank.add([MemoryUnit("  I like\ttea ")])
        assert (receipt.fate, receipt.id, receipt.text) == (Fate.MERGED, first, "I like tea")
        assert receipt.reason == "an equal unit is stored"
        assert bank.version() == version

    @pytest.mark.parametrize(
        "other",
        [
            MemoryUnit("I have 4 cats"),
            MemoryUnit("I have 3 dogs"),
            MemoryUnit("I have not 3 cats"),
            MemoryUnit("I have 3 cats", speaker="Ann"),
            MemoryUnit("I have 3 cats", event_time=datetime(2023, 5, 8)),
            MemoryUnit("I have 3 cats", source="s2"),
            MemoryUnit("I have 3 cats", scope=Scope("ann")),
        ],
    )
    def test_any_change_is_a_new_fact(self, bank: Bank, other: MemoryUnit) -> None:
        put(bank, "I have 3 cats", other)

    def test_duplicates_in_one_batch_are_merged(self, bank: Bank) -> None:
        receipts = bank.add([MemoryUnit("a b"), MemoryUnit("c d"), MemoryUnit("a b", tags=("t",))])
        assert [r.fate for r in receipts] == [Fate.ADDED, Fate.ADDED, Fate.MERGED]
        assert receipts[2].id == receipts[0].id
        assert [u.tags for u in bank.scan()] == [("t",), ()]

    def test_a_merge_keeps_what_either_side_knows(self, bank: Bank) -> None:
        (unit_id,) = put(
            bank, MemoryUnit("x y", refs=("a",), metadata={"k": 1}, importance=0.5, summary="s")
        )
        (receipt,) = bank.add(
            [
                MemoryUnit(
                    "x y",
                    refs=("b", "a"),
                    entities=("Graz",),
                    metadata={"k": 2, "m": 3},
                    importance=0.75,
                    summary="t",
                )
            ]
        )
        (unit,) = bank.get([unit_id])
        assert unit.refs == ("a", "b")
        assert unit.entities == ("Graz",)
        assert unit.metadata == {"k": 1, "m": 3}
        assert (unit.importance, unit.summary) == (0.75, "s")
        assert "refs, entities, importance, metadata" in receipt.reason
        assert "summary, metadata 'k' stayed" in receipt.reason
        assert [row.event for row in bank.history(unit_id)] == [Event.ADD, Event.UPDATE]
        assert found(bank, "graz") == [unit_id]

    def test_a_deleted_unit_can_be_added_anew(self, bank: Bank) -> None:
        (unit_id,) = put(bank, "hello there")
        bank.delete([unit_id])
        assert put(bank, "hello there") == [unit_id]
        assert found(bank, "hello") == [unit_id]
        events = [row.event for row in bank.history(unit_id)]
        assert events == [Event.ADD, Event.DELETE, Event.ADD]

    @pytest.mark.parametrize("status", [UnitStatus.ARCHIVED, UnitStatus.SUPERSEDED])
    def test_what_is_said_anew_becomes_active_again(self, bank: Bank, status: UnitStatus) -> None:
        old, new = put(bank, "I live in Graz", "I live in Linz")
        bank.set_status([old], status, new if status is UnitStatus.SUPERSEDED else None)
        (receipt,) = bank.add([MemoryUnit("I live in Graz")])
        assert receipt.fate is Fate.MERGED
        assert f"was {status} and is active again" in receipt.reason
        (unit,) = bank.get([old])
        assert (unit.status, unit.superseded_by) == (UnitStatus.ACTIVE, None)
        assert bank.history(old)[-1].event is Event.RESTORE

    def test_the_same_turn_handed_in_again_stays_archived(self, bank: Bank) -> None:
        turn = MemoryUnit("I live in Graz", source="s1", turn_start=0)
        (unit_id,) = put(bank, turn)
        bank.set_status([unit_id], UnitStatus.ARCHIVED)
        version = bank.version()
        (receipt,) = bank.add([turn])
        assert receipt.fate is Fate.MERGED
        assert "stays archived" in receipt.reason
        assert bank.version() == version
        assert found(bank, "graz") == []

    @pytest.mark.parametrize(
        ("unit", "reason"),
        [
            (MemoryUnit(""), "blank"),
            (MemoryUnit(" \n\t "), "blank"),
            (MemoryUnit("a\x00b"), "NUL"),
            (MemoryUnit("a\ud800b"), "lone surrogate"),
            (MemoryUnit("ok", tags=("\udfff",)), "tags holds a lone surrogate"),
            (MemoryUnit("ok", scope=Scope("\ud800")), "scope"),
            (MemoryUnit("ok", metadata={"\ud800": 1}), "metadata holds a lone surrogate"),
            (MemoryUnit("ok", metadata={"when": datetime(2023, 1, 1)}), "JSON cannot hold"),
            (MemoryUnit("ok", metadata={"x": float("nan")}), "JSON cannot hold"),
            (MemoryUnit("ok", metadata={"x": {1: 2}}), "keys must be text"),
            (MemoryUnit("é" * (1 << 19) + "x"), "1048577 bytes"),
            (MemoryUnit("ok", importance=1.5), r"importance must lie in \[0, 1\]"),
            (MemoryUnit("ok", utility=float("nan")), "utility"),
            (MemoryUnit("ok", turn_start=-1), "turn_start"),
        ],
    )
    def test_what_cannot_be_stored_is_refused_alone(
        self, bank: Bank, unit: MemoryUnit, reason: str
    ) -> None:
        receipts = bank.add([MemoryUnit("before"), unit, MemoryUnit("after")])
        assert [r.fate for r in receipts] == [Fate.ADDED, Fate.REFUSED, Fate.ADDED]
        assert re.search(reason, receipts[1].reason)
        assert [u.content for u in bank.scan()] == ["before", "after"]

    def test_a_text_of_one_mebibyte_is_stored(self, bank: Bank) -> None:
        text = "é" * (1 << 19)
        (unit_id,) = put(bank, text)
        assert bank.get([unit_id])[0].content == text

    def test_an_id_of_ones_own_is_kept(self, bank: Bank) -> None:
        assert put(bank, MemoryUnit("hello", id="memo/räksmörgås")) == ["memo/räksmörgås"]
        (again,) = bank.add([MemoryUnit("hello", id="other")])
        assert (again.fate, again.id) == (Fate.MERGED, "memo/räksmörgås")
        (clash,) = bank.add([MemoryUnit("something else", id="memo/räksmörgås")])
        assert clash.fate is Fate.REFUSED
        assert "names another unit" in clash.reason

    def test_content_whose_id_an_updated_unit_holds_gets_another_id(self, bank: Bank) -> None:
        (first,) = put(bank, "I live in Graz")
        bank.update(replace(bank.get([first])[0], content="I live in Linz"))
        assert bank.existing([first]) == {first}
        assert bank.twins([MemoryUnit("I live in Graz").identity()]) == {}
        linz = MemoryUnit("I live in Linz")
        assert bank.twins([linz.identity(), "no identity"]) == {linz.identity(): first}
        (again,) = put(bank, "I live in Graz")
        assert again != first
        assert bank.add([linz])[0].id == first
        assert bank.verify() == []


class TestReading:
    def test_get_keeps_the_order_asked_and_leaves_out_the_unknown(self, bank: Bank) -> None:
        a, b = put(bank, "first", "second")
        assert [u.id for u in bank.get([b, "unknown", "\ud800", a])] == [b, a]
        assert bank.existing([b, "unknown", "\ud800"]) == {b}

    def test_scan_and_page_follow_insertion(self, bank: Bank) -> None:
        ids = put(bank, *(f"fact {n}" for n in range(2500)))
        assert [u.id for u in bank.scan()] == ids
        assert [u.id for u in bank.scan(after=2490)] == ids[2490:]
        assert [u.id for u in bank.scan(ids=[ids[9], ids[3], "unknown"])] == [ids[3], ids[9]]
        page = bank.page(None, limit=3, after=5)
        assert [u.id for u in page] == ids[5:8]
        assert bank.page(None, limit=0) == []

    def test_seq_is_never_used_again(self, bank: Bank) -> None:
        (first,) = put(bank, "one")
        bank.delete([first])
        (second,) = put(bank, "two")
        assert bank.get([second])[0].seq == 2

    def test_active_units_only_unless_asked_otherwise(self, bank: Bank) -> None:
        a, b, c = put(bank, "one", "two", "three")
        bank.set_status([b], UnitStatus.ARCHIVED)
        bank.set_status([c], UnitStatus.SUPERSEDED, a)
        assert [u.id for u in bank.scan()] == [a]
        assert [u.id for u in bank.scan(where=EVERY)] == [a, b, c]
        assert [u.id for u in bank.page(None, Filter(statuses=(UnitStatus.ARCHIVED,)))] == [b]

    def test_filters_by_type_source_and_time(self, bank: Bank) -> None:
        a, b, c = put(
            bank,
            MemoryUnit("one x", type=UnitType.SEMANTIC, event_time=datetime(2023, 5, 8)),
            MemoryUnit("two x", source="s1", event_time=datetime(2023, 5, 9, tzinfo=UTC)),
            MemoryUnit("three x", source="s2"),
        )
        expected = [
            (Filter(types=("semantic",)), [a]),
            (Filter(sources=("s1", "s2", "\ud800")), [b, c]),
            (Filter(since=datetime(2023, 5, 8)), [a, b]),
            (Filter(since=datetime(2023, 5, 8, 0, 0, 0, 1)), [b]),
            (Filter(until=datetime(2023, 5, 8)), [a]),
            (Filter(since=datetime(2023, 5, 9, 2, tzinfo=timezone(timedelta(hours=2)))), [b]),
            (Filter(types=("episodic",), sources=("s2",)), [c]),
        ]
        for where, ids in expected:
            assert [u.id for u in bank.scan(where=where)] == ids
            assert sorted(found(bank, "x", where=where)) == sorted(ids)

    @pytest.mark.parametrize(
        ("key", "value", "equal"),
        [
            ("k", 1, [1, True, 1.0]),
            ("k", True, [1, True, 1.0]),
            ("k", "1", ["1"]),
            ("k", None, [None]),
            ("k", 0.1, [0.1]),
            ("k", 1 << 70, [1 << 70]),
            ("k", "läuft 猫", ["läuft 猫"]),
            ("k", [1, {"a": None}], [[1, {"a": None}]]),
            ("absent", None, []),
            ("\ud800", 1, []),
            ('a"b.c[0]', 5, []),
        ],
    )
    def test_metadata_is_compared_as_python_does(
        self, bank: Bank, key: str, value: object, equal: list[object]
    ) -> None:
        values = [1, True, 1.0, "1", None, 0.1, 1 << 70, "läuft 猫", [1, {"a": None}], "\n", 2]
        put(bank, *(MemoryUnit(f"unit {n}", metadata={"k": v}) for n, v in enumerate(values)))
        hits = [u.metadata["k"] for u in bank.scan(where=Filter(metadata={key: value}))]
        assert list(map(repr, hits)) == list(map(repr, equal))

    def test_a_metadata_key_may_hold_anything(self, bank: Bank) -> None:
        (unit_id,) = put(bank, MemoryUnit("one", metadata={'a"b.c[0]': "\n"}))
        where = Filter(metadata={'a"b.c[0]': "\n"})
        assert [u.id for u in bank.scan(where=where)] == [unit_id]

    def test_a_filter_value_that_json_cannot_hold_is_an_error(self, bank: Bank) -> None:
        with pytest.raises(InputError, match="JSON cannot hold"):
            bank.page(None, Filter(metadata={"k": datetime(2023, 1, 1)}))


class TestScopes:
    IDS = (None, "a", "b")
    ALL = tuple(Scope(*ids) for ids in product(IDS, IDS, IDS))

    def test_every_read_admits_exactly_what_the_scope_admits(self, bank: Bank) -> None:
        bank.set_embedder(TINY)
        units = [MemoryUnit(f"fact {n} 東京", scope=scope) for n, scope in enumerate(self.ALL)]
        receipts = bank.add(units, np.ones((27, 2), dtype=np.float32))
        ids = [r.id for r in receipts]
        for query in self.ALL:
            mine = [i for i, unit in zip(ids, units, strict=True) if query.admits(unit.scope)]
            assert [u.id for u in bank.scan(query)] == mine
            assert [u.id for u in bank.page(query)] == mine
            assert [u.id for u in bank.get(ids, query)] == mine
            assert bank.all_vectors(query)[0] == mine
            assert bank.stats(query).units == len(mine)
            for term in ("fact", "東京"):
                matches = bank.search_text([term], query, 99)
                assert [m.id for m in matches] == mine
            assert bank.search_text(["京"], query, 99) == bank.search_text(["京"], query, 99)
            assert {m.id for m in bank.search_text(["京"], query, 99)} == set(mine)

    def test_an_unknown_owner_sees_nothing(self, bank: Bank) -> None:
        (unit_id,) = put(bank, MemoryUnit("secret", scope=Scope("ann")))
        for scope in (Scope("bob"), Scope(), Scope("\ud800"), Scope("ann", "\x00")):
            assert list(bank.scan(scope)) == []
            assert bank.get([unit_id], scope) == []
            assert found(bank, "secret", scope=scope) == []
            assert bank.delete([unit_id], scope) == 0
            assert bank.stats(scope).units == 0

    def test_delete_reaches_only_what_the_scope_admits(self, bank: Bank) -> None:
        a, b = put(bank, MemoryUnit("x", scope=Scope("a")), MemoryUnit("x", scope=Scope("b")))
        assert bank.delete([a, b], Scope("b")) == 1
        assert bank.existing([a, b]) == {a}
