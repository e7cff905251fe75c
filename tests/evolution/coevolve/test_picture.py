"""The graph around a question: what is in the picture follows from a bank made by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.bank import SqliteBank
from memgene.bank.protocol import Relation, RelationKind, Value
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import DataError, Hit, InputError, Scope
from memgene.engine import MemoryEngine
from memgene.evolution.coevolve.picture import (
    MOST_NODES,
    GraphPicture,
    PictureEdge,
    PictureNode,
    picture,
)

DENSE, SPARSE, TIME = RelationKind.DENSE, RelationKind.SPARSE, RelationKind.TIME


@pytest.fixture
def engine() -> Iterator[MemoryEngine]:
    """a – b – c – d in a line, a → e in time, and f that is linked with nothing."""
    bank = SqliteBank(":memory:")
    bank.add([MemoryUnit(f"memory {name}", speaker="Ann", id=name) for name in "abcdef"])
    bank.relate(
        [
            Relation(DENSE, "a", "b", 0.9),
            Relation(SPARSE, "b", "c", 0.4),
            Relation(DENSE, "c", "d", 0.7),
            Relation(TIME, "a", "e"),
        ]
    )
    bank.set_values([Value("a", "", 0.75, 3), Value("a", "k1", 1.0, 2)])
    yield MemoryEngine(bank, None)
    bank.close()


def shown(*names: str) -> list[Hit]:
    return [Hit(name, f"memory {name}", 1.0) for name in names]


def ids(found: GraphPicture) -> list[str]:
    return [node.id for node in found.nodes]


def test_what_was_shown_comes_first_then_its_neighbours_by_the_strength_of_the_edge(
    engine: MemoryEngine,
) -> None:
    found = picture(engine, "where?", shown("f", "a"))
    assert ids(found) == ["f", "a", "e", "b"]  # e by weight 1, b by .9
    assert [node.rank for node in found.nodes] == [1, 2, None, None]
    assert found.edges == (PictureEdge(DENSE, "a", "b", 0.9), PictureEdge(TIME, "a", "e"))


@pytest.mark.parametrize(("hops", "names"), [(0, "a"), (1, "aeb"), (2, "aebc"), (5, "aebcd")])
def test_neighbours_are_at_most_so_many_edges_away(
    engine: MemoryEngine, hops: int, names: str
) -> None:
    assert ids(picture(engine, "where?", shown("a"), hops)) == list(names)


def test_a_node_tells_its_mean_value_its_exposures_and_its_words(engine: MemoryEngine) -> None:
    node = picture(engine, "where?", shown("a"), 0).nodes[0]
    assert node == PictureNode("a", "Ann: memory a", 0.75, 3, 1)


def test_a_distilled_memory_is_told_from_one_that_was_written(engine: MemoryEngine) -> None:
    made = MemoryUnit("tried it", id="m", metadata={"distilled": True, "parents": ["a"]})
    engine.write([made])
    engine.bank.relate([Relation(DENSE, "m", "a", 0.5)])
    marked = {node.id: node.distilled for node in picture(engine, "where?", shown("a")).nodes}
    assert marked == {"a": False, "b": False, "e": False, "m": True}


def test_neighbours_that_are_no_longer_found_are_left_out(engine: MemoryEngine) -> None:
    engine.bank.set_status(["b"], UnitStatus.ARCHIVED)
    assert ids(picture(engine, "where?", shown("a"), 2)) == ["a", "e"]


def test_memories_of_others_are_left_out() -> None:
    mine, other = Scope(user_id="ann", run_id="1"), Scope(user_id="ann", run_id="2")
    bank = SqliteBank(":memory:")
    try:
        bank.add([MemoryUnit("mine", mine, id="a"), MemoryUnit("also mine", mine, id="b")])
        bank.add([MemoryUnit("of another run", other, id="c")])
        bank.relate([Relation(DENSE, "a", "b"), Relation(DENSE, "a", "c")])
        engine = MemoryEngine(bank, None)
        seen = [ids(picture(engine, "where?", shown("a"), scope=s)) for s in (mine, None)]
    finally:
        bank.close()
    assert seen == [["a", "b"], ["a", "b", "c"]]


def test_ten_are_shown_and_what_has_no_room_is_counted() -> None:
    bank = SqliteBank(":memory:")
    try:
        names = [f"n{n:02d}" for n in range(52)]
        bank.add([MemoryUnit(f"memory {name}", id=name) for name in names])
        bank.relate([Relation(DENSE, "n00", name, 0.5) for name in names[12:]])
        found = picture(MemoryEngine(bank, None), "where?", shown(*names[:12]))
    finally:
        bank.close()
    assert ids(found) == [*names[:10], *names[12:26]]
    assert len(found.nodes) == MOST_NODES
    assert found.hidden == 40 - 14


def test_drawing_changes_nothing_and_is_repeatable(engine: MemoryEngine) -> None:
    before = engine.bank.version()
    first, second = (picture(engine, "where?", shown("a", "c")) for _ in range(2))
    assert first.to_json() == second.to_json()
    assert engine.bank.version() == before


def test_hops_below_zero_are_refused(engine: MemoryEngine) -> None:
    with pytest.raises(InputError, match="hops must be 0 or more"):
        picture(engine, "where?", shown("a"), -1)


def test_long_texts_are_cut_and_lines_joined(engine: MemoryEngine) -> None:
    engine.write([MemoryUnit("a line\nand " + "more " * 100, id="long")])
    found = picture(engine, "why? " * 200, shown("long"))
    assert found.nodes[0].text.startswith("a line and more")
    assert (len(found.nodes[0].text), len(found.question)) == (90, 240)


def test_redacted_only_ids_and_numbers_are_left(engine: MemoryEngine) -> None:
    found = picture(engine, "where?", shown("a")).redacted()
    assert ids(found) == ["a", "e", "b"]
    text = found.to_json()
    assert "memory" not in text
    assert "where" not in text


NAMES = st.text(max_size=8)
NODES = st.builds(
    PictureNode,
    id=NAMES,
    text=NAMES,
    value=st.floats(0, 1),
    exposures=st.integers(0, 9),
    rank=st.none() | st.integers(1, 10),
    distilled=st.booleans(),
)


@given(st.lists(NODES, min_size=1, max_size=5, unique_by=lambda node: node.id), st.data())
def test_a_picture_is_read_as_it_was_written(
    nodes: Sequence[PictureNode], data: st.DataObject
) -> None:
    ends = st.sampled_from([node.id for node in nodes])
    edge = st.builds(PictureEdge, st.sampled_from(RelationKind), ends, ends, st.floats(0, 1))
    edges = data.draw(st.lists(edge, max_size=4))
    made = GraphPicture(data.draw(NAMES), tuple(nodes), tuple(edges), 2)
    assert GraphPicture.from_json(made.to_json()) == made


def changed(**values: object) -> str:
    made = GraphPicture("q", (PictureNode("a", "", 0.5),), (PictureEdge(DENSE, "a", "a"),))
    return json.dumps(json.loads(made.to_json()) | values)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no json", "here is no picture of a graph"),
        ("[]", "here is no picture of a graph"),
        ("{}", "here is no picture of a graph"),
        (changed(format=2), "here has format 2; this memgene reads 1"),
        (changed(nodes=[{"id": "a"}]), r"here is damaged: nodes\.0\.text"),
        (changed(nodes=[]), "an edge leads to a node that is not there"),
        (changed(hidden="many"), "here is damaged: hidden"),
    ],
)
def test_what_is_no_picture_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        GraphPicture.from_json(text, "here")
