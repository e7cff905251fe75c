"""Undo in SQLite against copies of the tables: whatever lessons did, every row is back."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from memgene.bank import (
    EmbedderInfo,
    Filter,
    MemoryUnit,
    Relation,
    RelationKind,
    SqliteBank,
    UnitStatus,
    Value,
)
from memgene.core import InputError, Scope

_Tables = dict[str, list[tuple[Any, ...]]]

EVERY = Filter(statuses=tuple(UnitStatus))
TINY = EmbedderInfo("tiny", 2)
BOOKKEEPING = ("history", "lessons", "migrations")
MODULES = ("words", "grams", "gram_places", "sqlite")

texts = st.sampled_from(("tea", "tea cats", "graz", "東京", "猫 tea", "one more"))
scopes = st.sampled_from((Scope(), Scope("a"), Scope("b", "x"), Scope("b", "x", "r")))
places = st.integers(0, 7)
shares = st.sampled_from((0.0, 0.1, 0.25, 1.0))
kinds = st.sampled_from(RelationKind)
steps = st.one_of(
    st.tuples(st.just("add"), st.lists(texts, min_size=1, max_size=3), scopes, st.booleans()),
    st.tuples(st.just("update"), places, texts, scopes, st.sampled_from(("", "s")), st.booleans()),
    st.tuples(st.just("status"), places, st.sampled_from(UnitStatus), places),
    st.tuples(st.just("supersedes"), places, places),
    st.tuples(st.just("touch"), st.lists(places, min_size=1, max_size=3), shares),
    st.tuples(st.just("relate"), places, places, kinds, shares),
    st.tuples(st.just("unrelate"), places, places, kinds),
    st.tuples(st.just("value"), places, st.sampled_from(("", "when", "where")), shares, places),
    st.tuples(st.just("state"), st.sampled_from(("router", "clusters")), st.none() | st.binary()),
    st.tuples(st.just("failure"), places),
)

deletions = st.tuples(st.just("delete"), places)


def tables(bank: SqliteBank) -> _Tables:
    """Every row of every table of facts, with its place."""
    found = {}
    with bank._connections.reading() as connection:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        ).fetchall()
        for (name,) in names:
            if name not in BOOKKEEPING and not name.startswith(MODULES):
                rows = connection.execute(f"SELECT * FROM {name}").fetchall()
                found[name] = [row for row in rows if row[0] != "rewrite"]
    return found


class Learner:
    """Carries out steps on a bank; a step that makes no sense there does nothing."""

    def __init__(self, bank: SqliteBank) -> None:
        self.bank = bank

    def chosen(self, *numbers: int) -> list[str]:
        ids = [unit.id for unit in self.bank.scan(where=EVERY)]
        return [ids[n % len(ids)] for n in numbers] if ids else []

    def carry_out(self, step: Sequence[Any]) -> None:
        with suppress(InputError), self.bank.atomic():
            getattr(self, step[0])(*step[1:])

    def add(self, texts: list[str], scope: Scope, embedded: bool) -> None:
        matrix = None
        if embedded:
            self.bank.set_embedder(TINY)
            matrix = np.arange(2 * len(texts), dtype=np.float32).reshape(-1, 2)
        self.bank.add([MemoryUnit(text, scope=scope) for text in texts], matrix)

    def update(self, n: int, text: str, scope: Scope, summary: str, embedded: bool) -> None:
        for unit in self.bank.get(self.chosen(n)):
            changed = replace(unit, content=text, scope=scope, summary=summary, metadata={"n": n})
            vector = None
            if embedded:
                self.bank.set_embedder(TINY)
                vector = np.full(2, n, np.float32)
            self.bank.update(changed, vector)

    def status(self, n: int, status: UnitStatus, other: int) -> None:
        by = self.chosen(other) if status is UnitStatus.SUPERSEDED else []
        self.bank.set_status(self.chosen(n), status, by[0] if by else None)

    def supersedes(self, n: int, other: int) -> None:
        for unit in self.bank.get(self.chosen(n)):
            self.bank.update(replace(unit, supersedes=self.chosen(other)[0]))

    def touch(self, numbers: list[int], reward: float) -> None:
        self.bank.touch(list(dict.fromkeys(self.chosen(*numbers))), reward, "why")

    def relate(self, n: int, other: int, kind: RelationKind, weight: float) -> None:
        if ends := self.chosen(n, other):
            self.bank.relate([Relation(kind, *ends, weight)])

    def unrelate(self, n: int, other: int, kind: RelationKind) -> None:
        if ends := self.chosen(n, other):
            self.bank.unrelate([Relation(kind, *ends)])

    def value(self, n: int, cluster: str, q: float, exposures: int) -> None:
        self.bank.set_values([Value(i, cluster, q, exposures) for i in self.chosen(n)])

    def state(self, name: str, content: bytes | None) -> None:
        self.bank.set_state(name, content)

    def delete(self, n: int) -> None:
        self.bank.delete(self.chosen(n))

    def failure(self, n: int) -> None:
        with suppress(ZeroDivisionError), self.bank.atomic():
            self.add(["given up"], Scope("c"), True)
            self.touch([n], 1.0)
            raise ZeroDivisionError


class Machine(RuleBasedStateMachine):
    """`copies` holds the tables before each lesson that stands."""

    def __init__(self) -> None:
        super().__init__()
        self.bank = SqliteBank(":memory:")
        self.learner = Learner(self.bank)
        self.copies: list[_Tables] = []

    @precondition(lambda self: not self.copies)
    @rule(some=st.lists(steps, max_size=6))
    def live(self, some: list[tuple[Any, ...]]) -> None:
        for step in some:
            self.learner.carry_out(step)

    @rule(some=st.lists(steps, max_size=8))
    def learn(self, some: list[tuple[Any, ...]]) -> None:
        before, version = tables(self.bank), self.bank.version()
        with self.bank.lesson("learn"):
            for step in some:
                self.learner.carry_out(step)
        if self.bank.version() > version:
            self.copies.append(before)
        assert len(self.bank.lessons()) == len(self.copies)

    @precondition(lambda self: self.copies)
    @rule()
    def undo(self) -> None:
        lesson = self.bank.lessons(1)[0]
        assert self.bank.undo(lesson) == lesson.last - lesson.first + 1
        assert tables(self.bank) == self.copies.pop()

    @precondition(lambda self: self.copies)
    @rule()
    def undo_and_give_up(self) -> None:
        before = tables(self.bank)
        with suppress(ZeroDivisionError), self.bank.atomic():
            self.bank.undo(self.bank.lessons(1)[0])
            raise ZeroDivisionError
        assert tables(self.bank) == before

    @invariant()
    def derived_rows_agree(self) -> None:
        assert self.bank.verify() == []

    def teardown(self) -> None:
        while self.copies:
            self.undo()
        self.bank.close()


TestUndo = Machine.TestCase
TestUndo.settings = settings(max_examples=30, stateful_step_count=10, deadline=None)


# -- what was changed by others between a lesson and its undoing
KEYS = {"units": 1, "learned": 2, "relations": 3, "vectors": 1, "state": 1}
UNIT_ENDS = {"units": 1, "learned": 1, "relations": 2, "vectors": 1, "state": 0}


def keyed(rows: _Tables) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Rows by table and key; the units' scopes by their ids, which another number may stand for."""
    scopes = {row[0]: row[1:4] for row in rows["scopes"]}
    found = {(name, *row[:size]): row for name, size in KEYS.items() for row in rows[name]}
    return {
        key: (*row[:3], scopes[row[3]], *row[4:]) if key[0] == "units" else row
        for key, row in found.items()
    }


