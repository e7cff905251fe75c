"""What every backend promises (`memgene.bank.Bank`), one behaviour per test."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import product
from threading import Thread

import numpy as np
import pytest

from memgene.bank import (
    Bank,
    EmbedderInfo,
    Event,
    Fate,
    Filter,
    MemoryUnit,
    Relation,
    RelationKind,
    UnitStatus,
    UnitType,
    Value,
)
from memgene.core import (
    BankError,
    EmbedderMismatchError,
    InputError,
    NotFoundError,
    Scope,
    content_hash,
)

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
EVERY = Filter(statuses=tuple(UnitStatus))
TINY = EmbedderInfo("tiny", 2)


def put(bank: Bank, *units: MemoryUnit | str) -> list[str]:
    """Add units, all of which must be new; returns their ids."""
    receipts = bank.add([MemoryUnit(u) if isinstance(u, str) else u for u in units])
    assert [r.fate for r in receipts] == [Fate.ADDED] * len(units)
    return [r.id for r in receipts]


def found(bank: Bank, *terms: str, scope: Scope | None = None, where: Filter | None = None) -> list:
    return [match.id for match in bank.search_text(terms, scope, 10, where)]


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


class TestUpdating:
    def test_an_update_replaces_the_unit_and_its_index_entries(self, bank: Bank) -> None:
        (unit_id,) = put(bank, MemoryUnit("I live in Graz", scope=Scope("u")))
        unit = replace(bank.get([unit_id])[0], content="I live in Linz", topics=("home",))
        stored = bank.update(unit)
        assert stored == replace(unit, updated=NOON)
        assert bank.get([unit_id]) == [stored]
        assert found(bank, "graz") == []
        assert found(bank, "linz") == found(bank, "homes") == [unit_id]
        last = bank.history(unit_id)[-1]
        assert last.event is Event.UPDATE
        assert last.payload == {"before": {"content": "I live in Graz", "topics": []}}
        assert last.content_hash == content_hash("I live in Linz")

    def test_an_update_without_change_writes_nothing(self, bank: Bank) -> None:
        (unit_id,) = put(bank, "hello")
        version = bank.version()
        bank.update(bank.get([unit_id])[0])
        assert bank.version() == version

    def test_an_update_may_move_a_unit_to_another_owner(self, bank: Bank) -> None:
        (unit_id,) = put(bank, MemoryUnit("hello", scope=Scope("a")))
        put(bank, MemoryUnit("other", scope=Scope("c")))
        bank.update(replace(bank.get([unit_id])[0], scope=Scope("b")))
        assert found(bank, "hello", scope=Scope("a")) == []
        assert found(bank, "hello", scope=Scope("b")) == [unit_id]
        assert bank.verify() == []

    def test_what_an_update_refuses(self, bank: Bank) -> None:
        a, b = put(bank, "one", "two")
        with pytest.raises(NotFoundError, match="no unit 'nobody'"):
            bank.update(MemoryUnit("x", id="nobody"))
        with pytest.raises(InputError, match="blank"):
            bank.update(MemoryUnit(" ", id=a))
        with pytest.raises(InputError, match=f"equal unit is stored already: {b}"):
            bank.update(MemoryUnit("two", id=a))

    def test_a_vector_of_the_former_text_does_not_survive(self, bank: Bank) -> None:
        bank.set_embedder(TINY)
        (receipt,) = bank.add([MemoryUnit("one")], np.array([[1, 0]], np.float32))
        unit = bank.get([receipt.id])[0]
        bank.update(replace(unit, tags=("t",)))
        assert bank.vectors([receipt.id])[0] == [receipt.id]
        bank.update(replace(unit, content="two"), np.array([0, 1], np.float32))
        assert bank.vectors([receipt.id])[1].tolist() == [[0, 1]]
        bank.update(replace(unit, content="three"))
        assert bank.vectors([receipt.id])[0] == []

    def test_status_changes_keep_the_lineage(self, bank: Bank) -> None:
        old, new = put(bank, "I live in Graz", "I live in Linz")
        assert bank.set_status([old, "unknown"], UnitStatus.SUPERSEDED, new) == 1
        assert bank.set_status([old], UnitStatus.SUPERSEDED, new) == 0
        assert bank.get([old])[0].superseded_by == new
        assert found(bank, "live") == [new]
        bank.set_status([old], UnitStatus.ARCHIVED)
        assert bank.get([old])[0].superseded_by == new
        bank.set_status([old], UnitStatus.ACTIVE)
        assert bank.get([old])[0].superseded_by is None
        assert sorted(found(bank, "live")) == sorted([old, new])
        rows = bank.history(old)
        assert [r.event for r in rows] == ["add", "supersede", "archive", "restore"]
        assert rows[1].payload == {"before": {"status": "active", "superseded_by": None}}

    def test_what_a_status_change_refuses(self, bank: Bank) -> None:
        (a,) = put(bank, "one")
        with pytest.raises(NotFoundError):
            bank.set_status([a], UnitStatus.SUPERSEDED, "nobody")
        with pytest.raises(InputError):
            bank.set_status([a], UnitStatus.SUPERSEDED, a)
        with pytest.raises(InputError):
            bank.set_status([a], UnitStatus.ARCHIVED, a)

    def test_feedback_is_counted_and_logged(self, bank: Bank) -> None:
        a, b = put(bank, "one", "two")
        bank.touch([a, b, a], 0.5, "which?")
        bank.touch([a], 1.0, None)
        assert [(u.access_count, u.last_accessed) for u in bank.scan()] == [(2, NOON), (1, NOON)]
        assert [r.payload for r in bank.history(a)[1:]] == [
            {"reward": 0.5, "query": "which?"},
            {"reward": 1.0},
        ]
        with pytest.raises(NotFoundError):
            bank.touch(["nobody"], 1.0, None)
        with pytest.raises(InputError):
            bank.touch([a], float("nan"), None)


class TestDeleting:
    def test_deletion_reaches_every_derived_row(self, bank: Bank) -> None:
        bank.set_embedder(TINY)
        units = [MemoryUnit("東京 secret", scope=Scope("u")), MemoryUnit("other", scope=Scope("u"))]
        a, b = (r.id for r in bank.add(units, np.ones((2, 2), np.float32)))
        bank.relate([Relation(RelationKind.DENSE, a, b), Relation(RelationKind.TIME, b, a)])
        bank.set_values([Value(a, "", 0.25), Value(a, "when", 0.5)])
        bank.touch([a], 1.0, "secret query")
        assert bank.delete([a, "unknown"]) == 1
        assert bank.get([a]) == []
        assert found(bank, "secret", "東京") == []
        assert bank.document_frequency(["secret", "東京"]) == {"secret": 0, "東京": 0}
        assert bank.vectors([a])[0] == []
        assert bank.relations([a, b]) == []
        assert bank.values([a]) == []
        rows = bank.history(a)
        assert [r.payload for r in rows] == [None] * len(rows)
        assert rows[-1].event is Event.DELETE
        assert rows[0].content_hash == content_hash("東京 secret")
        assert bank.verify() == []

    def test_deletion_closes_the_gap_in_a_chain_of_supersession(self, bank: Bank) -> None:
        a, b, c = put(bank, "v1", "v2", "v3")
        bank.set_status([a], UnitStatus.SUPERSEDED, b)
        bank.set_status([b], UnitStatus.SUPERSEDED, c)
        bank.update(replace(bank.get([c])[0], supersedes=b))
        bank.update(replace(bank.get([b])[0], supersedes=a))
        bank.delete([b])
        first, last = bank.get([a, c])
        assert (first.status, first.superseded_by) == (UnitStatus.SUPERSEDED, c)
        assert last.supersedes == a
        bank.delete([c])
        assert bank.get([a])[0].superseded_by is None
        assert bank.verify() == []

    def test_thousands_at_once(self, bank: Bank) -> None:
        ids = put(bank, *(f"fact {n}" for n in range(2500)))
        assert bank.delete(ids[:2400]) == 2400
        assert [u.id for u in bank.scan()] == ids[2400:]
        assert bank.verify() == []


class TestSearching:
    def test_words_are_found_by_their_stem_without_accents(self, bank: Bank) -> None:
        (a, b) = put(bank, "She was running in Málaga", "nothing here")
        assert found(bank, "runs") == found(bank, "MALAGA") == found(bank, "málaga") == [a]
        assert found(bank, "runs", "nothing") in ([a, b], [b, a])

    def test_speaker_date_summary_entities_and_topics_are_searched(self, bank: Bank) -> None:
        unit = MemoryUnit(
            "hello",
            speaker="Wendelin",
            event_time=datetime(2023, 5, 8),
            summary="greeting",
            entities=("Graz", "Castle Hill"),
            topics=("manners",),
        )
        (unit_id,) = put(bank, unit)
        put(bank, "nothing else")
        for term in ("wendelin", "May", "2023", "8", "greetings", "graz", "castle", "manner"):
            assert found(bank, term) == [unit_id]
        assert found(bank, "persons") == []

    def test_more_and_rarer_terms_score_higher(self, bank: Bank) -> None:
        ids = put(bank, "common one", "common two", "rare three", "both four")
        put(bank, *(f"padding number {n}" for n in range(20)))
        bank.update(replace(bank.get([ids[3]])[0], content="common rare"))
        matches = bank.search_text(["common", "rare"], None, 10)
        assert [m.id for m in matches] == [ids[3], ids[2], ids[0], ids[1]]
        scores = [m.score for m in matches]
        assert scores == sorted(scores, reverse=True)
        assert min(scores) > 0
        assert bank.search_text(["common", "rare"], None, 2) == matches[:2]

    def test_ties_keep_the_order_of_insertion(self, bank: Bank) -> None:
        ids = put(bank, *(MemoryUnit("same words", source=f"s{n}") for n in range(50)))
        assert [m.id for m in bank.search_text(["same"], None, 50)] == ids

    @pytest.mark.parametrize(
        ("text", "term"),
        [
            ("我喜欢东京的猫", "东京"),
            ("我喜欢东京的猫", "猫"),
            ("我喜欢东京的猫", "喜欢东京"),
            ("猫が好きです。", "好き"),
            ("ฉันชอบแมวสีดำ", "แมว"),
            ("ខ្ញុំចូលចិត្តឆ្មា", "ឆ្មា"),
            ("ຂ້ອຍມັກແມວ", "ແມວ"),
            ("ကျွန်တော်ကြောင်ကိုချစ်တယ်", "ကြောင်"),
            ("학교에 갔다", "학교"),
            ("我用iPhone手机", "iphone手机"),
            ("血型是A型", "a型"),
        ],
    )
    def test_scripts_without_spaces_are_found_by_substring(
        self, bank: Bank, text: str, term: str
    ) -> None:
        (unit_id,) = put(bank, text)
        put(bank, "something in English", "别的东西", "ไม่มีอะไร")
        assert found(bank, term) == [unit_id]
        assert bank.document_frequency([term]) == {term: 1}
        bank.set_status([unit_id], UnitStatus.ARCHIVED)
        assert found(bank, term) == []

    def test_words_and_substrings_add_up(self, bank: Bank) -> None:
        both, word, part = put(bank, "Kyoto 東京都 trip", "Kyoto trip at last", "東京都 の 旅")
        put(bank, *(f"padding {n} 別" for n in range(20)))
        assert found(bank, "kyoto", "東京都")[0] == both
        assert set(found(bank, "kyoto", "東京都")) == {both, word, part}
        assert set(found(bank, "kyoto", "東")) == {both, word, part}

    @pytest.mark.parametrize(
        "term",
        ['"', '""', "a AND", "NOT", "OR", "(", "content:x", "x*", "^x", "NEAR(a b)", "-x", "+", "'",
         "\\", "\x00", "\ud800", "", " ", "!!!", "{a b}:", "a\nb", "\ue0001\ue001", "x" * 5000],
    )  # fmt: skip
    def test_no_term_is_syntax(self, bank: Bank, term: str) -> None:
        (unit_id,) = put(bank, "ordinary words")
        assert found(bank, term) == []
        assert found(bank, term, "ordinary") == [unit_id]
        assert bank.document_frequency([term]) == {term: 0}

    def test_a_term_of_several_words_is_a_phrase(self, bank: Bank) -> None:
        (a, _) = put(bank, "the well-known painter", "known well to all")
        assert found(bank, "well-known") == [a]
        assert bank.document_frequency(["well-known"]) == {"well-known": 1}

    def test_nothing_asked_nothing_found(self, bank: Bank) -> None:
        put(bank, "hello")
        assert bank.search_text([], None, 5) == bank.search_text(["hello"], None, 0) == []
        where = Filter(statuses=(UnitStatus.ARCHIVED,))
        assert bank.search_text(["hello"], None, 5, where) == []

    def test_thousands_of_terms(self, bank: Bank) -> None:
        (unit_id,) = put(bank, "needle")
        assert found(bank, *(f"w{n}" for n in range(3000)), "needle") == [unit_id]

    def test_document_frequency_counts_units_over_all_owners(self, bank: Bank) -> None:
        put(
            bank,
            MemoryUnit("cats and cats", scope=Scope("a")),
            MemoryUnit("a cat", scope=Scope("b")),
            "no pets",
        )
        assert bank.document_frequency(["cat", "pet", "dog"]) == {"cat": 2, "pet": 1, "dog": 0}


class TestVectors:
    def test_vectors_come_back_in_the_order_asked(self, bank: Bank) -> None:
        bank.set_embedder(TINY)
        matrix = np.array([[1, 0], [0.1, -2], [3e-39, 7]], np.float32)
        ids = [r.id for r in bank.add([MemoryUnit(c) for c in "abc"], matrix)]
        put(bank, "without")
        names, stored = bank.vectors([ids[2], "unknown", ids[0]])
        assert names == [ids[2], ids[0]]
        assert stored.dtype == np.float32
        assert stored.tobytes() == matrix[[2, 0]].tobytes()
        assert bank.all_vectors()[0] == ids
        assert bank.all_vectors()[1].tobytes() == matrix.tobytes()
        assert bank.all_vectors(after=1)[0] == ids[1:]

    def test_a_bank_without_vectors_gives_an_empty_matrix(self, bank: Bank) -> None:
        assert bank.embedder() is None
        assert bank.all_vectors()[1].shape == (0, 0)
        bank.set_embedder(TINY)
        assert bank.all_vectors()[1].shape == (0, 2)
        assert bank.embedder() == TINY

    def test_refused_and_merged_units_do_not_shift_the_rows(self, bank: Bank) -> None:
        bank.set_embedder(TINY)
        (plain,) = put(bank, "a")
        units = [MemoryUnit(" "), MemoryUnit("a"), MemoryUnit("b"), MemoryUnit("b")]
        receipts = bank.add(units, np.array([[9, 9], [1, 1], [2, 2], [3, 3]], np.float32))
        names, matrix = bank.all_vectors()
        assert names == [plain, receipts[2].id]
        assert matrix.tolist() == [[1, 1], [2, 2]]
        assert bank.history(plain)[-1].event is Event.REEMBED

    def test_another_embedder_is_an_error_while_vectors_are_stored(self, bank: Bank) -> None:
        bank.set_embedder(EmbedderInfo("early", 3))
        bank.set_embedder(TINY)
        bank.add([MemoryUnit("a")], np.ones((1, 2), np.float32))
        for other in (EmbedderInfo("tiny", 3), EmbedderInfo("huge", 2)):
            with pytest.raises(EmbedderMismatchError, match=r"tiny.*memgene reembed"):
                bank.set_embedder(other)
        assert bank.embedder() == TINY

    @pytest.mark.parametrize("shape", [(1, 3), (2, 2), (2,), (1, 0)])
    def test_a_wrong_shape_is_an_error(self, bank: Bank, shape: tuple[int, ...]) -> None:
        bank.set_embedder(TINY)
        with pytest.raises(InputError, match="shape"):
            bank.add([MemoryUnit("a")], np.ones(shape, np.float32))
        assert list(bank.scan()) == []

    def test_vectors_need_an_embedder_and_finite_numbers(self, bank: Bank) -> None:
        with pytest.raises(InputError, match="set_embedder"):
            bank.add([MemoryUnit("a")], np.ones((1, 2), np.float32))
        bank.set_embedder(TINY)
        with pytest.raises(InputError, match="NaN"):
            bank.add([MemoryUnit("a")], np.full((1, 2), np.nan, np.float32))

    def test_re_embedding_swaps_all_vectors(self, bank: Bank) -> None:
        bank.set_embedder(TINY)
        a, b = (r.id for r in bank.add([MemoryUnit(c) for c in "ab"], np.ones((2, 2), np.float32)))
        (c,) = put(bank, "c")
        version = bank.version()
        new = EmbedderInfo("new", 3)
        bank.replace_vectors(new, [c, a], np.array([[1, 2, 3], [4, 5, 6]], np.float32))
        assert bank.embedder() == new
        assert bank.all_vectors()[0] == [a, c]
        assert bank.all_vectors()[1].tolist() == [[4, 5, 6], [1, 2, 3]]
        assert bank.changed_since(version) == {a, b, c}
        with pytest.raises(NotFoundError):
            bank.replace_vectors(TINY, ["nobody"], np.ones((1, 2), np.float32))
        assert bank.embedder() == new
        assert bank.verify() == []


class TestRelationsAndValues:
    def test_relations_are_added_updated_and_found_from_either_end(self, bank: Bank) -> None:
        a, b, c = put(bank, "a", "b", "c")
        near = Relation(RelationKind.DENSE, a, b, 0.5)
        later = Relation(RelationKind.TIME, b, c)
        assert bank.relate([later, near]) == 2
        assert bank.relate([later, near]) == 0
        assert bank.relations([b]) == [near, later]
        assert bank.relations([a]) == [near]
        assert bank.relations([a, b, c], [RelationKind.TIME]) == [later]
        heavier = replace(near, weight=0.75)
        assert bank.relate([heavier]) == 1
        assert bank.relations([a]) == [heavier]
        assert [r.event for r in bank.history(a)] == [Event.ADD, Event.RELATE, Event.RELATE]

    def test_both_ends_must_exist_and_differ(self, bank: Bank) -> None:
        (a,) = put(bank, "a")
        with pytest.raises(NotFoundError):
            bank.relate([Relation(RelationKind.TIME, a, "nobody")])
        with pytest.raises(InputError):
            bank.relate([Relation(RelationKind.TIME, a, a)])

    def test_values_are_kept_per_kind_of_query(self, bank: Bank) -> None:
        a, b = put(bank, "a", "b")
        values = [Value(a, "", 0.75, 3), Value(a, "when", -1.5, 1), Value(b, "when", 0.5)]
        bank.set_values(values)
        assert bank.values([a, b]) == values
        assert bank.values([b, a]) == [values[2], *values[:2]]
        assert [u.utility for u in bank.scan()] == [0.75, 0.5]
        bank.set_values([Value(a, "", 0.25, 4)], Event.FEEDBACK)
        last = bank.history(a)[-1]
        assert last.event is Event.FEEDBACK
        assert last.payload == {
            "cluster": "",
            "q": 0.25,
            "exposures": 4,
            "before": {"q": 0.75, "exposures": 3},
        }
        version = bank.version()
        bank.set_values([Value(a, "", 0.25, 4)])
        assert bank.version() == version

    def test_utility_and_the_value_over_all_queries_are_one(self, bank: Bank) -> None:
        (a,) = put(bank, "a")
        bank.set_values([Value(a, "", 0.75)])
        bank.update(replace(bank.get([a])[0], utility=0.5))
        assert bank.values([a]) == [Value(a, "", 0.5)]
        with pytest.raises(InputError):
            bank.set_values([Value(a, "", 1.5)])
        with pytest.raises(NotFoundError):
            bank.set_values([Value("nobody", "", 0.5)])


class TestTransactionsAndHistory:
    def test_an_exception_undoes_the_whole_block(self, bank: Bank) -> None:
        (a,) = put(bank, "kept")
        before = bank.version()
        with suppress(ZeroDivisionError), bank.atomic():
            put(bank, "lost")
            bank.delete([a])
            raise ZeroDivisionError
        assert [u.id for u in bank.scan()] == [a]
        assert bank.version() == before
        assert bank.verify() == []

    def test_an_inner_failure_undoes_only_the_inner_part(self, bank: Bank) -> None:
        with bank.atomic():
            put(bank, "outer")
            with suppress(ZeroDivisionError), bank.atomic():
                put(bank, "inner")
                raise ZeroDivisionError
            put(bank, "after")
        assert [u.content for u in bank.scan()] == ["outer", "after"]
        assert bank.verify() == []

    def test_a_transaction_sees_its_own_writes(self, bank: Bank) -> None:
        with bank.atomic():
            (a,) = put(bank, "hello")
            assert found(bank, "hello") == [a]
            bank.delete([a])
            assert found(bank, "hello") == []
        assert bank.verify() == []

    def test_the_version_counts_mutations(self, bank: Bank) -> None:
        assert bank.version() == 0
        a, b = put(bank, "a", "b")
        assert bank.version() == 2
        assert bank.changed_since(0) == {a, b}
        assert bank.changed_since(1) == {b}
        bank.delete([a])
        assert bank.changed_since(2) == {a}
        assert bank.changed_since(bank.version()) == frozenset()

    def test_history_tells_time_and_hash(self, bank: Bank) -> None:
        (a,) = put(bank, "hello")
        (row,) = bank.history(a)
        assert (row.seq, row.unit_id, row.time, row.payload) == (1, a, NOON, None)
        assert row.content_hash == content_hash("hello")
        assert bank.history("unknown") == bank.history("\ud800") == []

    def test_stats(self, bank: Bank) -> None:
        bank.set_embedder(TINY)
        a, b, _ = put(
            bank,
            MemoryUnit("a", source="s", scope=Scope("u")),
            MemoryUnit("b", source="s"),
            MemoryUnit("c", source="t"),
        )
        bank.relate([Relation(RelationKind.TIME, a, b)])
        bank.set_status([b], UnitStatus.ARCHIVED)
        stats = bank.stats()
        assert (stats.units, stats.sources, stats.relations, stats.history) == (3, 2, 1, 5)
        assert stats.by_status == {"active": 2, "superseded": 0, "archived": 1}
        assert (stats.embedder, stats.version) == (TINY, 5)
        assert stats.bytes > 0
        mine = bank.stats(Scope("u"))
        assert (mine.units, mine.sources, mine.relations, mine.history) == (1, 1, 1, 2)

    def test_threads_share_a_bank(self, bank: Bank) -> None:
        def work(number: int) -> None:
            for n in range(20):
                bank.add([MemoryUnit(f"shared {n}"), MemoryUnit(f"own {number} {n}")])
                assert len(bank.search_text([f"own {number} {n}"], None, 5)) == 1

        threads = [Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        contents = [u.content for u in bank.scan()]
        assert len(contents) == len(set(contents)) == 20 + 4 * 20
        assert bank.verify() == []

    def test_a_closed_bank_says_so(self, make_bank: Callable[[], Bank]) -> None:
        bank = make_bank()
        bank.close()
        bank.close()
        with pytest.raises(BankError, match="closed"):
            bank.version()
