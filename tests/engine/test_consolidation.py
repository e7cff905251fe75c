"""Putting a bank in order: what stands for what, is outdated, fades; nothing is lost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memgene.bank import Bank, Event, Fate, Filter, MemoryUnit, SqliteBank, UnitStatus, UnitType
from memgene.core import FixedClock, Scope
from memgene.embed.hashing import HashingEmbedder
from memgene.engine import MemoryEngine
from memgene.engine.consolidation import ConsolidationSettings, consolidate
from memgene.engine.consolidation.attributes import attribute_of
from memgene.engine.writing import write_units

DAY = datetime(2024, 5, 8)
NOW = datetime(2024, 6, 1, tzinfo=UTC)
ALL = Filter(statuses=tuple(UnitStatus))


def fact(text: str, when: datetime | None = DAY, **more: object) -> MemoryUnit:
    return MemoryUnit(text, type=UnitType.SEMANTIC, event_time=when, **more)  # type: ignore[arg-type]


def filled(bank: Bank, *units: MemoryUnit) -> None:
    """Facts of different sources, so that the bank itself merges none of them."""
    placed = [
        MemoryUnit(**{f: getattr(u, f) for f in u.__slots__} | {"source": f"s{i}"})
        for i, u in enumerate(units)
    ]
    write_units(bank, HashingEmbedder(), placed)


def active(bank: Bank) -> list[str]:
    return [unit.content for unit in bank.scan(None)]


def run(bank: Bank, *units: MemoryUnit, similarity: float = 0.5) -> list[str]:
    filled(bank, *units)
    consolidate(bank, None, NOW, ConsolidationSettings(similarity=similarity))
    return active(bank)


# -- duplicates


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        ("Anna bought a red boat.", "anna bought the red boat in the harbour shop"),
        ("Anna bought a red boat.", "Anna bought the red boat"),
        ("Anna went to Lisbon on 7 May 2024.", "Anna happily went to Lisbon on 7 May 2024."),
    ],
)
def test_what_says_all_that_another_says_stands_for_both(
    bank: Bank, worse: str, better: str
) -> None:
    preferred = fact(better, confidence=0.8)
    assert run(bank, fact(worse), preferred) == [better]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna bought 2 boats.", "Anna bought 3 boats."),
        ("Anna bought two boats.", "Anna bought three boats."),
        ("Anna bought boats.", "Anna bought 3 boats."),
        ("Anna moved to Porto.", "Anna moved to Lisbon."),
        ("Anna moved to Porto.", "Anna moved to Porto with Ben."),
        ("Anna moved from Porto to Lisbon.", "Anna moved from Lisbon to Porto."),
        ("Anna left on 7 May 2024.", "Anna left on 8 May 2024."),
        ("Anna left.", "Anna left in May 2023."),
        ("Anna likes tea.", "Anna does not like tea."),
        ("Anna likes tea.", "Anna never likes tea."),
        ("Anna can swim.", "Anna can't swim."),
        ("Anna will come.", "Anna won't come."),
        ("Anna lives here.", "Anna no longer lives here."),
        ("Anna bought a boat.", "Anna almost bought a boat."),
        ("Anna bought a boat.", "Anna bought a boat unless it rained."),
        ("Anna bought a red boat.", "Anna bought a blue boat."),
        ("Anna lives in town.", "Anna lived in town."),
        ("Anna is happy.", "Anna is unhappy."),
    ],
)
def test_a_changed_value_is_no_duplicate(bank: Bank, one: str, other: str) -> None:
    assert run(bank, fact(one), fact(other), similarity=0.0) == [one, other]


def test_what_happened_on_another_day_happened_again(bank: Bank) -> None:
    later = DAY + timedelta(days=40)
    texts = ["Anna saw the dentist.", "Anna saw the dentist."]
    assert run(bank, fact(texts[0]), fact(texts[1], later)) == texts


def test_a_state_told_on_another_day_is_the_same_state(bank: Bank) -> None:
    units = [
        MemoryUnit("Anna prefers tea", type=UnitType.PREFERENCE, event_time=DAY + timedelta(n))
        for n in (0, 40)
    ]
    assert len(run(bank, *units)) == 1


def test_the_turns_of_a_conversation_are_left_alone(bank: Bank) -> None:
    turns = [MemoryUnit("Thank you!", speaker="Anna", event_time=DAY) for _ in range(2)]
    assert len(run(bank, *turns)) == 2


def test_owners_are_kept_apart(bank: Bank) -> None:
    one, other = (fact("Anna bought a boat.", scope=Scope(user_id=u)) for u in ("u", "v"))
    assert len(run(bank, one, other)) == 2


def test_without_vectors_only_equal_words_are_duplicates(bank: Bank) -> None:
    texts = ("Anna bought a boat", "Anna bought the boat.", "Anna bought a boat in harbour shop")
    bank.add([fact(text, source=f"s{i}") for i, text in enumerate(texts)])
    consolidate(bank, None, NOW)
    assert len(active(bank)) == 2


def test_the_threshold_decides_between_statements_of_different_length(bank: Bank) -> None:
    texts = ("Anna bought boats", "Anna bought boats far away across wide northern rivers")
    filled(bank, *(fact(text) for text in texts))
    assert consolidate(bank, None, NOW, ConsolidationSettings(similarity=0.99)).duplicates == 0
    assert consolidate(bank, None, NOW, ConsolidationSettings(similarity=0.1)).duplicates == 1


def test_what_stands_inherits_turns_and_labels_and_keeps_its_lineage(bank: Bank) -> None:
    short = fact("Anna bought a boat", refs=("m1",), persons=("Anna",), importance=0.9)
    long = fact("Anna bought a boat nearby", refs=("m2",), topics=("boats",))
    filled(bank, short, long)
    report = consolidate(bank, None, NOW, ConsolidationSettings(similarity=0.5))
    (kept,) = bank.scan(None)
    (gone,) = bank.scan(None, Filter(statuses=(UnitStatus.SUPERSEDED,)))
    assert (kept.refs, kept.persons, kept.topics) == (("m2", "m1"), ("Anna",), ("boats",))
    assert kept.importance == 0.9
    assert (gone.superseded_by, kept.supersedes) == (kept.id, gone.id)
    (receipt,) = report.receipts
    assert (receipt.id, receipt.fate, receipt.text) == (gone.id, Fate.SUPERSEDED, gone.content)
    assert receipt.reason == f"superseded by {kept.id}: it says what another unit says"


# -- changed values


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Anna lives in Porto.", "Anna now lives in Lisbon."),
        ("Anna works at the harbour.", "Anna works at a bakery."),
        ("Anna's phone number is 555 1234.", "Anna's phone number is 555 9876."),
        ("The price of the boat is 300 euros.", "The price of the boat is 250 crowns."),
        ("Anna has 2 cats.", "Anna has 3 cats."),
        ("Anna is 30 years old.", "Anna is 31 years old."),
        ("Anna's favourite colour is red.", "Anna's favourite colour is blue."),
    ],
)
def test_the_newer_value_of_an_attribute_supersedes_the_older(
    bank: Bank, old: str, new: str
) -> None:
    later = DAY + timedelta(days=400)
    assert run(bank, fact(new, later), fact(old)) == [new]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Anna likes tea.", "Anna likes coffee."),
        ("Anna bought 2 boats.", "Anna bought 3 boats."),
        ("Anna's dog is old.", "Anna's dog is friendly."),
        ("Anna lives in Porto.", "Ben lives in Lisbon."),
        ("Anna lives in Porto.", "Anna might live in Lisbon."),
        ("Anna lives in Porto.", "Anna does not live in Lisbon."),
        ("Anna lives in Porto.", "Anna lives in Porto, Portugal."),
        ("Anna lived in Porto.", "Anna lives in Lisbon."),
        ("Anna went to Porto.", "Anna went to Lisbon."),
    ],
)
def test_what_can_be_true_side_by_side_stays(bank: Bank, old: str, new: str) -> None:
    later = DAY + timedelta(days=400)
    assert run(bank, fact(old), fact(new, later)) == [old, new]


def test_a_value_that_comes_back_is_the_newest(bank: Bank) -> None:
    places = ["Porto", "Lisbon", "Porto"]
    units = [fact(f"Anna lives in {p}.", DAY + timedelta(100 * n)) for n, p in enumerate(places)]
    run(bank, *units)
    (kept,) = bank.scan(None)
    assert kept.event_time == units[2].event_time
    first, second, _ = bank.scan(None, ALL)
    assert (first.superseded_by, second.superseded_by) == (second.id, kept.id)


def test_values_of_unknown_or_equal_time_stay(bank: Bank) -> None:
    texts = ["Anna lives in Porto.", "Anna lives in Lisbon.", "Anna lives in Faro."]
    assert run(bank, fact(texts[0]), fact(texts[1]), fact(texts[2], None)) == texts


def test_an_attribute_is_read_with_its_subject_and_value() -> None:
    found = attribute_of("Anna currently lives in Old Porto.")
    assert found is not None
    assert (found.subject, found.name, found.value) == (
        ("anna",),
        ("lives", "in"),
        ("old", "porto"),
    )
    assert attribute_of("Anna and Ben bought a boat.") is None


# -- importance and reinforcement


def aged(days: float, **more: object) -> MemoryUnit:
    return fact("Anna bought a boat.", created=NOW - timedelta(days=days), **more)


@pytest.mark.parametrize(
    ("days", "importance"), [(0, 0.8), (30, 0.8), (60, 0.4), (90, 0.2), (900, 0.05)]
)
def test_importance_halves_every_thirty_days_after_the_first_thirty(
    bank: Bank, days: float, importance: float
) -> None:
    run(bank, aged(days, importance=0.8))
    (unit,) = bank.scan(None)
    assert unit.importance == pytest.approx(importance)


def test_decay_counts_from_the_first_value_however_often_it_is_done(bank: Bank) -> None:
    filled(bank, aged(0, importance=0.8))
    for day in range(0, 91, 10):
        consolidate(bank, None, NOW + timedelta(days=day))
    (unit,) = bank.scan(None)
    assert unit.importance == pytest.approx(0.2)


def test_use_brings_importance_back() -> None:
    with SqliteBank(":memory:", FixedClock(NOW)) as bank:
        filled(bank, aged(60, importance=0.8))
        consolidate(bank, None, NOW)
        (unit,) = bank.scan(None)
        assert unit.importance == pytest.approx(0.4)
        bank.touch([unit.id], 1.0, None)
        consolidate(bank, None, NOW)
        (unit,) = bank.scan(None)
        assert (unit.importance, dict(unit.metadata)) == (0.8, {})


def test_an_importance_that_is_set_anew_fades_from_there(bank: Bank) -> None:
    filled(bank, aged(60, importance=0.8))
    consolidate(bank, None, NOW)
    (unit,) = bank.scan(None)
    changed = MemoryUnit(**{f: getattr(unit, f) for f in unit.__slots__} | {"importance": 1.0})
    bank.update(changed)
    consolidate(bank, None, NOW)
    (unit,) = bank.scan(None)
    assert unit.importance == pytest.approx(0.5)


def test_entities_told_again_reinforce_up_to_the_cap(bank: Bank) -> None:
    filled(
        bank,
        fact("Anna met Momo at Harbour Days.", entities=("Momo", "Harbour Days")),
        fact("Ben fed Momo.", entities=("momo",)),
        fact("Harbour Days were wet.", entities=("Harbour Days", "Rain")),
        fact("Momo sleeps.", entities=("Momo",), scope=Scope(user_id="u")),
    )
    consolidate(bank, None, NOW)
    assert [unit.reinforcement for unit in bank.scan(None)] == [2, 1, 1, 0]
    capped = ConsolidationSettings(most_reinforcement=1)
    with SqliteBank(":memory:") as other:
        filled(other, *(fact(f"A and B {i}", entities=("A", "B")) for i in range(2)))
        consolidate(other, None, NOW, capped)
        assert [unit.reinforcement for unit in other.scan(None)] == [1, 1]


# -- as a whole


def test_every_change_can_be_undone_from_the_history(bank: Bank) -> None:
    filled(bank, fact("Anna lives in Porto."), fact("Anna lives in Lisbon.", DAY + timedelta(9)))
    consolidate(bank, None, NOW)
    (gone,) = bank.scan(None, Filter(statuses=(UnitStatus.SUPERSEDED,)))
    row = next(r for r in bank.history(gone.id) if r.event is Event.SUPERSEDE)
    assert row.payload is not None
    assert row.payload["before"] == {"status": "active", "superseded_by": None}
    bank.set_status([gone.id], UnitStatus.ACTIVE)
    assert len(active(bank)) == 2


def test_a_scope_is_all_that_is_touched(bank: Bank) -> None:
    texts = ("Anna bought a boat", "Anna bought the boat.")
    filled(bank, *(fact(t, scope=Scope(user_id=u)) for u in ("u", "v") for t in texts))
    report = consolidate(bank, Scope(user_id="u"), NOW)
    assert (report.units, report.duplicates) == (2, 1)
    assert len(active(bank)) == 3


def test_a_failure_leaves_the_bank_as_it_was(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(bank, fact("Anna bought a boat"), fact("Anna bought the boat."))
    before = bank.version()
    monkeypatch.setattr("memgene.engine.consolidation.order.reinforced", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        consolidate(bank, None, NOW)
    assert bank.version() == before
    assert len(active(bank)) == 2


NAMES = ("Anna", "Ben", "Clara", "Porto", "Lisbon")
VERBS = ("bought", "sold", "saw", "did not buy", "never saw", "lives in", "has")
WHEN = ("", " on 7 May 2024", " on 8 May 2024", " in 2023")
statements = st.builds(
    "{} {} {} boats near {}{}.".format,
    st.sampled_from(NAMES),
    st.sampled_from(VERBS),
    st.sampled_from(("2", "3", "two", "many red", "red", "")),
    st.sampled_from(NAMES),
    st.sampled_from(WHEN),
)
moments = st.sampled_from((None, DAY, DAY + timedelta(days=1), DAY + timedelta(days=300)))
facts = st.lists(st.builds(fact, statements, moments), min_size=1, max_size=8)
quick = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@quick
@given(facts)
def test_every_unit_is_active_or_leads_to_an_active_one(units: Sequence[MemoryUnit]) -> None:
    with SqliteBank(":memory:") as bank:
        filled(bank, *units)
        consolidate(bank, None, NOW, ConsolidationSettings(similarity=0.0))
        stored = {unit.id: unit for unit in bank.scan(None, ALL)}
        assert len(stored) == len(units)
        for unit in stored.values():
            seen = set()
            while unit.status is not UnitStatus.ACTIVE:
                assert unit.id not in seen
                seen.add(unit.id)
                assert unit.superseded_by is not None
                unit = stored[unit.superseded_by]
        assert bank.verify() == []


@quick
@given(facts)
def test_a_second_pass_changes_nothing(units: Sequence[MemoryUnit]) -> None:
    with SqliteBank(":memory:") as bank:
        filled(bank, *units)
        consolidate(bank, None, NOW, ConsolidationSettings(similarity=0.0))
        before = bank.version()
        again = consolidate(bank, None, NOW, ConsolidationSettings(similarity=0.0))
        assert (again.duplicates, again.outdated, again.faded, again.reinforced) == (0, 0, 0, 0)
        assert bank.version() == before


@quick
@given(
    st.sampled_from(("Anna bought {} boats", "The {} meeting was long", "Ben saw {} there")),
    st.lists(
        st.sampled_from(
            ("3", "4", "1,000", "10:30", "Porto", "Clara", "7 May 2024", "not", "2023")
        ),
        min_size=2,
        max_size=2,
        unique=True,
    ),
)
def test_statements_that_differ_in_a_value_both_stand(form: str, values: list[str]) -> None:
    with SqliteBank(":memory:") as bank:
        filled(bank, *(fact(form.format(value)) for value in values))
        consolidate(bank, None, NOW, ConsolidationSettings(similarity=0.0))
        assert len(active(bank)) == 2


def test_an_engine_puts_its_own_bank_in_order(bank: Bank) -> None:
    filled(bank, fact("Anna bought a boat"), fact("Anna bought the boat."))
    engine = MemoryEngine(bank, HashingEmbedder())
    assert len(engine.retrieve("boat").hits) == 2
    assert engine.consolidate(None, NOW).duplicates == 1
    assert len(engine.retrieve("boat").hits) == 1
