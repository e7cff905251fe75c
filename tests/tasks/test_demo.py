from __future__ import annotations

import re
from importlib import resources

import pytest

from memgene.core import InputError
from memgene.tasks.check import check_folder
from memgene.tasks.demo import demo_task
from memgene.tasks.registry import load_task
from memgene.tasks.splits import fold_splits, split_task
from memgene.tasks.task import Regime


@pytest.fixture(scope="module")
def task():
    return demo_task()


def test_the_bundled_folder_is_flawless():
    with resources.as_file(resources.files("memgene.tasks.demo") / "data") as folder:
        report = check_folder(folder)
    assert report.errors == ()
    assert report.warnings == ()


def test_it_is_large_and_varied_enough(task):
    assert task.regime is Regime.OWN_GROUP
    assert len(task.groups) >= 12
    assert 200 <= len(task.questions) <= 300
    assert {q.gold.category for q in task.questions} == {
        "single-hop",
        "multi-hop",
        "temporal",
        "list",
        "yes-no",
        "inference",
    }


def test_every_question_has_an_answer_and_message_evidence(task):
    messages = {m.id for e in task.episodes for m in e.messages}
    for question in task.questions:
        assert question.gold.answers
        assert question.gold.evidence
        assert set(question.gold.evidence) <= messages


def test_conversations_written_for_it_are_dated_in_order(task):
    for group in task.groups:
        own = [e for e in task.episodes if e.group == group]
        if group.startswith("bfcl-"):
            continue
        times = [e.time for e in own]
        assert 6 <= len(own) <= 10
        assert times == sorted(times)
        assert all(8 <= len(e.messages) <= 14 for e in own)
        assert {m.speaker for e in own for m in e.messages} == {
            name.capitalize() for name in group.split("-")
        }


def test_dates_in_temporal_answers_are_written_alike(task):
    dated = [
        q.gold.answers[0]
        for q in task.questions
        if q.gold.category == "temporal" and re.search(r"\d{4}", q.gold.answers[0])
    ]
    assert len(dated) > 30
    assert all(re.fullmatch(r"\d{1,2} [A-Z][a-z]+ 20\d\d", answer) for answer in dated)


def test_the_part_from_bfcl_carries_its_attribution(task):
    data = resources.files("memgene.tasks.demo") / "data"
    attribution = (data / "ATTRIBUTION.md").read_text(encoding="utf-8")
    taken = [q for q in task.questions if q.group.startswith("bfcl-")]
    assert f"{len(taken)} of its 155 questions" in attribution
    assert "Apache License 2.0" in attribution
    assert all(q.gold.metadata == {"from": "BFCL v4"} for q in taken)


def test_it_can_be_split_and_folded(task):
    assert len(split_task(task, 0).of) == len(task.groups)
    assert len(fold_splits(task, 5, 0)) == 5


def test_it_is_a_named_task_without_options(task):
    assert load_task("demo") == task
    with pytest.raises(InputError, match="no option audit"):
        load_task("demo", audit=True)
