"""`MemoryEngine.link`: which edges there are, what is kept of it, and what it never does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from threading import Event, Thread

import pytest

from memgene.bank import Bank, MemoryUnit, Relation, RelationKind, SqliteBank, UnitStatus, Value
from memgene.bank.portable import export_jsonl, import_jsonl
from memgene.core import EmbedderMismatchError, InputError, Scope
from memgene.embed.hashing import HashingEmbedder
from memgene.embed.static import StaticEmbedder
from memgene.engine import MemoryEngine
from memgene.engine.linking import LinkReport, LinkSettings

Talk = Callable[..., list[MemoryUnit]]
Edges = Callable[..., set[tuple[str, str]]]
DENSE, SPARSE, TIME = RelationKind
BOAT = ("red boat lake", "red boat lake shore", "roof repair")


def said(*texts: str, **fields: object) -> list[MemoryUnit]:
    return [MemoryUnit(text, **fields) for text in texts]  # type: ignore[arg-type]


@pytest.fixture
def engine(bank: Bank) -> MemoryEngine:
    return MemoryEngine(bank, HashingEmbedder())


# -- kinds


def test_near_units_are_joined_with_their_cosine(bank: Bank, edges: Edges) -> None:
    """The texts of 3 and 4 words share 3: cosine 3/√12 = 0.866. Calibrated on the first two units,
    a shared word weighs 1000·ln(1 + ½/2½) = 182, the other one 1000·ln(1 + 1½/1½) = 693."""
    engine = MemoryEngine(bank, HashingEmbedder(1024))
    engine.write(said(*BOAT))
    report = engine.link()
    assert report.added == {DENSE: 1, SPARSE: 1}
    assert report.threshold == 0.6
    assert edges(DENSE) == {BOAT[:2]}
    ids = [unit.id for unit in engine.bank.scan()]
    dense, sparse = engine.bank.relations(ids)
    assert dense.weight == pytest.approx(0.866, abs=1e-3)
    assert sparse.weight == pytest.approx(3 * 182 / (3 * 182 + 693))


def test_units_of_a_source_point_to_the_next(
    engine: MemoryEngine, talk: Talk, edges: Edges
) -> None:
    engine.write(talk("Ann: one", "Ben: two", "Ann: three"))
    engine.write(talk("Ann: four", source="other"))
    engine.link()
    assert edges() == {("one", "two"), ("two", "three")}
    assert edges(TIME) == edges()


def test_dense_edges_are_mutual(bank: Bank, edges: Edges) -> None:
    """Of four equal texts and one neighbour each, only the two oldest choose each other."""
    engine = MemoryEngine(bank, HashingEmbedder())
    engine.write(
        [replace(unit, source=f"s{i}") for i, unit in enumerate(said(*4 * ["a red boat"]))]
    )
    report = engine.link(settings=LinkSettings(dense_neighbours=1, kinds=(DENSE,)))
    assert report.added == {DENSE: 1}
    older = [unit.id for unit in bank.scan()][:2]
    assert [(e.source_id, e.target_id) for e in bank.relations(older)] == [tuple(older)]


def test_only_the_kinds_asked_for(engine: MemoryEngine, talk: Talk) -> None:
    engine.write(talk("Ann: red boat lake", "Ben: red boat lake"))
    assert engine.link().added == dict.fromkeys(RelationKind, 1)
    report = engine.link(settings=LinkSettings(kinds=(TIME,)))
    assert (report.added, report.removed) == ({}, {DENSE: 1, SPARSE: 1})


def test_static_vectors_are_centred(bank: Bank, static: StaticEmbedder) -> None:
    """Raw static vectors of unrelated talk have cosines far above 0; centred ones do not."""
    engine = MemoryEngine(bank, static)
    topics = ["sailing", "cooking", "chess", "opera", "gardening", "painting", "stars", "football"]
    lines = [f"Yesterday I talked about {t} number {n}" for t in topics for n in range(10)]
    engine.write(said(*lines))
    report = engine.link()
    raw = bank.all_vectors()[1]
    assert report.threshold is not None
    assert (raw @ raw.T).min() > report.threshold / 2
    assert report.added[DENSE] > 0


def test_without_an_embedder_words_and_time_remain(bank: Bank, talk: Talk) -> None:
    engine = MemoryEngine(bank, None)
    engine.write(talk("Ann: red boat lake", "Ben: red boat lake"))
    report = engine.link()
    assert (report.added, report.threshold) == ({SPARSE: 1, TIME: 1}, None)


def test_an_empty_bank_has_nothing_to_link(engine: MemoryEngine) -> None:
    assert engine.link().changed == 0
    assert engine.link() == LinkReport()


# -- who may be joined


def scope_pairs() -> list[tuple[Scope, Scope, bool]]:
    return [
        (Scope("ann"), Scope("ann"), True),
        (Scope("ann"), Scope("ben"), False),
        (Scope("ann"), Scope(), False),
        (Scope("ann", "x"), Scope("ann", "x"), True),
        (Scope("ann", "x"), Scope("ann", "y"), False),
        (Scope("ann", "x"), Scope("ann"), False),
        (Scope("ann", run_id="1"), Scope("ann", run_id="1"), True),
        (Scope("ann", run_id="1"), Scope("ann"), True),
        (Scope("ann", run_id="1"), Scope("ann", run_id="2"), False),
    ]


@pytest.mark.parametrize(("one", "two", "joined"), scope_pairs())
def test_no_edge_joins_what_no_single_reader_sees(
    engine: MemoryEngine, edges: Edges, one: Scope, two: Scope, joined: bool
) -> None:
    for scope in (one, two):
        unit = MemoryUnit("red boat lake", scope=scope, source="talk", turn_start=1)
        engine.write([unit, replace(unit, content="red boat lake too", turn_start=2)])
    engine.link()
    owner = {unit.id: unit.scope for unit in engine.bank.scan()}
    found = engine.bank.relations(list(owner))
    across = {(owner[e.source_id], owner[e.target_id]) for e in found}
    assert {(one, one), (two, two)} <= across
    if one != two:
        assert ((one, two) in across or (two, one) in across) == joined
    assert all(owner[e.source_id] == owner[e.target_id] for e in found if e.kind is TIME)


def test_neighbours_are_counted_among_ones_own(engine: MemoryEngine) -> None:
    """Ten equal units of others do not crowd out the one of the same user."""
    for user in ("ann", *(f"user {n}" for n in range(10)), "ann"):
        engine.write([MemoryUnit("red boat lake", scope=Scope(user), source=f"s{user}")])
    engine.write([MemoryUnit("red boat lake", scope=Scope("ann"), source="other")])
    assert engine.link().added[DENSE] == 1


def test_a_scope_links_its_owner_alone(engine: MemoryEngine) -> None:
    for user in ("ann", "ben"):
        engine.write(said(*BOAT, scope=Scope(user)))
    assert engine.link(Scope("ann", run_id="1")).added == {DENSE: 1, SPARSE: 1}
    assert engine.link(Scope("ann")).changed == 0
    assert engine.link(Scope("ben")).added == {DENSE: 1, SPARSE: 1}
    assert engine.link().changed == 0
    assert MemoryEngine(engine.bank, HashingEmbedder()).link().changed == 0


# -- following the bank


def test_a_unit_that_goes_takes_its_edges_and_its_neighbours_meet(
    engine: MemoryEngine, talk: Talk, edges: Edges
) -> None:
    engine.write(talk("Ann: one", "Ben: two", "Ann: three"))
    engine.link()
    (two,) = (unit for unit in engine.bank.scan() if unit.content == "two")
    engine.bank.delete([two.id])
    assert edges() == set()
    assert engine.link().added == {TIME: 1}
    assert edges() == {("one", "three")}


@pytest.mark.parametrize("status", [UnitStatus.ARCHIVED, UnitStatus.SUPERSEDED])
@pytest.mark.parametrize("warm", [True, False])
def test_units_that_are_not_active_lose_their_edges(
    engine: MemoryEngine, talk: Talk, edges: Edges, status: UnitStatus, warm: bool
) -> None:
    engine.write(talk("Ann: red boat lake", "Ben: red boat lake", "Ann: tea"))
    engine.link()
    before = edges()
    boats = [unit.id for unit in engine.bank.scan()][:2]
    engine.bank.set_status(boats, status)
    linking = engine if warm else MemoryEngine(engine.bank, HashingEmbedder())
    report = linking.link()
    assert report.removed == {DENSE: 1, SPARSE: 1, TIME: 2}
    assert edges() == set()
    engine.bank.set_status(boats, UnitStatus.ACTIVE)
    linking.link()
    assert edges() == before


def test_a_rewritten_unit_is_linked_by_its_new_words(engine: MemoryEngine, edges: Edges) -> None:
    engine.write(said("red boat lake", "red boat lake shore", "roof repair tiles"))
    engine.link()
    first = next(iter(engine.bank.scan()))
    engine.rewrite(first, "roof repair tiles broken")
    engine.link()
    assert edges(SPARSE) == {("roof repair tiles broken", "roof repair tiles")}


def test_a_unit_that_moves_to_another_source_leaves_its_place(
    engine: MemoryEngine, talk: Talk, edges: Edges
) -> None:
    engine.write(talk("Ann: one", "Ben: two", "Ann: three"))
    engine.link()
    two = next(unit for unit in engine.bank.scan() if unit.content == "two")
    engine.bank.update(replace(two, source="other"))
    engine.link()
    assert edges() == {("one", "three")}


def test_feedback_and_values_change_no_edge(engine: MemoryEngine) -> None:
    engine.write(said(*BOAT))
    engine.link()
    ids = [unit.id for unit in engine.bank.scan()]
    engine.bank.touch(ids, 1.0, "boat?")
    engine.bank.set_values([Value(ids[0], "", 0.9)])
    version = engine.bank.version()
    assert engine.link() == LinkReport(threshold=0.6)
    assert MemoryEngine(engine.bank, HashingEmbedder()).link() == LinkReport(threshold=0.6)
    assert engine.bank.version() == version


def test_what_is_level_is_not_written(engine: MemoryEngine) -> None:
    engine.write(said(*BOAT))
    engine.link()
    version = engine.bank.version()
    assert engine.link().changed == 0
    assert MemoryEngine(engine.bank, HashingEmbedder()).link().units == 0
    assert engine.bank.version() == version


def test_edges_of_others_at_a_changed_unit_are_put_right(
    engine: MemoryEngine, edges: Edges
) -> None:
    engine.write(said(*BOAT))
    engine.link()
    before = edges()
    first, *_, last = [unit.id for unit in engine.bank.scan()]
    engine.bank.relate([Relation(DENSE, first, last)])
    assert engine.link().removed == {DENSE: 1}
    assert edges() == before


def test_vectors_that_come_later_count(bank: Bank) -> None:
    MemoryEngine(bank, None).write(said(*BOAT))
    MemoryEngine(bank, None).link()
    engine = MemoryEngine(bank, HashingEmbedder())
    engine.write(said(*BOAT))
    assert engine.link().added == {DENSE: 1}


# -- what is kept


def test_settings_are_remembered(engine: MemoryEngine) -> None:
    engine.write(said(*BOAT))
    engine.link(settings=LinkSettings(kinds=(SPARSE,)))
    engine.write(said("red boat lake again"))
    assert set(engine.link().added) == {SPARSE}
    fresh = MemoryEngine(engine.bank, HashingEmbedder())
    fresh.write(said("red boat lake once more"))
    assert set(fresh.link().added) == {SPARSE}


def test_much_that_went_is_not_carried_along(engine: MemoryEngine, edges: Edges) -> None:
    """After thousands of changes the units in memory are read anew, with the same edges."""
    engine.write(said(*BOAT))
    engine.link(settings=LinkSettings(calibration_units=2))
    before = edges()
    for start in (0, 600):
        engine.write(said(*(f"tea {n}" for n in range(start, start + 600))))
        engine.link()
        engine.bank.delete([u.id for u in engine.bank.scan() if u.content.startswith("tea")])
        engine.link()
    assert edges() == before
    engine.write(said("red boat lake again"))
    assert engine.link().added[DENSE] == 2


def test_a_rebuild_calibrates_anew(engine: MemoryEngine) -> None:
    engine.write(said(*(f"word{n % 9} word{n % 7} other{n}" for n in range(64))))
    first = engine.link()
    assert first.recalibrated
    assert not engine.link().recalibrated
    gone = [unit.id for unit in engine.bank.scan()][:30]
    engine.bank.delete(gone)
    engine.write(said(*(f"same words again {n}" for n in range(40))))
    kept = engine.link()
    assert (kept.recalibrated, kept.threshold) == (False, first.threshold)
    anew = engine.link(rebuild=True)
    assert anew.recalibrated
    assert anew.threshold != first.threshold


def test_twice_the_units_calibrate_anew_until_there_are_enough(engine: MemoryEngine) -> None:
    settings = LinkSettings(calibration_units=4)
    found = []
    for number in range(9):
        engine.write(said(f"unit {number}"))
        found.append(engine.link(settings=settings).recalibrated)
    assert found == [True, True, False, True, False, False, False, False, False]


def test_a_state_of_another_kind_is_linked_over(engine: MemoryEngine, edges: Edges) -> None:
    engine.write(said(*BOAT))
    engine.link()
    before = edges()
    for content in (b"?", b'{"format": 99}', b"[]", None):
        engine.bank.set_state("links", content)
        assert engine.link().recalibrated
        assert edges() == before


def test_another_embedder_is_refused(engine: MemoryEngine) -> None:
    engine.write(said(*BOAT))
    with pytest.raises(EmbedderMismatchError, match=r"hashing-64.*hashing-32"):
        MemoryEngine(engine.bank, HashingEmbedder(32)).link()


def test_what_another_process_linked_is_seen(tmp_path: Path) -> None:
    here, there = (SqliteBank(tmp_path / "agent.db") for _ in range(2))
    try:
        one, two = (MemoryEngine(bank, HashingEmbedder()) for bank in (here, there))
        one.write(said(*BOAT))
        one.link()
        two.write(said("red boat lake again"))
        assert two.link().added[DENSE] == 2
        one.write(said("red boat lake and more"))
        assert one.link().added[DENSE] == 3
        assert two.link().changed == 0
    finally:
        here.close()
        there.close()


@pytest.mark.parametrize("new", [1, 2, 3, 4])
def test_an_export_brings_its_graph_and_new_units_are_linked(
    engine: MemoryEngine, new: int
) -> None:
    """The imported state speaks of another bank's versions, and is not taken at its word, even
    where it stands right after such a version here (row 8, with two new units)."""
    engine.write(said(*BOAT))
    engine.link(settings=LinkSettings(calibration_units=2))
    engine.write(said(*(f"red boat lake again {n}" for n in range(new))))
    stream = StringIO()
    export_jsonl(engine.bank, stream)
    engine.link()
    other = SqliteBank(":memory:")
    try:
        import_jsonl(other, stream.getvalue().splitlines())
        assert MemoryEngine(other, HashingEmbedder()).link().added[DENSE] > 0
        ids = [unit.id for unit in other.scan()]
        assert other.relations(ids) == engine.bank.relations(ids)
    finally:
        other.close()


# -- whole or not at all


class StopError(Exception):
    pass


def test_a_link_that_is_stopped_changes_nothing(engine: MemoryEngine, edges: Edges) -> None:
    engine.write(said(*BOAT))
    engine.link(settings=LinkSettings(calibration_units=2))
    engine.write(said("red boat lake again"))
    before, version = edges(), engine.bank.version()

    def stop(done: int, total: int) -> None:
        raise StopError

    with pytest.raises(StopError):
        engine.link(progress=stop)
    assert (edges(), engine.bank.version()) == (before, version)
    assert engine.link().added == {DENSE: 2, SPARSE: 2}


def test_progress_comes_to_its_end(engine: MemoryEngine, talk: Talk) -> None:
    engine.write(talk(*(f"Ann: line {n}" for n in range(20))))
    told: list[tuple[int, int]] = []
    engine.link(progress=lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] == told[-1][1] == 40


def test_a_link_that_is_rolled_back_is_done_again(engine: MemoryEngine, edges: Edges) -> None:
    engine.write(said(*BOAT))
    engine.link()

    def fail() -> None:
        with engine.bank.atomic():
            engine.write(said("red boat lake again"))
            engine.link()
            raise StopError

    with pytest.raises(StopError):
        fail()
    engine.write(said("red boat lake once more"))
    assert engine.link().added[DENSE] == 2
    assert len(edges(DENSE)) == 3


def test_a_lesson_is_undone_with_its_edges_and_linked_anew(
    engine: MemoryEngine, edges: Edges
) -> None:
    engine.write(said(*BOAT))
    engine.link()
    before = edges()
    with engine.bank.lesson("learn"):
        engine.write(said("red boat lake again"))
        engine.link()
    during = edges()
    engine.bank.undo(engine.bank.lessons()[0])
    assert edges() == before
    assert engine.link().changed == 0
    engine.write(said("red boat lake again"))
    engine.link()
    assert edges() == during


def test_what_is_written_meanwhile_is_left_for_the_next_link(
    engine: MemoryEngine, edges: Edges
) -> None:
    engine.write(said(*BOAT))
    first, *_ = [unit.id for unit in engine.bank.scan()]

    def meanwhile(done: int, total: int) -> None:
        engine.bank.delete([first])
        engine.write(said("red boat lake again"))

    assert engine.link(progress=meanwhile).added == {}
    assert engine.link().added == {DENSE: 1, SPARSE: 1}
    assert edges(DENSE) == {("red boat lake shore", "red boat lake again")}


def test_linking_within_a_transaction_does_not_wait_for_one_that_waits_for_it(
    tmp_path: Path,
) -> None:
    bank = SqliteBank(tmp_path / "agent.db", busy_timeout=20)
    try:
        engine = MemoryEngine(bank, HashingEmbedder())
        engine.write(said(*BOAT))
        read, found = Event(), list[LinkReport]()

        def outside() -> None:
            found.append(engine.link(progress=lambda *_: read.set()))

        thread = Thread(target=outside)
        with bank.atomic():
            thread.start()
            assert read.wait(20)
            assert engine.link().added == {DENSE: 1, SPARSE: 1}
        thread.join(20)
        assert len(found) == 1
        engine.write(said("red boat lake again"))
        assert engine.link().added[DENSE] == 2
    finally:
        bank.close()


# -- settings


@pytest.mark.parametrize(
    "wrong",
    [
        {"dense_neighbours": 0},
        {"dense_cosine": 0.0},
        {"dense_quantile": 1.5},
        {"sparse_jaccard": -0.1},
        {"calibration_units": 1000},
        {"kinds": ("near",)},
    ],
)
def test_settings_that_mean_nothing_are_refused(wrong: dict) -> None:
    with pytest.raises(InputError, match="links"):
        LinkSettings(**wrong)


def test_settings_come_back_from_json() -> None:
    settings = LinkSettings(dense_cosine=0.5, kinds=(TIME, DENSE))
    assert settings.kinds == (DENSE, TIME)
    assert LinkSettings.from_dict(settings.to_dict()) == settings
    assert LinkSettings.paper().dense_cosine == 0.6
    with pytest.raises(InputError, match="settings"):
        LinkSettings.from_dict({"kinds": [], "near": 1})
