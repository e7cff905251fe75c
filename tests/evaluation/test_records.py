"""Cases survive the disk, whole or not at all, and can be stripped of benchmark text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memgene.core import Context, DataError, Filled, InputError, ViewScore, Why
from memgene.evaluation import Case, HitTrace, evaluate_cases, iter_cases, read_cases, write_cases
from memgene.evaluation.records import update_cases
from memgene.harness.baselines.no_memory import NoMemory
from memgene.harness.baselines.recent import Recent
from memgene.testing import FailingHarness, ScriptedAgent, ScriptedHarness, tiny_task

TASK = tiny_task()


def real_cases() -> list[Case]:
    failing = TASK.questions[0].question.text
    cases = evaluate_cases(
        TASK,
        lambda: FailingHarness(OSError(f"cannot read {failing}"), reads=[failing], inner=Recent(3)),
        ScriptedAgent.knowing(TASK),
        metrics=["token_f1", "recall@1"],
    )
    return cases + evaluate_cases(TASK, NoMemory, ScriptedAgent(), metrics=["recall@1"])


texts = st.text(st.characters(exclude_categories=()), max_size=20)
shares = st.none() | st.floats(0, 1)
plain = st.dictionaries(texts, texts | st.integers() | st.lists(texts, max_size=2), max_size=3)
hits = st.builds(
    HitTrace,
    id=texts,
    refs=st.lists(texts, max_size=2).map(tuple),
    score=st.floats(allow_nan=False, allow_infinity=False),
    rendered=texts,
    source=st.none() | texts,
    why=plain,
)
cases = st.builds(
    Case,
    question_id=texts,
    group=texts,
    category=texts,
    question=texts,
    gold=st.lists(texts, max_size=2).map(tuple),
    evidence=st.lists(texts, max_size=2).map(tuple),
    query=plain,
    context=texts,
    shown=st.integers(0, 50),
    hits=st.none() | st.lists(hits, max_size=3).map(tuple),
    answer=texts,
    abstained=st.booleans(),
    rule=st.none() | texts,
    scores=st.dictionaries(texts, st.floats(0, 1), max_size=3),
    bank_evidence=shares,
    pool_evidence=shares,
    seconds=st.floats(0, 1e6),
    error=st.none() | texts,
    excluded=st.none() | texts,
    question_type=texts,
    timings=st.dictionaries(texts, st.floats(0, 10), max_size=2),
    notes=plain,
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(written=st.lists(cases, max_size=4))
def test_every_case_comes_back_as_it_was(tmp_path: Path, written: list[Case]) -> None:
    path = tmp_path / "cases.jsonl"
    assert write_cases(path, written) == len(written)
    assert read_cases(path) == written


def test_cases_of_an_evaluation_come_back_as_they_were(tmp_path: Path) -> None:
    written = real_cases()
    write_cases(tmp_path / "new" / "cases.jsonl", written)
    assert read_cases(tmp_path / "new" / "cases.jsonl") == written


def test_redacted_records_hold_ids_and_scores_but_no_text(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    written = real_cases()
    write_cases(path, written, redact=True)
    words = path.read_text(encoding="utf-8")
    told = [m.text for e in TASK.episodes for m in e.messages]
    asked = [q.question.text for q in TASK.questions]
    answers = [a for q in TASK.questions for a in q.gold.answers]
    assert not [text for text in told + asked + answers if text in words]
    back = read_cases(path)
    assert [(c.question_id, c.scores, c.evidence) for c in back] == [
        (c.question_id, c.scores, c.evidence) for c in written
    ]
    assert back[0].error == "read: OSError"
    assert back[1].hits is not None
    assert written[1].hits is not None
    assert [h.refs for h in back[1].hits] == [h.refs for h in written[1].hits]


def test_cases_are_read_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    write_cases(path, real_cases())
    stream = iter_cases(path)
    assert next(stream).question_id == "bakery/door"
    stream.close()  # type: ignore[attr-defined]


def test_an_interrupted_write_leaves_the_former_file(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    former = real_cases()[:2]
    write_cases(path, former)

    def interrupted() -> Iterator[Case]:
        yield former[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_cases(path, interrupted())
    assert read_cases(path) == former
    assert [p.name for p in tmp_path.iterdir()] == ["cases.jsonl"]


def test_what_json_cannot_hold_is_refused_by_name(tmp_path: Path) -> None:
    case = real_cases()[1]
    with pytest.raises(InputError, match=f"case {case.question_id} cannot"):
        write_cases(tmp_path / "a", [replace(case, scores={"token_f1": float("nan")})])
    with pytest.raises(InputError, match="cannot be written"):
        write_cases(tmp_path / "a", [replace(case, query={"when": object()})])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no header"),
        ('{"question_id": 1}\n', "has no header"),
        ('{"kind": "memgene.cases", "format": 99}\n', "format 99"),
        ('{"kind": "memgene.cases", "format": 1}\n{"question_id": "x"}\n', ":2 is not a case"),
        ('{"kind": "memgene.cases", "format": 1}\n{"hits": nul\n', ":2 is not a case"),
        ('{"kind": "memgene.cases", "format": 1}\n{"colour": "red"}\n', "unknown fields"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_cases(path)


def test_a_missing_file_says_what_makes_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="evaluate --out"):
        read_cases(tmp_path / "none.jsonl")


def test_an_update_replaces_cases_of_the_same_questions_and_keeps_the_others(
    tmp_path: Path,
) -> None:
    path = tmp_path / "cases.jsonl"
    one, two, three = real_cases()[1:4]
    assert update_cases(path, [one, two]) == 2
    changed = replace(one, answer='now \u2028 "else"', question_id=one.question_id)
    assert update_cases(path, [changed, three]) == 3
    assert read_cases(path) == [two, changed, three]


def test_an_update_of_a_file_that_holds_something_else_leaves_it(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text('{"kind":"memgene.cases","format":1}\n{"colour":1}\n', encoding="utf-8")
    before = path.read_text(encoding="utf-8")
    with pytest.raises(DataError, match=r":2 is not a case record"):
        update_cases(path, real_cases()[:1])
    assert path.read_text(encoding="utf-8") == before


def test_the_trace_is_recorded_in_few_digits_and_scores_in_full(tmp_path: Path) -> None:
    class Thirds(ScriptedHarness):
        def read(self, query: Filled) -> Context:
            found = super().read(query)
            assert found.hits is not None
            why = Why({"v": ViewScore(1, 1 / 3)}, 1 / 3, {"f": 1 / 3})
            return replace(found, hits=tuple(replace(h, score=1 / 3, why=why) for h in found.hits))

    asked = [q for q in TASK.questions if q.id == "bakery/tools"]
    script = {asked[0].question.text: ["bakery:1:1", "bakery:1:2", "bakery:2:1"]}
    agent = ScriptedAgent.knowing(TASK)
    metrics = ["ndcg@10", "mrr"]
    [case] = evaluate_cases(TASK, lambda: Thirds(script), agent, asked, metrics=metrics)
    assert case.scores["mrr"] == 1 / 3
    assert case.hits is not None
    assert case.hits[0].score == 0.333333
    assert case.hits[0].why == {
        "views": {"v": {"rank": 1, "score": 0.333333}},
        "fused": 0.333333,
        "factors": {"f": 0.333333},
    }
    assert case.timings == {step: round(value, 6) for step, value in case.timings.items()}
    assert write_cases(tmp_path / "c", [case]) == 1
    assert ": " not in (tmp_path / "c").read_text(encoding="utf-8").split("context")[0]
