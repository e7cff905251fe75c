"""Whatever is done in whatever order: the bank equals a plain dictionary, and verifies."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memgene.bank import (
    EmbedderInfo,
    Fate,
    Filter,
    MemoryUnit,
    Relation,
    RelationKind,
    SqliteBank,
    UnitStatus,
    Value,
)
from memgene.core import Scope

WORDS = ("tea", "cats", "graz", "東京", "猫")
words = st.sampled_from(WORDS)
owners = st.sampled_from([Scope(), Scope("a"), Scope("b", "x"), Scope("b", "x", "r")])
contents = st.lists(words, min_size=1, max_size=3).map(" ".join)
choices = st.integers(0, 5)


class Machine(RuleBasedStateMachine):
    """`model` maps the ids that are stored to (content, status)."""

    def __init__(self) -> None:
        super().__init__()
        self.bank = SqliteBank(":memory:")
        self.bank.set_embedder(EmbedderInfo("tiny", 2))
        self.model: dict[str, tuple[str, UnitStatus]] = {}
        self.versions: list[tuple[int, dict[str, Any]]] = [(0, {})]

    def chosen(self, number: int) -> list[str]:
        ids = list(self.model)
        return [ids[number % len(ids)]] if ids else []

    @rule(texts=st.lists(contents, max_size=3), scope=owners, embedded=st.booleans())
    def add(self, texts: list[str], scope: Scope, embedded: bool) -> None:
        units = [MemoryUnit(text, scope=scope) for text in texts]
        matrix = np.ones((len(units), 2), np.float32) if embedded else None
        for receipt, text in zip(self.bank.add(units, matrix), texts, strict=True):
            assert (receipt.fate is Fate.MERGED) == (receipt.id in self.model)
            assert receipt.text == text
            self.model[receipt.id] = (text, UnitStatus.ACTIVE)

    @rule(number=choices, text=contents)
    def update(self, number: int, text: str) -> None:
        for unit in self.bank.get(self.chosen(number)):
            changed = replace(unit, content=text)
            if self.bank.twins([changed.identity()]).get(changed.identity()) in (None, unit.id):
                self.bank.update(changed)
                self.model[unit.id] = (text, unit.status)

    @rule(number=choices, status=st.sampled_from(UnitStatus))
    def set_status(self, number: int, status: UnitStatus) -> None:
        ids = self.chosen(number)
        self.bank.set_status(ids, status)
        self.model |= {unit_id: (self.model[unit_id][0], status) for unit_id in ids}

    @rule(number=choices, other=choices)
    def relate_and_value(self, number: int, other: int) -> None:
        ends = self.chosen(number) + self.chosen(other)
        if len(set(ends)) == 2:
            self.bank.relate([Relation(RelationKind.DENSE, *ends)])
            self.bank.set_values([Value(ends[0], "", 0.25, number), Value(ends[1], "c", 1.0)])
            self.bank.touch(ends, 1.0, "why")
            self.bank.set_status(ends[:1], UnitStatus.SUPERSEDED, ends[1])
            self.model[ends[0]] = (self.model[ends[0]][0], UnitStatus.SUPERSEDED)

    @rule(number=choices)
    def delete(self, number: int) -> None:
        ids = self.chosen(number)
        assert self.bank.delete(ids) == len(ids)
        for unit_id in ids:
            del self.model[unit_id]

    @rule(number=choices)
    def give_up(self, number: int) -> None:
        with suppress(ZeroDivisionError), self.bank.atomic():
            self.bank.add([MemoryUnit("given up")])
            self.bank.delete(self.chosen(number))
            raise ZeroDivisionError

    @invariant()
    def the_bank_equals_the_model(self) -> None:
        every = Filter(statuses=tuple(UnitStatus))
        stored = {u.id: (u.content, u.status) for u in self.bank.scan(where=every)}
        assert stored == self.model
        for word in WORDS:
            holding = {
                unit_id
                for unit_id, (text, status) in self.model.items()
                if status is UnitStatus.ACTIVE and word in text
            }
            assert {m.id for m in self.bank.search_text([word], None, 99)} == holding
            assert self.bank.document_frequency([word]) == {word: len(holding)}
        assert self.bank.verify() == []

    @invariant()
    def changed_since_names_what_changed(self) -> None:
        version = self.bank.version()
        former, known = self.versions[-1]
        changed = {
            unit_id
            for unit_id in known.keys() | self.model.keys()
            if known.get(unit_id) != self.model.get(unit_id)
        }
        assert version >= former
        assert changed <= self.bank.changed_since(former)
        assert changed == set() or version > former
        self.versions.append((version, dict(self.model)))

    def teardown(self) -> None:
        self.bank.close()


TestRandomOperations = Machine.TestCase
TestRandomOperations.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)
