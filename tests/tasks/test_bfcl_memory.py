from __future__ import annotations

import pytest

from memgene.core import DataError, Message
from memgene.tasks.benchmarks.bfcl_memory import ANSWERS, CONVERSATIONS, FILENAME, SCENARIOS
from memgene.tasks.benchmarks.bfcl_memory import locate_quote as quote
from memgene.tasks.registry import load_task


def conversation(number, scenario, index, *texts):
    return {
        "id": f"memory_prereq_{number}-{scenario}-{index}",
        "topic": f"topic {index}",
        "question": [[{"role": "user", "content": text}] for text in texts],
        "scenario": scenario,
    }


@pytest.fixture
def place(tmp_path, write_lines):
    root = tmp_path / "bfcl"
    for number, scenario in enumerate(SCENARIOS):
        write_lines(
            root / CONVERSATIONS.format(scenario),
            [
                conversation(number, scenario, 0, f"Hello from {scenario}.", "I’m 41 — a baker."),
                conversation(number, scenario, 1, "My cat is called Plum."),
            ],
        )
    asked = [
        {
            "id": f"memory_{n}-student-{n}",
            "scenario": "student",
            "question": [[{"role": "user", "content": text}]],
        }
        for n, text in enumerate(["How old am I?", "My cat?", "My boat?"])
    ]
    answers = [
        {"ground_truth": ["41", "forty one"], "source": '"I\'m 41 - a baker..."'},
        {"ground_truth": ["Plum"], "source": "...cat is called Plum."},
        {"ground_truth": ["red"], "source": "The boat was painted red in June."},
    ]
    write_lines(root / FILENAME, asked)
    write_lines(
        root / ANSWERS,
        [{"id": q["id"], **a} for q, a in zip(asked, answers, strict=True)],
    )
    return root


@pytest.fixture
def task(place):
    return load_task("bfcl-memory", place.parent, unpinned=True)


def test_a_group_is_a_scenario_and_an_episode_a_conversation(task):
    assert task.groups == SCENARIOS
    episode = next(e for e in task.episodes if e.id == "student/0")
    assert [m.id for m in episode.messages] == ["student/0:0", "student/0:1"]
    assert episode.messages[0].speaker == "user"
    assert episode.metadata["topic"] == "topic 0"


def test_accepted_answers_are_alternatives_and_the_quote_is_the_evidence(task):
    assert [q.gold.answers for q in task.questions[:2]] == [("41", "forty one"), ("Plum",)]
    assert [q.gold.evidence for q in task.questions[:2]] == [("student/0:1",), ("student/1:0",)]
    assert task.questions[0].gold.category == "student"


def test_a_quote_that_stands_nowhere_is_named(task):
    assert task.questions[2].gold.unusable == "the source quote stands in no message"
    assert [x.question_id for x in task.exclusions] == ["memory_2-student-2"]


MESSAGES = [
    Message("My sister visits. We bake bread on Sunday mornings.", id="a"),
    Message("The blue grinder broke, so my sister called the shop in Oregon.", id="b"),
    Message("Monday: call Jacob. Change the oil, then pay the rent on the first.", id="c"),
]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("We bake BREAD on Sunday mornings", ("a",)),
        ("...the blue grinder... called the shop in Oregon...", ("b",)),
        ("We bake bread … Change the oil", ("a", "c")),
        ("My sister... the blue grinder broke", ("b",)),
        ("my sister", ("a", "b")),
        ("Monday: Change the oil, then pay the rent", ("c",)),
        ("Monday: sell everything you have today", ()),
        ("...", ()),
    ],
)
def test_quotes_are_located(text, ids):
    assert quote(text, MESSAGES) == ids


def test_missing_files_and_other_files_are_named(place):
    with pytest.raises(DataError, match="not the official file"):
        load_task("bfcl-memory", place)
    (place / ANSWERS).unlink()
    with pytest.raises(DataError, match=r"lacks possible_answer/BFCL_v4_memory\.json"):
        load_task("bfcl-memory", place, unpinned=True)


def test_broken_lines_are_named_with_their_number(place):
    path = place / FILENAME
    path.write_text(path.read_text(encoding="utf-8") + "{nope\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"BFCL_v4_memory.json:4: not JSON"):
        load_task("bfcl-memory", place, unpinned=True)
    path.write_text('{"id": "x"}\n', encoding="utf-8")
    with pytest.raises(DataError, match="has not the shape"):
        load_task("bfcl-memory", place, unpinned=True)
