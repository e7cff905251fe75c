"""Growth is bounded by merging what was distilled twice and archiving what is worth least."""

from __future__ import annotations

import numpy as np
import pytest

from memgene.bank import Bank, MemoryUnit
from memgene.bank.protocol import EmbedderInfo, Filter, Value
from memgene.bank.unit import UnitStatus
from memgene.core import InputError, Scope
from memgene.embed.static import StaticEmbedder
from memgene.engine.engine import MemoryEngine
from memgene.engine.growth import GrowthReport, GrowthSettings, control_growth

ALL = Filter(statuses=tuple(UnitStatus))


@pytest.fixture
def engine(bank: Bank, static: StaticEmbedder) -> MemoryEngine:
    return MemoryEngine(bank, static)


def put(engine: MemoryEngine, *units: MemoryUnit) -> list[str]:
    return [receipt.id for receipt in engine.write(units)]


def attempt(done: str, reward: float | None = 1.0, owner: str | None = None) -> MemoryUnit:
    about = {"distilled": True} | ({} if reward is None else {"reward": reward})
    return MemoryUnit(f"boil water: {done}", metadata=about, scope=Scope(owner))


def value(unit_id: str, q: float, exposures: int, cluster: str = "") -> Value:
    return Value(unit_id, cluster, q, exposures)


def statuses(bank: Bank) -> dict[str, tuple[UnitStatus, str | None]]:
    return {unit.id: (unit.status, unit.superseded_by) for unit in bank.scan(None, ALL)}


LONG = "fill the kettle, switch the kettle on, wait, pour the water into the cup slowly"
NEAR = "fill the kettle, switch the kettle on, wait, pour the water in the cup slowly"
FAR = "heat a pan of milk on the stove and stir"


class TestMerging:
    def test_near_duplicates_become_the_one_learned_from_most(
        self, engine: MemoryEngine, bank: Bank
    ) -> None:
        seldom, often, other = put(engine, attempt(LONG), attempt(NEAR), attempt(FAR))
        bank.set_values([value(seldom, 0.2, 1), value(often, 0.8, 3), value(other, 0.5, 9)])
        report = control_growth(engine, GrowthSettings())
        assert report == GrowthReport(3, ((seldom, often),), ())
        assert statuses(bank) == {
            seldom: (UnitStatus.SUPERSEDED, often),
            often: (UnitStatus.ACTIVE, None),
            other: (UnitStatus.ACTIVE, None),
        }

    def test_values_are_averaged_by_exposures_for_every_kind(
        self, engine: MemoryEngine, bank: Bank
    ) -> None:
        one, two = put(engine, attempt(LONG), attempt(NEAR))
        bank.set_values([value(one, 0.2, 1), value(one, 0.4, 1, "read")])
        bank.set_values([value(two, 0.8, 3), value(two, 0.9, 2, "boil")])
        control_growth(engine, GrowthSettings())
        assert bank.values([two]) == [
            value(two, pytest.approx(0.65), 4),  # (.2 + 3 · .8) / 4
            value(two, 0.9, 2, "boil"),
            value(two, 0.4, 1, "read"),
        ]

    def test_values_that_were_never_used_are_averaged_plainly(
        self, engine: MemoryEngine, bank: Bank
    ) -> None:
        one, two = put(engine, attempt(LONG), attempt(NEAR))
        bank.set_values([value(one, 1.0, 0), value(two, 0.6, 0)])
        control_growth(engine, GrowthSettings())
        assert bank.values([one])[0].q == pytest.approx(0.8)  # the better one stands
        assert statuses(bank)[two] == (UnitStatus.SUPERSEDED, one)

    @pytest.mark.parametrize(
        "others",
        [
            attempt(NEAR, reward=0.0),
            attempt(NEAR, reward=None),
            attempt(NEAR, owner="ann"),
            attempt(NEAR.replace("wait", "do not wait")),
            attempt(NEAR.replace("wait", "wait 3 minutes")),
            MemoryUnit(f"boil water: {NEAR}"),
        ],
        ids=["outcome", "no outcome", "owner", "negation", "number", "not distilled"],
    )
    def test_what_differs_in_more_than_words_stays(
        self, engine: MemoryEngine, bank: Bank, others: MemoryUnit
    ) -> None:
        put(engine, attempt(LONG), others)
        assert control_growth(engine, GrowthSettings(similarity=0.5)).merged == ()

    def test_outcomes_are_compared_as_success_or_failure(self, engine: MemoryEngine) -> None:
        put(engine, attempt(LONG, 0.5), attempt(NEAR, 0.9), attempt(NEAR + " again", 0.49))
        assert len(control_growth(engine, GrowthSettings()).merged) == 1

    def test_the_threshold_is_a_setting(self, engine: MemoryEngine) -> None:
        put(engine, attempt(LONG), attempt(FAR))
        assert control_growth(engine, GrowthSettings(similarity=0.95)).merged == ()
        assert len(control_growth(engine, GrowthSettings(similarity=0.0)).merged) == 1

    def test_what_is_near_only_to_one_that_gave_way_stays(self, bank: Bank) -> None:
        angles = np.radians([0, 15, 30])
        bank.set_embedder(EmbedderInfo("plane", 2))
        vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
        receipts = bank.add([attempt(x) for x in ("early", "halfway", "late")], vectors)
        one, two, _ = (receipt.id for receipt in receipts)
        report = control_growth(MemoryEngine(bank, None), GrowthSettings(similarity=0.95))
        assert report.merged == ((two, one),)  # cos 15° = .966, cos 30° = .866

    def test_without_vectors_nothing_is_merged(self, bank: Bank) -> None:
        blind = MemoryEngine(bank, None)
        put(blind, attempt(LONG), attempt(NEAR))
        assert control_growth(blind, GrowthSettings(similarity=0.0)).merged == ()


