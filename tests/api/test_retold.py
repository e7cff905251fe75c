"""Episodes are told again from the units of a bank as they were written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.api.retold import MARK, kept_mark, marked, retold
from memgene.api.turns import placed
from memgene.bank import Bank, MemoryUnit, SqliteBank
from memgene.bank.protocol import Filter
from memgene.core import Episode, Message, Scope
from memgene.engine import units_from_episode
from memgene.engine.credit.distilling import DISTILLED

NOON = datetime(2024, 5, 2, 12)


def store(bank: Bank, episode: Episode, scope: Scope | None = None) -> None:
    """As `Memory.add` does for a program."""
    owner = scope or Scope()
    units = units_from_episode(episode, owner)
    stored = [u for u in bank.scan(owner, Filter(sources=(episode.id,))) if u.scope == owner]
    units = placed(units, stored) if stored else units
    bank.add(marked(units, episode, bank, continues=bool(stored)))


def told(bank: Bank, scope: Scope | None = None) -> list[Episode]:
    return [one.episode for one in retold(bank.scan(scope))]


def essence(episodes: Sequence[Episode]) -> list[tuple[object, ...]]:
    """What a program, its agent and the evidence see of an episode."""
    return [
        (e.id, e.time, e.text, [(m.id, m.speaker, m.time or e.time) for m in e.messages])
        for e in episodes
    ]


def session(name: str, *texts: str, time: datetime | None = None) -> Episode:
    messages = tuple(Message(t, f"{name}:{i}", "Ann") for i, t in enumerate(texts))
    return Episode(name, messages, name, time)


class TestAnEpisodeOfItsOwnSource:
    def test_comes_back_with_its_turns_speakers_and_time(self) -> None:
        with SqliteBank(":memory:") as bank:
            first, second = session("a", "Hello.", "Bye.", time=NOON), session("b", "Later.")
            store(bank, first)
            store(bank, second)
            assert essence(told(bank)) == essence([first, second])
            assert all(MARK not in unit.metadata for unit in bank.scan())

    def test_that_has_another_time_than_its_turns_is_marked(self) -> None:
        early = datetime(2024, 5, 1, tzinfo=UTC)
        told_early = Episode("a", (Message("Hello.", time=early),), "a", NOON)
        undated = Episode("b", (Message("Hi.", time=early),), "b", None)
        with SqliteBank(":memory:") as bank:
            store(bank, told_early)
            store(bank, undated)
            assert essence(told(bank)) == essence([told_early, undated])
            assert {u.source: u.metadata[MARK][1] for u in bank.scan()} == {
                "a": "2024-05-02T12:00:00",
                "b": None,
            }

    def test_keeps_captions_in_its_words(self) -> None:
        shown = Episode("a", (Message("Look.", speaker="Ann", caption="a red boat"),), "a")
        with SqliteBank(":memory:") as bank:
            store(bank, shown)
            (again,) = told(bank)
            assert again.text == "Ann: Look. (a red boat)"


class TestASourceThatGoesOn:
    def test_is_an_episode_for_each_write(self) -> None:
        parts = [session("a", "One.", time=NOON), session("a", "Two.", "Three.", time=NOON)]
        with SqliteBank(":memory:") as bank:
            for part in parts:
                store(bank, part)
            assert [e.text for e in told(bank)] == ["Ann: One.", "Ann: Two.\nAnn: Three."]

    def test_has_turns_that_are_handed_in_again_once(self) -> None:
        with SqliteBank(":memory:") as bank:
            store(bank, session("a", "One.", "Two."))
            store(bank, session("a", "One.", "Two.", "Three."))
            assert [e.text for e in told(bank)] == ["Ann: One.\nAnn: Two.", "Ann: Three."]

    def test_keeps_its_owners_apart(self) -> None:
        ann, ben = Scope("ann"), Scope("ben")
        with SqliteBank(":memory:") as bank:
            store(bank, session("a", "One."), ann)
            store(bank, session("a", "Two."), ben)
            assert [e.text for e in told(bank)] == ["Ann: One.", "Ann: Two."]
            assert [e.text for e in told(bank, ben)] == ["Ann: Two."]


def test_a_lone_text_is_an_episode_named_after_its_unit() -> None:
    with SqliteBank(":memory:") as bank:
        (receipt,) = bank.add([MemoryUnit("The boat is red.", event_time=NOON)])
        (again,) = told(bank)
        assert (again.id, again.text, again.time) == (receipt.id, "The boat is red.", NOON)


def test_what_learning_distilled_was_never_said() -> None:
    with SqliteBank(":memory:") as bank:
        bank.add([MemoryUnit("Said."), MemoryUnit("Learned.", metadata={DISTILLED: True})])
        assert [e.text for e in told(bank)] == ["Said."]


def test_metadata_of_that_name_that_somebody_else_wrote_tells_nothing() -> None:
    with SqliteBank(":memory:") as bank:
        for value in ("mine", ["key", "yesterday"], [1, None], ["key"]):
            bank.add([MemoryUnit(f"Said {value}.", event_time=NOON, metadata={MARK: value})])
        assert [e.time for e in told(bank)] == [NOON] * 4


def test_the_digest_changes_with_all_that_is_seen() -> None:
    unit = MemoryUnit("One.", id="u", source="a", turn_start=0, event_time=NOON)
    changed = [
        replace(unit, content="Two."),
        replace(unit, speaker="Ann"),
        replace(unit, event_time=None),
        replace(unit, source="b"),
        replace(unit, id="v"),
    ]
    digests = [retold([one])[0].digest for one in (unit, *changed)]
    assert len(set(digests)) == len(digests)
    assert retold([unit])[0].digest == digests[0]


def test_a_mark_outlasts_a_change_of_metadata() -> None:
    unit = MemoryUnit("One.", metadata={MARK: ["k", None], "topic": "boats"})
    assert kept_mark(unit) == {MARK: ["k", None]}
    assert kept_mark(MemoryUnit("One.")) == {}


times = st.none() | st.datetimes(datetime(2020, 1, 1), datetime(2025, 1, 1))
words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12)
messages = st.builds(Message, words.filter(str.strip), speaker=st.sampled_from(["Ann", "Ben"]))


@given(st.lists(st.tuples(st.lists(messages, min_size=1, max_size=4), times), max_size=5))
@settings(max_examples=60, deadline=None)
def test_episodes_of_new_sources_always_come_back(
    written: list[tuple[list[Message], datetime | None]],
) -> None:
    episodes = [
        Episode(str(number), tuple(said), str(number), time)
        for number, (said, time) in enumerate(written)
    ]
    with SqliteBank(":memory:") as bank:
        for episode in episodes:
            store(bank, episode)
        assert essence(told(bank)) == essence(episodes)
