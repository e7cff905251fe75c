"""Writing: units from episodes, and only what is new is embedded."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import numpy as np
import pytest

from memgene.bank import Bank, Fate, MemoryUnit, UnitStatus
from memgene.core import EmbedderMismatchError, Episode, Message, Scope
from memgene.embed.hashing import HashingEmbedder
from memgene.engine import MemoryEngine, reembed, units_from_episode
from memgene.retrieval.config import RetrievalConfig

Talk = Callable[..., list[MemoryUnit]]
DENSE = RetrievalConfig(fusion="dense_only")


def vector_of(bank: Bank, unit_id: str) -> np.ndarray:
    ids, vectors = bank.vectors([unit_id])
    assert ids == [unit_id]
    return vectors[0]


def test_one_unit_per_message_with_words() -> None:
    monday, noon = datetime(2024, 1, 1), datetime(2024, 1, 1, 12)
    episode = Episode(
        "e",
        (
            Message("Hello", "m1", "Anna"),
            Message("  "),
            Message("Look", "m3", "Ben", time=noon, caption="a red boat"),
            Message("Bye"),
        ),
        group="g",
        time=monday,
    )
    first, second, third = units_from_episode(episode, Scope("u"))
    assert first == MemoryUnit(
        "Hello",
        scope=Scope("u"),
        speaker="Anna",
        source="e",
        turn_start=0,
        turn_end=0,
        refs=("m1",),
        event_time=monday,
    )
    assert (second.content, second.turn_start, second.event_time) == ("Look (a red boat)", 2, noon)
    assert second.metadata == {"caption": "a red boat"}
    assert (third.speaker, third.refs, third.turn_start) == (None, (), 3)


def test_only_new_texts_are_embedded(bank: Bank, spy, talk: Talk) -> None:  # type: ignore[no-untyped-def]
    engine = MemoryEngine(bank, spy)
    engine.write(talk("Anna: a red boat", "Ben: a car"))
    assert spy.calls == [["Anna: a red boat", "Ben: a car"]]
    receipts = engine.write(talk("Anna: a red boat", "Ben: a car", "Anna: a cup"))
    assert spy.calls[1:] == [["Anna: a cup"]]
    assert [r.fate for r in receipts] == [Fate.MERGED, Fate.MERGED, Fate.ADDED]
    engine.write(talk("Anna: a red boat"))
    assert len(spy.calls) == 2


def test_a_text_given_twice_at_once_is_stored_once(bank: Bank, spy) -> None:  # type: ignore[no-untyped-def]
    receipts = MemoryEngine(bank, spy).write([MemoryUnit("a boat"), MemoryUnit("a  boat ")])
    assert [r.fate for r in receipts] == [Fate.ADDED, Fate.MERGED]
    assert receipts[0].id == receipts[1].id


def test_the_vector_is_that_of_the_line_an_agent_reads(bank: Bank) -> None:
    embedder = HashingEmbedder()
    unit = MemoryUnit("a boat", speaker="Anna", event_time=datetime(2024, 5, 1))
    (receipt,) = MemoryEngine(bank, embedder).write([unit])
    expected = embedder.embed(["[1 May 2024] Anna: a boat"])[0]
    assert vector_of(bank, receipt.id).tolist() == expected.tolist()


def test_without_an_embedder_units_have_no_vectors(bank: Bank) -> None:
    (receipt,) = MemoryEngine(bank, None).write([MemoryUnit("a boat")])
    assert bank.vectors([receipt.id])[0] == []
    assert bank.embedder() is None
    found = MemoryEngine(bank, None).retrieve("boat")
    assert [hit.id for hit in found.hits] == [receipt.id]
    assert "dense" not in found.hits[0].why.views


def test_a_stored_text_without_a_vector_gets_one_when_it_is_written_again(bank: Bank, spy) -> None:  # type: ignore[no-untyped-def]
    units = [MemoryUnit("a red boat"), MemoryUnit("a car")]
    first, _ = MemoryEngine(bank, None).write(units)
    receipts = MemoryEngine(bank, spy).write(units[:1])
    assert (receipts[0].id, receipts[0].fate) == (first.id, Fate.MERGED)
    assert spy.calls == [["a red boat"]]
    assert np.linalg.norm(vector_of(bank, first.id)) == pytest.approx(1)


def test_text_that_is_no_unicode_is_refused_by_name_and_never_embedded(bank: Bank, spy) -> None:  # type: ignore[no-untyped-def]
    receipts = MemoryEngine(bank, spy).write([MemoryUnit("broken \ud800"), MemoryUnit("a boat")])
    assert [r.fate for r in receipts] == [Fate.REFUSED, Fate.ADDED]
    assert receipts[0].reason
    assert spy.calls == [["a boat"]]


def test_a_rewritten_unit_keeps_its_id_and_gets_another_vector(bank: Bank, spy) -> None:  # type: ignore[no-untyped-def]
    engine = MemoryEngine(bank, spy, DENSE)
    (receipt,) = engine.write([MemoryUnit("a red boat")])
    (stored,) = bank.get([receipt.id])
    changed = engine.rewrite(stored, "a blue car")
    assert (changed.id, changed.content) == (receipt.id, "a blue car")
    assert engine.retrieve("blue car").hits[0].why.fused == pytest.approx(
        float(spy.embed(["blue car"])[0] @ spy.embed(["a blue car"])[0])
    )


def test_a_text_that_was_rewritten_away_can_be_written_again(bank: Bank, spy) -> None:  # type: ignore[no-untyped-def]
    engine = MemoryEngine(bank, spy, DENSE)
    (old,) = engine.write([MemoryUnit("a red boat")])
    engine.rewrite(bank.get([old.id])[0], "a blue car")
    (new,) = engine.write([MemoryUnit("a red boat")])
    assert new.fate is Fate.ADDED
    assert new.id != old.id
    assert vector_of(bank, new.id).tolist() == spy.embed(["a red boat"])[0].tolist()


# -- another embedder


def test_the_bank_refuses_the_vectors_of_another_embedder(bank: Bank) -> None:
    MemoryEngine(bank, HashingEmbedder(64)).write([MemoryUnit("a boat")])
    other = MemoryEngine(bank, HashingEmbedder(32))
    with pytest.raises(EmbedderMismatchError, match="hashing-64"):
        other.write([MemoryUnit("a car")])
    assert [u.content for u in bank.scan()] == ["a boat"]


@pytest.mark.parametrize("dimension", [64, 32])
def test_reading_with_another_embedder_is_refused_too(bank: Bank, dimension: int) -> None:
    class Other(HashingEmbedder):
        name = "other"

    MemoryEngine(bank, HashingEmbedder(64)).write([MemoryUnit("a boat")])
    with pytest.raises(EmbedderMismatchError, match=r"hashing-64 .* other"):
        MemoryEngine(bank, Other(dimension)).retrieve("boat")


def test_a_reader_notices_that_another_one_replaced_the_vectors(bank: Bank) -> None:
    engine = MemoryEngine(bank, HashingEmbedder(64))
    engine.write([MemoryUnit(f"boat {i}") for i in range(9)])
    assert engine.retrieve("boat").hits
    reembed(bank, HashingEmbedder(32))
    with pytest.raises(EmbedderMismatchError):
        engine.retrieve("boat")


def test_reembedding_replaces_every_vector_of_any_status(bank: Bank, talk: Talk) -> None:
    MemoryEngine(bank, HashingEmbedder(64)).write(talk("Anna: a boat", "Ben: a car", "Anna: tea"))
    ids = [u.id for u in bank.scan()]
    bank.set_status(ids[:1], UnitStatus.ARCHIVED)
    other = HashingEmbedder(32)
    seen: list[tuple[int, int]] = []
    assert reembed(bank, other, lambda done, of: seen.append((done, of))) == 3
    assert seen[-1] == (3, 3)
    assert bank.embedder() is not None
    assert bank.embedder().name == other.name  # type: ignore[union-attr]
    expected = other.embed(["Anna: a boat", "Ben: a car", "Anna: tea"])
    assert bank.vectors(ids)[1].tolist() == expected.tolist()
    engine = MemoryEngine(bank, other, DENSE)
    assert engine.retrieve("tea").hits[0].text == "tea"
    assert engine.write([MemoryUnit("a cup")])[0].fate is Fate.ADDED


def test_an_empty_bank_can_be_reembedded(bank: Bank) -> None:
    assert reembed(bank, HashingEmbedder()) == 0
