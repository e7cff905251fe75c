"""Reports, by hand: four groups of cases with known means."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memgene.core import InputError, RoleUsage, Usage
from memgene.evaluation import (
    Case,
    EvaluationReport,
    HarnessReport,
    Resampling,
    average_reports,
    measure,
    summarise,
)
from memgene.harness.baselines.full_context import FullContext
from memgene.harness.baselines.recent import Recent
from memgene.testing import ScriptedAgent, tiny_task

TASK = tiny_task()


def case(name: str, category: str, **scores: float) -> Case:
    return Case(
        question_id=name,
        group=name[0],
        category=category,
        question="",
        gold=(),
        evidence=(),
        query={},
        context="",
        shown=0,
        hits=None,
        answer="",
        abstained=False,
        rule=None,
        scores={metric.replace("_at_", "@"): score for metric, score in scores.items()},
    )


CASES = [
    case("a1", "fact", token_f1=1.0, recall_at_1=1.0),
    case("a2", "fact", token_f1=0.5, recall_at_1=0.0),
    replace(case("b1", "when", token_f1=0.0), excluded="evidence malformed"),
    replace(case("b2", "when"), error="respond: OSError: gone"),
    case("c1", "unanswerable", token_f1=1.0),
    case("d1", "when", token_f1=0.25, recall_at_1=1.0),
]


def test_means_leave_out_errors_excluded_and_what_is_set_apart() -> None:
    report = summarise(CASES, TASK, name="recent")
    assert (report.questions, report.excluded, report.errors) == (5, 1, 1)
    assert report.metrics["token_f1"].mean == (1 + 0.5 + 0 + 0.25) / 4
    assert report.metrics["token_f1"].n == 4
    assert report.metrics["recall@1"].mean == pytest.approx(2 / 3)
    assert report.metrics["recall@1"].n == 3
    assert report.metrics["recall@1"].method is Resampling.QUESTIONS


def test_categories_are_reported_and_those_set_apart_are_marked() -> None:
    parts = summarise(CASES, TASK, name="recent").by_category
    assert list(parts) == ["fact", "unanswerable", "when"]
    assert {name: part.set_apart for name, part in parts.items()} == {
        "fact": False,
        "unanswerable": True,
        "when": False,
    }
    assert parts["unanswerable"].metrics["token_f1"].mean == 1.0
    assert parts["when"].metrics["token_f1"].mean == 0.125
    assert (parts["when"].questions, parts["when"].excluded, parts["when"].errors) == (3, 1, 1)


def test_spread_is_over_categories_that_count() -> None:
    spread = summarise(CASES, TASK, name="recent").spread["token_f1"]
    # fact 0.75, when 0.125: half their distance is the population standard deviation.
    assert (spread.minimum, spread.category) == (0.125, "when")
    assert spread.std == pytest.approx(0.3125)


def test_the_json_is_the_contract() -> None:
    usage = Usage({"task": RoleUsage(calls=4, fresh=3, tokens_in=10, tokens_out=5, cost=0.5)})
    harness = summarise(CASES, TASK, name="recent", usage=usage, seconds=2.5)
    record = EvaluationReport("tiny", "test", "scripted", 7, (harness,)).to_json()
    assert list(record) == ["task", "split", "agent", "seed", "harnesses"]
    [entry] = record["harnesses"]
    assert {"name", "questions", "excluded", "errors", "metrics", "by_category"} < entry.keys()
    assert entry["usage"] == {"task": {"calls": 4, "fresh": 3, "tokens": 15, "cost": 0.5}}
    assert entry["seconds"] == 2.5
    assert entry["metrics"]["token_f1"]["mean"] == 0.4375
    assert list(entry["metrics"]["token_f1"]) == ["mean", "low", "high", "n", "method"]
    assert entry["by_category"]["unanswerable"]["set_apart"] is True
    assert entry["spread"]["token_f1"]["min"] == 0.125


def tiny_report(seed: int = 0, known: bool = True) -> EvaluationReport:
    def harness(name: str, factory: type[FullContext] | type[Recent]) -> HarnessReport:
        agent = ScriptedAgent.knowing(TASK) if known else ScriptedAgent()
        return measure(TASK, name, factory, agent, metrics=["token_f1", "recall@5"], seed=seed)

    harnesses = (harness("recent", Recent), harness("full-context", FullContext))
    return EvaluationReport("tiny", "all", "scripted", seed, harnesses)


# Recent holds the last 20 turns, so all six of a group; the first one stands at rank 6 and is what
# each `when` question needs: recall@5 is 1, 1 and 0 over the three counted questions.


def test_evidence_in_text_never_stands_beside_recall() -> None:
    report = tiny_report()
    head = ("harness", "questions", "excluded", "errors", "token_f1", "recall@5")
    assert report.table().header == head
    assert report.table().rows == (
        ("recent", "18", "0", "0", "100.0 [100.0, 100.0]", "66.7 [66.7, 66.7]"),
        ("full-context", "18", "0", "0", "100.0 [100.0, 100.0]", "–"),
    )
    assert report.table().notes == ()
    text = report.text_table()
    assert text is not None
    assert text.header[-1] == "evidence_in_text"
    assert text.rows == (("full-context", "18", "0", "0", "100.0 [100.0, 100.0]"),)


def test_recall_of_the_last_five_turns_is_all_but_the_first() -> None:
    recall = measure(
        TASK, "recent", lambda: Recent(5), ScriptedAgent(), metrics=["recall@5"]
    ).by_category
    assert recall["fact"].metrics["recall@5"].mean == 1.0
    assert recall["when"].metrics["recall@5"].mean == 0.0
    assert recall["unanswerable"].metrics == {}


def test_a_table_by_category_marks_what_is_set_apart() -> None:
    table = tiny_report().category_table("token_f1")
    assert table.header == ("category", "recent", "full-context")
    assert [row[0] for row in table.rows][:4] == ["fact", "list", "unanswerable *", "when"]
    assert table.notes[0] == "* unanswerable is set apart: it counts in no mean, nor below"


def test_a_table_by_category_ends_with_the_lowest_and_the_spread() -> None:
    harness = summarise(CASES, TASK, name="recent")
    table = EvaluationReport("tiny", "all", "s", 0, (harness,)).category_table("token_f1")
    # fact 0.75, when 0.125, as above
    assert table.rows[-2:] == (("lowest", "12.5 when"), ("spread", "31.2"))
    assert "spread: standard deviation of the categories' means" in table.notes


def test_what_is_set_apart_shows_its_official_metric() -> None:
    task = replace(TASK, set_apart_metric="locomo_f1")
    cases = [*CASES[:2], case("c1", "unanswerable", token_f1=0.0, locomo_f1=1.0)]
    harness = summarise(cases, task, name="recent")
    assert harness.by_category["unanswerable"].to_json()["official"] == "locomo_f1"
    assert "official" not in harness.by_category["fact"].to_json()
    table = EvaluationReport("tiny", "all", "s", 0, (harness,)).category_table("token_f1")
    assert table.rows[:2] == (
        ("fact", "75.0 [50.0, 100.0]"),
        ("unanswerable *", "100.0 [100.0, 100.0]"),
    )
    assert table.notes[0].startswith("* unanswerable is set apart, scored by locomo_f1: ")


def test_a_table_explains_excluded_and_errors_where_there_are_any() -> None:
    harness = summarise(CASES, TASK, name="recent")
    table = EvaluationReport("tiny", "all", "s", 0, (harness,)).table()
    assert table.rows[0][:4] == ("recent", "5", "1", "1")
    assert [note.split(":")[0] for note in table.notes] == ["excluded", "errors"]


def test_usage_is_what_this_evaluation_added() -> None:
    agent = ScriptedAgent()
    first = measure(TASK, "a", Recent, agent, metrics=["token_f1"])
    second = measure(TASK, "b", Recent, agent, metrics=["token_f1"])
    # 12 episodes extracted, 24 questions formulated and answered.
    assert first.usage.roles["task"].calls == second.usage.roles["task"].calls == 60
    assert first.seconds > 0


def test_a_report_finds_its_harness_by_name() -> None:
    assert tiny_report().harness("recent").name == "recent"
    with pytest.raises(InputError, match="no harness 'bm25'; it has recent, full-context"):
        tiny_report().harness("bm25")


def test_seeds_are_averaged_question_by_question() -> None:
    averaged = average_reports([tiny_report(0, known=True), tiny_report(1, known=False)], TASK)
    recent = averaged.harness("recent")
    assert recent.metrics["token_f1"].mean == 0.5
    assert recent.metrics["token_f1"].n == 18
    assert recent.by_seed["token_f1"] == (1.0, 0.0)
    assert recent.usage.roles["task"].calls == 120
    assert averaged.to_json()["seeds"] == [0, 1]
    assert averaged.to_json()["harnesses"][0]["by_seed"]["recall@5"] == [2 / 3, 2 / 3]


def test_an_error_in_one_seed_leaves_the_other_seeds_score_and_is_counted() -> None:
    one = summarise(
        [case("a1", "fact", token_f1=1.0), case("a2", "fact", token_f1=0.0)], TASK, name="x"
    )
    broken = replace(case("a1", "fact"), error="read: OSError: gone")
    two = summarise([broken, case("a2", "fact", token_f1=0.5)], TASK, name="x")
    reports = [
        EvaluationReport("tiny", "all", "s", seed, (r,)) for seed, r in enumerate((one, two))
    ]
    averaged = average_reports(reports, TASK).harness("x")
    assert averaged.errors == 1
    assert [c.scores for c in averaged.cases] == [{"token_f1": 1.0}, {"token_f1": 0.25}]


def test_reports_that_do_not_belong_together_are_not_averaged() -> None:
    report = tiny_report()
    with pytest.raises(InputError, match="different tasks"):
        average_reports([report, replace(report, split="test")], TASK)
    with pytest.raises(InputError, match="different harnesses"):
        average_reports([report, replace(report, harnesses=report.harnesses[:1])], TASK)
    with pytest.raises(InputError, match="at least one"):
        average_reports([], TASK)
    fewer = replace(report.harnesses[0], cases=report.harnesses[0].cases[:3])
    with pytest.raises(InputError, match="different questions"):
        average_reports([report, replace(report, harnesses=(fewer, report.harnesses[1]))], TASK)
