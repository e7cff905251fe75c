from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memgene.core import DataError, Episode, Gold, InputError, LabelledQuestion, Message, Question
from memgene.tasks.folder import load_folder, write_folder
from memgene.tasks.task import Exclusion, Regime, Split, Task

TASK = 'name = "mine"\nmemory = "own_group"\nmetric = "recall@7"\n'
PAIR = '{"speaker": "Ann", "text": "Hi"}, {"text": "", "caption": "a hat"}'
ZONED = '{"id": "m", "text": "Ω", "time": "2024-05-02T10:00+02:00"}'
EPISODES = f"""\
{{"id": "e1", "group": "g1", "text": "A red boat.", "time": "2024-05-01T10:00"}}
{{"id": "e2", "group": "g2", "messages": [{PAIR}]}}

{{"id": "e3", "group": "g3", "messages": [{ZONED}]}}
"""
QUESTIONS = """\
{"id": "q1", "group": "g1", "question": "Which boat?", "answer": "red", "evidence": ["e1"]}
{"id": "q2", "group": "g2", "question": "How many?", "answer": [2, "two"], "evidence": ["e2:1"]}
{"id": "q3", "group": "g3", "question": "Why?", "answer": null, "category": "trap"}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "task.toml").write_text(TASK, encoding="utf-8")
    (tmp_path / "episodes.jsonl").write_text(EPISODES, encoding="utf-8")
    (tmp_path / "questions.jsonl").write_text(QUESTIONS, encoding="utf-8")
    return tmp_path


def test_a_text_episode_is_one_message(folder):
    first = load_folder(folder).episodes[0]
    moment = datetime(2024, 5, 1, 10)
    assert first.messages == (Message("A red boat.", id="e1:0", time=moment),)
    assert first.time == moment
    assert first.source == "e1"


def test_messages_without_ids_are_numbered_and_times_keep_their_zone(folder):
    task = load_folder(folder)
    assert [m.id for m in task.episodes[1].messages] == ["e2:0", "e2:1"]
    assert task.episodes[1].messages[1].content == " (a hat)"
    moment = task.episodes[2].messages[0].time
    assert moment.utcoffset().total_seconds() == 7200


def test_answers_may_be_text_numbers_alternatives_or_null(folder):
    golds = [q.gold for q in load_folder(folder).questions]
    assert [g.answers for g in golds] == [("red",), ("2", "two"), ()]
    assert golds[2].category == "trap"


def test_the_head_is_read(folder):
    task = load_folder(folder)
    assert (task.name, task.metric, task.regime) == ("mine", "recall@7", Regime.OWN_GROUP)


def test_the_fingerprint_follows_the_content(folder):
    before = load_folder(folder).fingerprint
    assert load_folder(folder).fingerprint == before
    path = folder / "questions.jsonl"
    path.write_text(QUESTIONS.replace("red", "blue"), encoding="utf-8")
    assert load_folder(folder).fingerprint != before


def test_windows_line_ends_and_a_byte_order_mark_are_read(folder):
    path = folder / "episodes.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + EPISODES.replace("\n", "\r\n").encode())
    assert len(load_folder(folder).episodes) == 3


def test_errors_are_listed_in_one_message(folder):
    path = folder / "questions.jsonl"
    path.write_text(QUESTIONS + '{"id": "q1"}\n' * 30, encoding="utf-8")
    with pytest.raises(DataError, match=r"questions.jsonl:4: key 'question' is missing") as raised:
        load_folder(folder)
    assert "and 10 more" in str(raised.value)


def full_task() -> Task:
    times = (datetime(2024, 1, 2, 3, 4), datetime(2024, 1, 2, tzinfo=UTC), None)
    episodes = tuple(
        Episode(
            id=f"e{i}",
            messages=(
                Message(f"text {i}", id=f"m{i}", speaker="Zoë", time=time, caption="a cap"),
                Message("line\u2028 end", id=f"e{i}:1", time=time),
            ),
            group=f"g{i}",
            time=time,
            source="elsewhere" if i else f"e{i}",
            metadata={"n": [1, 2.5, None]},
        )
        for i, time in enumerate(times)
    )
    plain = Episode("p", (Message("alone", id="p:0"),), group="g0", source="p")
    questions = (
        LabelledQuestion(
            Question("q0", "what?", "g0", time=times[0], choices=("x", "y")),
            Gold(("y",), ("m0", "p"), category="list", metadata={"k": "v"}),
        ),
        LabelledQuestion(
            Question("q1", "how?", "g1"),
            Gold((), rubric=({"criterion": "kind", "points": -2.0, "tag": "t"},)),
        ),
        LabelledQuestion(Question("q2", "why?", "g2"), Gold(("a", "b"), (), unusable="lost")),
        LabelledQuestion(Question("q3", "who?", "g2"), Gold(("c",), ("e2",), category="apart")),
    )
    return Task(
        name="full",
        episodes=(*episodes, plain),
        questions=questions,
        regime=Regime.SHARED,
        metric="ndcg@10",
        fingerprint="",
        hints={"answer": 'be "brief"\n'},
        set_apart=frozenset({"apart"}),
        fixed_splits={"g1": Split.DEV, "g2": Split.VAL, "g0": Split.TEST},
        exclusions=(Exclusion("q2", "lost"),),
        licence="CC0",
    )


def same(one, other):
    return replace(one, fingerprint="") == replace(other, fingerprint="")


def test_what_is_written_is_read_back(tmp_path):
    task = full_task()
    write_folder(task, tmp_path / "out")
    assert same(load_folder(tmp_path / "out"), task)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
@given(st.lists(texts, min_size=3, max_size=6), st.lists(texts, min_size=1, max_size=3))
def test_any_text_survives_the_round_trip(make_task, tmp_path_factory, said, answers):
    task = make_task({"a": 2, "b": 2, "c": 2})
    messages = tuple(Message(text, id=f"a/e:{n}") for n, text in enumerate(said))
    gold = replace(task.questions[0].gold, answers=tuple(answers))
    task = replace(
        task,
        episodes=(replace(task.episodes[0], messages=messages), *task.episodes[1:]),
        questions=(replace(task.questions[0], gold=gold), *task.questions[1:]),
    )
    folder = tmp_path_factory.mktemp("task")
    write_folder(task, folder)
    assert same(load_folder(folder), task)


def test_an_existing_task_is_never_overwritten(folder):
    with pytest.raises(InputError, match="already holds a task"):
        write_folder(full_task(), folder)
