"""The line of a program, as a reflection is told it."""

from __future__ import annotations

from memgene.evolution.programs.lineage import Lineage, Record


def record(name: str, parent: str | None, delta: float | None = 0.0) -> Record:
    return Record(name, parent, f"title {name}", "", 0.5, delta)


def family() -> Lineage:
    made = Lineage()
    for name, parent in (("0", None), ("1", "0"), ("2", "1"), ("3", "0"), ("4", "2"), ("5", "2")):
        made.add(record(name, parent))
    return made


def test_ancestors_oldest_first_then_itself_then_its_children() -> None:
    assert [r.id for r in family().around("2")] == ["0", "1", "2", "4", "5"]
    assert [r.id for r in family().around("0")] == ["0", "1", "3"]


def test_only_the_newest_are_told_where_there_are_many() -> None:
    assert [r.id for r in family().around("2", most=3)] == ["2", "4", "5"]


def test_a_child_below_its_parent_is_a_regression() -> None:
    assert record("1", "0", -0.02).regressed
    assert not record("1", "0", -0.004).regressed
    assert not record("1", "0", None).regressed
