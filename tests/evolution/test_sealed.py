"""Evolvers get dev and val; test stays sealed until the final report opens it, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memgene.core import Episode, InputError, LabelledQuestion, Message, RunError
from memgene.evolution.journal import Journal, read_journal
from memgene.evolution.sealed import seal
from memgene.tasks.splits import Division
from memgene.tasks.task import Exclusion, Regime, Split, Task

OF = {"d": Split.DEV, "v": Split.VAL, "w": Split.VAL, "t": Split.TEST}


@pytest.fixture
def task(make_question: Callable[[str, str], LabelledQuestion]) -> Task:
    questions = tuple(make_question(f"{g}{i}", g) for g in OF for i in range(9))
    apart = make_question("trap", "v")
    apart = replace(apart, gold=replace(apart.gold, category="adversarial"))
    return Task(
        name="sealed",
        episodes=tuple(Episode(f"e{g}", (Message("hello", f"m{g}"),), g) for g in OF),
        questions=(*questions, apart),
        regime=Regime.OWN_GROUP,
        metric="mrr",
        fingerprint="f",
        set_apart=frozenset({"adversarial"}),
        exclusions=(Exclusion("t1", "malformed"), Exclusion("d1", "malformed")),
    )


def test_what_an_evolver_gets_holds_nothing_of_test(task: Task) -> None:
    data, _ = seal(task, Division(OF, "by hand"))
    assert {q.group for q in data.task.questions} == {"d", "v", "w"}
    assert {e.group for e in data.task.episodes} == {"d", "v", "w"}
    assert [x.question_id for x in data.task.exclusions] == ["d1"]
    assert {q.group for q in data.dev} == {"d"}
    assert {q.group for q in data.val} == {"v", "w"}
    assert "trap" not in {q.id for q in data.task.questions}


def test_a_third_of_each_val_group_is_kept_fresh(task: Task) -> None:
    data, _ = seal(task, Division(OF, "by hand"), seed=3)
    assert sorted(q.group for q in data.fresh) == ["v"] * 3 + ["w"] * 3
    assert sorted(q.group for q in data.select) == ["v"] * 6 + ["w"] * 6
    assert not {q.id for q in data.fresh} & {q.id for q in data.select}
    assert [q.id for q in data.val] == [f"{g}{i}" for g in "vw" for i in range(9)]


def test_which_items_are_fresh_depends_on_the_seed_alone(task: Task) -> None:
    def fresh(seed: int) -> tuple[str, ...]:
        return tuple(q.id for q in seal(task, Division(OF, "by hand"), seed)[0].fresh)

    assert fresh(3) == fresh(3)
    assert len({fresh(seed) for seed in range(5)}) > 1


def test_diagnosis_looks_at_a_sample_of_a_large_dev_set(
    task: Task, make_question: Callable[[str, str], LabelledQuestion]
) -> None:
    data, _ = seal(task, Division(OF, "by hand"))
    assert data.diagnose == data.dev
    many = tuple(
        make_question(f"{g}-{i}", g) for g, n in (("d", 600), ("e", 200)) for i in range(n)
    )
    large = replace(task, questions=(*task.questions, *many), episodes=())
    data, _ = seal(large, Division({**OF, "e": Split.DEV}, "by hand"), seed=1)
    assert len(data.dev) == 809
    assert abs(sum(q.group == "d" for q in data.diagnose) - 301) <= 1
    assert abs(sum(q.group == "e" for q in data.diagnose) - 99) <= 1


def test_a_group_with_one_question_keeps_it_for_selection(task: Task) -> None:
    few = replace(task, questions=tuple(q for q in task.questions if q.id in ("d0", "v0", "t0")))
    data, _ = seal(few, Division({"d": Split.DEV, "v": Split.VAL, "t": Split.TEST}, ""))
    assert (len(data.select), len(data.fresh)) == (1, 0)


def test_test_opens_once_and_the_journal_says_so(task: Task, tmp_path: Path) -> None:
    _, sealed = seal(task, Division(OF, "by hand"))
    journal = Journal(tmp_path / "journal.jsonl")
    opened = sealed.open(journal)
    assert {q.group for q in opened.questions} == {"t"}
    with pytest.raises(RunError, match="touched once"):
        sealed.open(journal)
    journal.close()
    events = [entry.event.to_dict() for entry in read_journal(tmp_path / "journal.jsonl")]
    assert events == [{"event": "test_opened", "questions": 9, "groups": ["t"]}]


def test_the_sealed_questions_are_no_public_attribute(task: Task) -> None:
    _, sealed = seal(task, Division(OF, "by hand"))
    public = [getattr(sealed, name) for name in dir(sealed) if not name.startswith("_")]
    assert public[0] == ("t",)
    assert all(callable(value) for value in public[1:])
    assert not hasattr(sealed, "__dict__")


def test_a_shared_memory_holds_the_dev_groups(task: Task) -> None:
    shared = replace(task, regime=Regime.SHARED)
    data, sealed = seal(shared, Division(OF, "by hand"))
    assert data.training == ("d",)
    assert {e.group for e in data.task.episodes} == {"d"}
    assert sealed.groups == ("t",)


def test_a_division_without_val_is_refused(task: Task) -> None:
    bad = {**OF, "v": Split.DEV, "w": Split.DEV}
    with pytest.raises(InputError, match="no val questions"):
        seal(task, Division(bad, "by hand"))
