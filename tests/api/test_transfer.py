"""Export and import: everything but vectors and history makes the round trip."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from memgene import Memory
from memgene.bank import Relation, RelationKind, UnitStatus
from memgene.core import DataError
from memgene.embed import Embedder


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


def dump(memory: Memory) -> list[dict[str, object]]:
    stream = io.StringIO()
    memory.export(stream)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


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
        stream = io.StringIO()
        memory.export(stream)
        stream.seek(0)
        assert [one.event for one in memory.import_(stream)] == ["merged"] * 3
        assert dump(memory) == before


def test_what_was_learned_here_is_not_overwritten_by_an_import(static: Embedder) -> None:
    with filled(static) as memory:
        (bob,) = memory.get_all(user_id="bob")
        memory.feedback(bob.id, 1.0)
        stream = io.StringIO()
        memory.export(stream)
        memory.feedback(bob.id, 0.0)
        kept = memory.get(bob.id).utility
        stream.seek(0)
        memory.import_(stream)
        assert memory.get(bob.id).utility == pytest.approx(kept)


def test_an_updated_memory_travels_with_its_new_text(static: Embedder) -> None:
    with filled(static) as memory, Memory(embedder=static) as other:
        (bob,) = memory.get_all(user_id="bob")
        memory.update(bob.id, text="changed")
        stream = io.StringIO()
        memory.export(stream)
        stream.seek(0)
        other.import_(stream)
        assert [r.text for r in other.get_all(user_id="bob")] == ["changed"]


HEAD = '{"kind": "memgene.bank", "format": 1}'


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "line 1"),
        ('{"kind": "memgene.bank", "format": 99}', "line 1"),
        ("not json", "line 1"),
        (f"{HEAD}\nnot json", "line 2"),
        (f'{HEAD}\n{{"kind": "unit", "content": "a"}}\n{{"kind": "dream"}}', "line 3.*dream"),
        (f'{HEAD}\n{{"kind": "unit", "content": "a", "colour": "red"}}', "line 2.*colour"),
        (f'{HEAD}\n{{"kind": "unit", "content": "a", "event_time": "soon"}}', "line 2"),
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