def merged(
    before: _Tables, taught: _Tables, now: _Tables, lineage: tuple[int, int]
) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Three-way: rows that others changed are as they are now, the rest is as it was before;
    nothing is left of units that others deleted or the lesson added."""
    old, new, last = keyed(before), keyed(taught), keyed(now)
    deleted = {key for key in new.keys() - last.keys() if key[0] == "units"}
    added = {key for key in new.keys() - old.keys() if key[0] == "units"}
    gone = {key[1] for key in deleted | added}
    lost = {new[key][1]: None for key in deleted}
    erased = {new[key][1]: last[key] for key in added - deleted}
    expected = {}
    for key in old.keys() | last.keys():
        theirs = new.get(key) != last.get(key)
        row = last.get(key) if theirs else old.get(key)
        if row is None or gone.intersection(key[1 : 1 + UNIT_ENDS[key[0]]]):
            continue
        for place in lineage if key[0] == "units" else ():
            other = row[place] if theirs else lost.get(row[place], row[place])
            if other in erased:  # the gap is closed
                met = {row[1]}
                while other in erased and other not in met:
                    met.add(other)
                    other = erased[other][place]
                other = None if other in met else other
            row = (*row[:place], other, *row[place + 1 :])
        expected[key] = row
    return expected


def lineage_of(bank: SqliteBank) -> tuple[int, int]:
    """Places of the columns that name other units."""
    with bank._connections.reading() as connection:
        names = [row[1] for row in connection.execute("PRAGMA table_info (units)")]
    return names.index("supersedes"), names.index("superseded_by")


@settings(max_examples=80, deadline=None)
@given(
    lived=st.lists(steps, min_size=2, max_size=8),
    taught=st.lists(steps, min_size=2, max_size=6),
    since=st.lists(st.one_of(steps, deletions, deletions), max_size=4),
)
def test_an_undo_leaves_to_others_what_is_theirs(
    lived: list[tuple[Any, ...]], taught: list[tuple[Any, ...]], since: list[tuple[Any, ...]]
) -> None:
    with SqliteBank(":memory:") as bank:
        learner = Learner(bank)
        for step in lived:
            learner.carry_out(step)
        copies = [tables(bank)]
        with bank.lesson("learn"):
            for step in taught:
                learner.carry_out(step)
        assume(bank.lessons())
        lesson = bank.lessons(1)[0]
        copies.append(tables(bank))
        for step in since:
            learner.carry_out(step)
        copies.append(tables(bank))
        event(f"{len(since)} changes since")
        others = bank.changed_since(lesson.last)
        refusal = ""
        try:
            bank.undo(lesson)
        except InputError as error:
            refusal = str(error)
        if refusal:
            event("refused")
            assert "the state" in refusal or any(f"unit {i}" in refusal for i in others)
            assert tables(bank) == copies[-1]
        else:
            assert keyed(tables(bank)) == merged(*copies, lineage_of(bank))
        assert bank.verify() == []
