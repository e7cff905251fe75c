"""What every backend promises: updates, deletion, transactions, history."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from threading import Thread

import numpy as np
import pytest

from memgene.bank import (
    Bank,
    EmbedderInfo,
    Event,
    MemoryUnit,
    Relation,
    RelationKind,
    UnitStatus,
    Value,
)
from memgene.core import (
    BankError,
    InputError,
    NotFoundError,
    Scope,
    content_hash,
)
from memgene.testing.banks import found, put

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
TINY = EmbedderInfo("tiny", 2)


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

    def test_feedback_keeps_the_part_of_each_unit_in_the_answer(self, bank: Bank) -> None:
        a, b = put(bank, "one", "two")
        bank.touch([a, b], 0.5, None, [1.0, 0.25])
        assert bank.history(a)[-1].payload == {"reward": 0.5}
        assert bank.history(b)[-1].payload == {"reward": 0.5, "attribution": 0.25}
        for wrong in ([0.5], [0.5, 1.5], [0.5, float("nan")]):
            with pytest.raises(InputError, match="attributions"):
                bank.touch([a, b], 1.0, None, wrong)
        assert bank.version() == 4


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

    def test_changes_of_some_kinds_can_be_left_out(self, bank: Bank) -> None:
        a, b = put(bank, "a", "b")
        version = bank.version()
        bank.set_values([Value(a, "", 0.9), Value(b, "", 0.1)])
        bank.update(replace(bank.get([b])[0], content="new"))
        assert bank.changed_since(version) == {a, b}
        assert bank.changed_since(version, apart=(Event.VALUE,)) == {b}
        assert bank.changed_since(version, apart=(Event.VALUE, Event.UPDATE)) == frozenset()

    def test_history_tells_time_and_hash(self, bank: Bank) -> None:
        (a,) = put(bank, "hello")
        (row,) = bank.history(a)
        assert (row.seq, row.unit_id, row.time, row.payload) == (1, a, NOON, None)
        assert row.content_hash == content_hash("hello")
        assert bank.history("unknown") == bank.history("\ud800") == []

    def test_the_history_of_all_units_by_kind(self, bank: Bank) -> None:
        a, b = put(bank, "one", "two")
        bank.touch([b, a], 1.0, "which?")
        bank.set_status([a], UnitStatus.ARCHIVED)
        bank.touch([a], 0.0, None)
        rows = bank.events(Event.FEEDBACK)
        assert [(row.seq, row.unit_id) for row in rows] == [(3, b), (4, a), (6, a)]
        assert rows[1] == bank.history(a)[1]
        assert bank.events(Event.FEEDBACK, after=4) == rows[2:]
        assert bank.events(Event.DELETE) == []

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
