"""Export and import: everything but history makes the round trip."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from memgene import Memory
from memgene.bank import Relation, RelationKind, UnitStatus
from memgene.core import DataError
from memgene.embed import Embedder, Vectors
from memgene.embed.hashing import HashingEmbedder

HEAD = '{"memgene_bank": 1, "embedder": null}'


def filled(static: Embedder) -> Memory:
    memory = Memory(embedder=static)
    memory.add(
        [{"role": "user", "content": "Größe: 4 Äpfel 🍎"}, {"role": "bot", "content": "好的"}],
        user_id="ann",
        run_id="s1",
        event_time="2024-05-08T10:00:00",
        metadata={"nested": {"list": [1, "zwei"]}},
    )
    memory.add("plain", user_id="bob")
    return memory


def exported(memory: Memory) -> io.StringIO:
    stream = io.StringIO()
    memory.export(stream)
    stream.seek(0)
    return stream


def dump(memory: Memory) -> list[dict[str, object]]:
    return [json.loads(line) for line in exported(memory)]


def test_the_round_trip_keeps_every_field(static: Embedder, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    with filled(static) as memory, Memory(embedder=static) as other:
        ids = [r.id for r in memory.get_all(all=True)]
        memory.feedback(ids[0], 1.0)
        memory._bank.relate([Relation(RelationKind.TIME, ids[0], ids[1], 0.5)])
        memory._bank.set_status([ids[2]], UnitStatus.ARCHIVED)
        assert memory.export(target).count == 3
        receipt = other.import_(target)
        assert [one.event for one in receipt] == ["added"] * 3
        assert dump(other) == dump(memory)
        assert other.get(ids[0]).utility == pytest.approx(0.65)
        assert other.search("Äpfel", user_id="ann")[0].id == ids[0]
        assert other.verify().ok


def test_importing_again_changes_nothing(static: Embedder) -> None:
    with filled(static) as memory:
        before = dump(memory)
        assert [one.event for one in memory.import_(exported(memory))] == ["merged"] * 3
        assert dump(memory) == before


def test_what_was_learned_here_is_not_overwritten_by_an_import(static: Embedder) -> None:
    with filled(static) as memory:
        (bob,) = memory.get_all(user_id="bob")
        memory.feedback(bob.id, 1.0)
        stream = exported(memory)
        memory.feedback(bob.id, 0.0)
        kept = memory.get(bob.id).utility
        memory.import_(stream)
        assert memory.get(bob.id).utility == pytest.approx(kept)


def test_an_updated_memory_travels_with_its_new_text(static: Embedder) -> None:
    with filled(static) as memory, Memory(embedder=static) as other:
        (bob,) = memory.get_all(user_id="bob")
        memory.update(bob.id, text="changed")
        other.import_(exported(memory))
        assert [r.text for r in other.get_all(user_id="bob")] == ["changed"]


class Spy:
    """An embedder that counts the texts it embeds."""

    def __init__(self, inner: Embedder) -> None:
        self.name, self.dimension, self._inner = inner.name, inner.dimension, inner
        self.embedded = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += len(texts)
        return self._inner.embed(texts)


def vectors(memory: Memory) -> tuple[tuple[str, ...], bytes]:
    ids, matrix = memory._bank.all_vectors()
    return tuple(ids), matrix.tobytes()


def test_vectors_of_the_same_embedder_are_taken_and_nothing_is_embedded(static: Embedder) -> None:
    spy = Spy(static)
    with filled(static) as memory, Memory(embedder=spy) as other:
        receipt = other.import_(exported(memory))
        assert (receipt.set_aside, receipt.made_by) == (0, None)
        assert spy.embedded == 0
        assert vectors(other) == vectors(memory)


def test_vectors_of_another_embedder_are_set_aside_and_made_anew(static: Embedder) -> None:
    spy = Spy(HashingEmbedder(64))
    with filled(static) as memory, Memory(embedder=spy) as other:
        receipt = other.import_(exported(memory))
        assert [one.event for one in receipt] == ["added"] * 3
        assert (receipt.set_aside, receipt.made_by) == (3, static.name)
        assert receipt.model_dump()["set_aside"] == 3
        assert spy.embedded == 3
        assert other.stats().embedder == "hashing-64"
        assert other.verify().ok
        with filled(HashingEmbedder(64)) as native:
            assert vectors(other) == vectors(native)


def test_units_without_a_vector_are_embedded(static: Embedder) -> None:
    lines = f'{HEAD}\n{{"unit": {{"content": "a plain fact", "id": "x"}}}}'
    with Memory(embedder=static) as memory:
        receipt = memory.import_(io.StringIO(lines))
        assert (receipt.ids, receipt.set_aside) == (("x",), 0)
        np.testing.assert_array_equal(
            memory._bank.vectors(["x"])[1], static.embed(["a plain fact"])
        )


def test_a_bad_line_after_a_thousand_good_ones_leaves_nothing(static: Embedder) -> None:
    spy = Spy(static)
    good = "".join(f'{{"unit": {{"content": "fact {n}"}}}}\n' for n in range(1500))
    with Memory(embedder=spy) as memory:
        with pytest.raises(DataError, match="line 1502"):
            memory.import_(io.StringIO(f"{HEAD}\n{good}oops"))
        assert memory.stats().units == 0
        assert memory.stats().embedder is None


def test_a_file_that_is_not_text_is_a_data_error(memory: Memory, tmp_path: Path) -> None:
    place = tmp_path / "odd.jsonl"
    place.write_bytes(HEAD.encode() + b"\n\xff\xfe\n")
    with pytest.raises(DataError, match="not UTF-8"):
        memory.import_(place)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "line 1"),
        ('{"memgene_bank": 99}', "line 1"),
        ("not json", "line 1"),
        (f"{HEAD}\nnot json", "line 2"),
        (f'{HEAD}\n{{"unit": {{"content": "a"}}}}\n{{"dream": {{}}}}', "line 3.*dream"),
        (f'{HEAD}\n{{"unit": {{"content": "a", "colour": "red"}}}}', "line 2.*colour"),
        (f'{HEAD}\n{{"unit": {{"content": "a", "event_time": "soon"}}}}', "line 2"),
    ],
)
def test_a_malformed_import_names_its_line_and_stores_nothing(
    static: Embedder, lines: str, words: str
) -> None:
    with Memory(embedder=static) as memory:
        with pytest.raises(DataError, match=words):
            memory.import_(io.StringIO(lines))
        assert memory.stats().units == 0


def test_an_absent_file_is_a_data_error(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="absent"):
        memory.import_(tmp_path / "absent.jsonl")