class TestArchiving:
    def test_superseded_go_first_then_never_exposed_then_lowest_value(
        self, engine: MemoryEngine, bank: Bank
    ) -> None:
        poor, good, idle, read, old, fresh = put(
            engine, *(MemoryUnit(text) for text in ("poor", "good", "idle", "read", "old", "fresh"))
        )
        bank.set_values([value(poor, 0.1, 4), value(good, 0.9, 2), value(fresh, 0.8, 0)])
        bank.set_status([old], UnitStatus.SUPERSEDED, good)
        bank.touch([read], 0.5, None)
        order = (old, idle, fresh, poor, read, good)
        for gone, unit_id in enumerate(order, 1):
            report = control_growth(engine, GrowthSettings(most=6 - gone))
            assert report.archived == (unit_id,)
        assert {status for status, _ in statuses(bank).values()} == {UnitStatus.ARCHIVED}

    def test_within_the_limit_nothing_happens(self, engine: MemoryEngine, bank: Bank) -> None:
        put(engine, MemoryUnit("one"), MemoryUnit("two"))
        version = bank.version()
        assert control_growth(engine, GrowthSettings(most=2)) == GrowthReport(2)
        assert control_growth(engine, GrowthSettings()) == GrowthReport(2)
        assert bank.version() == version

    def test_merged_ones_count_until_they_are_archived(
        self, engine: MemoryEngine, bank: Bank
    ) -> None:
        one, two, _ = put(engine, attempt(LONG), attempt(NEAR), attempt(FAR))
        report = control_growth(engine, GrowthSettings(most=2))
        assert report.merged == ((two, one),)
        assert report.archived == (two,)

    def test_archived_units_do_not_count(self, engine: MemoryEngine, bank: Bank) -> None:
        one, _ = put(engine, MemoryUnit("one"), MemoryUnit("two"))
        bank.set_status([one], UnitStatus.ARCHIVED)
        assert control_growth(engine, GrowthSettings(most=1)) == GrowthReport(1)

    def test_other_owners_are_left_alone(self, engine: MemoryEngine, bank: Bank) -> None:
        (mine, hers) = put(engine, MemoryUnit("x"), MemoryUnit("y", scope=Scope("ann")))
        report = control_growth(engine, GrowthSettings(most=0), Scope("ann"))
        assert report.archived == (hers,)
        assert statuses(bank)[mine][0] is UnitStatus.ACTIVE

    def test_nothing_is_deleted(self, engine: MemoryEngine, bank: Bank) -> None:
        ids = put(engine, attempt(LONG), attempt(NEAR), MemoryUnit("three"))
        control_growth(engine, GrowthSettings(most=0))
        assert bank.existing(ids) == frozenset(ids)
        assert bank.verify() == []


def test_doing_it_again_changes_nothing(engine: MemoryEngine, bank: Bank) -> None:
    put(engine, attempt(LONG), attempt(NEAR), attempt(FAR), MemoryUnit("note"))
    control_growth(engine, GrowthSettings(most=3))
    version = bank.version()
    again = control_growth(engine, GrowthSettings(most=3))
    assert (again.merged, again.archived) == ((), ())
    assert bank.version() == version


@pytest.mark.parametrize("wrong", [{"most": -1}, {"similarity": 1.5}])
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="growth"):
        GrowthSettings(**wrong)
