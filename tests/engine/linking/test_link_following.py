"""A bank that was linked after each change has the edges of one that is linked at once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memgene.bank import Bank, Filter, MemoryUnit, Relation, SqliteBank, UnitStatus, Value
from memgene.core import InputError, Scope
from memgene.embed.hashing import HashingEmbedder
from memgene.engine import MemoryEngine
from memgene.engine.linking import LinkSettings, TimeCheck

SETTINGS = LinkSettings(
    dense_neighbours=2, dense_cosine=0.4, sparse_degree=2, sparse_most=6, calibration_units=8
)
"""Small, so that neighbours are displaced, words become common, and frames are outgrown."""
AS_FOUND = (Phase.explicit, Phase.reuse, Phase.generate)
WORDS = ["red", "boat", "roof", "blue", "canoe", "opera", "tea"]

told = st.tuples(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join),
    st.sampled_from(["one", "two", None]),
    st.sampled_from([Scope(), Scope("ann"), Scope("ann", run_id="1"), Scope("ann", run_id="2")]),
)
which = st.integers(0, 40)
changes = st.one_of(
    st.tuples(st.just("add"), st.lists(told, min_size=1, max_size=4)),
    st.tuples(st.just("rewrite"), which, told),
    st.tuples(st.just("value"), which),
    st.tuples(st.just("delete"), which),
    st.tuples(st.just("archive"), which),
    st.tuples(st.just("restore"), which),
)
Steps = list[tuple[tuple[Any, ...], bool]]


class FirstLetter:
    """A check that depends on the words alone."""

    concurrency = 1

    def __call__(self, earlier: MemoryUnit, later: MemoryUnit) -> bool:
        return earlier.content[0] != later.content[0]


def units(lines: list[tuple[str, str | None, Scope]], turn: int) -> list[MemoryUnit]:
    return [
        MemoryUnit(text, scope=scope, source=source, turn_start=turn + i if source else None)
        for i, (text, source, scope) in enumerate(lines)
    ]


def carry_out(engine: MemoryEngine, change: tuple[Any, ...], turn: int) -> None:
    """One change of any kind, through the bank."""
    bank = engine.bank
    kind, *details = change
    if kind == "add":
        engine.write(units(details[0], turn))
        return
    ids = [unit.id for unit in bank.scan(None, Filter(statuses=tuple(UnitStatus)))]
    if not ids:
        return
    chosen = ids[details[0] % len(ids)]
    if kind == "rewrite":
        (unit,) = bank.get([chosen])
        text, source, scope = details[1]
        with suppress(InputError):  # an equal unit is stored already
            engine.rewrite(replace(unit, source=source, scope=scope), text)
    elif kind == "value":
        bank.set_values([Value(chosen, "", 0.9)])
    elif kind == "delete":
        bank.delete([chosen])
    elif kind == "archive":
        bank.set_status([chosen], UnitStatus.ARCHIVED)
    else:
        bank.set_status([chosen], UnitStatus.ACTIVE)


def edges(bank: Bank) -> list[Relation]:
    return bank.relations([u.id for u in bank.scan(None, Filter(statuses=tuple(UnitStatus)))])


def linked_at_once(engine: MemoryEngine, check: TimeCheck | None) -> list[Relation]:
    """The edges of the bank without those it has, by an engine that knows nothing; the frame is
    the bank's."""
    engine.bank.unrelate(edges(engine.bank))
    MemoryEngine(engine.bank, engine.embedder).link(check=check)
    return edges(engine.bank)


def linked_after_each(
    engine: MemoryEngine, start: list[Any], steps: Steps, check: TimeCheck | None = None
) -> None:
    engine.write(units(start, 0))
    engine.link(settings=SETTINGS, check=check)
    for number, (change, link) in enumerate(steps, 1):
        carry_out(engine, change, 100 * number)
        if link:
            engine.link(check=check)
    engine.link(check=check)


searched = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=AS_FOUND
)


@searched
@given(
    start=st.lists(told, min_size=8, max_size=16),
    steps=st.lists(st.tuples(changes, st.booleans()), min_size=1, max_size=8),
    checked=st.booleans(),
)
def test_following_any_changes_equals_linking_at_once(
    start: list[Any], steps: Steps, checked: bool
) -> None:
    check = FirstLetter() if checked else None
    bank = SqliteBank(":memory:")
    try:
        engine = MemoryEngine(bank, HashingEmbedder(16))
        linked_after_each(engine, start, steps, check)
        followed = edges(bank)
        assert linked_at_once(engine, check) == followed
    finally:
        bank.close()


@searched
@given(parts=st.lists(st.lists(told, min_size=1, max_size=5), min_size=1, max_size=6))
def test_a_bank_that_grew_equals_one_that_was_written_and_linked_at_once(parts: list[Any]) -> None:
    """Calibration included: nothing of the one bank is known to the other."""
    grown, whole = SqliteBank(":memory:"), SqliteBank(":memory:")
    try:
        calibrated = replace(SETTINGS, dense_cosine=None)
        following, anew = (MemoryEngine(bank, HashingEmbedder(16)) for bank in (grown, whole))
        for number, part in enumerate(parts):
            written = units(part, 100 * number)
            following.write(written)
            anew.write(written)
            following.link(settings=calibrated)
        anew.link(settings=calibrated)
        assert edges(grown) == edges(whole)
        assert grown.state("links.frame") == whole.state("links.frame")
    finally:
        grown.close()
        whole.close()


@searched
@given(
    start=st.lists(told, min_size=1, max_size=10),
    steps=st.lists(st.tuples(changes, st.booleans()), min_size=1, max_size=4),
)
def test_owners_linked_one_by_one_equal_all_at_once(start: list[Any], steps: Steps) -> None:
    bank = SqliteBank(":memory:")
    try:
        engine = MemoryEngine(bank, HashingEmbedder(16))
        engine.write(units(start, 0))
        engine.link(settings=SETTINGS)
        for number, (change, other) in enumerate(steps, 1):
            carry_out(engine, change, 100 * number)
            engine.link(Scope("ann") if other else Scope())
        engine.link(Scope("ann"))
        engine.link(Scope())
        followed = edges(bank)
        assert linked_at_once(engine, None) == followed
    finally:
        bank.close()
