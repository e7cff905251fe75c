"""Judges inside an evaluation: scores, judgements, prompts and agreement in cases and reports."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from memgene.core import ConfigError, Gold, ModelError
from memgene.evaluation import (
    Case,
    EvaluationFailedError,
    EvaluationReport,
    HarnessReport,
    average_reports,
    evaluate_cases,
    measure,
    read_cases,
    write_cases,
)
from memgene.evaluation.agreement import REFERENCE_NAME
from memgene.evaluation.judges import judges_used
from memgene.harness.baselines.recent import Recent
from memgene.llm import Request
from memgene.llm.prompts.judges import JUDGE_ABSTENTION, JUDGE_STRICT, RUBRIC_CRITERION
from memgene.testing import ScriptedAgent, ScriptedLLM, tiny_task

TASK = tiny_task()
DOORS = [q for q in TASK.questions if q.id.endswith("/door")]


def says(correct: bool) -> str:
    return json.dumps({"explanation": "because", "correct": correct})


def judge(request: Request) -> str:
    """Finds the two doors right that are scarlet or blue."""
    told = request.messages[-1].content
    return says("scarlet" in told or "blue" in told)


def harsh(request: Request) -> str:
    return says("blue" in request.messages[-1].content)


def report(judges: dict[str, ScriptedLLM], metrics: list[str], seed: int = 0) -> HarnessReport:
    agent = ScriptedAgent.knowing(TASK)
    return measure(TASK, "recent", Recent, agent, DOORS, metrics=metrics, judges=judges, seed=seed)


def test_a_judged_metric_scores_every_question_with_the_verdict_beside_it() -> None:
    llm = ScriptedLLM(judge)
    found = report({"judge": llm}, ["judge_strict"])
    assert found.metrics["judge_strict"].mean == 2 / 6
    assert found.metrics["token_f1"].mean == 1.0  # stands beside, whatever was asked for
    assert len(llm.requests) == 6
    [blue] = [case for case in found.cases if case.question_id == "library/door"]
    assert blue.scores["judge_strict"] == 1
    assert blue.judgements == {
        "judge_strict": {
            "correct": True,
            "explanation": "because",
            "model": "scripted",
            "prompt": JUDGE_STRICT.digest,
        }
    }


def test_every_further_judge_scores_the_same_metric_under_its_name() -> None:
    judges = {"judge": ScriptedLLM(judge), "judge2": ScriptedLLM(harsh, name="other")}
    found = report(judges, ["judge_strict"])
    means = {name: interval.mean for name, interval in found.metrics.items()}
    assert means == {"judge_strict": 2 / 6, "judge_strict@judge2": 1 / 6, "token_f1": 1.0}
    alone = report(judges, ["judge_strict@judge2"])
    assert list(alone.metrics) == ["judge_strict@judge2", "token_f1"]


def test_without_judged_metrics_no_judge_is_asked() -> None:
    found = report({"judge": ScriptedLLM([])}, ["token_f1", "recall@1"])
    assert found.judges == found.agreement == ()
    assert all(case.judgements == {} for case in found.cases)


@pytest.mark.parametrize(
    ("metric", "section"), [("judge_lenient", "judge"), ("rubric@judge2", "judge2")]
)
def test_a_judge_that_is_missing_ends_the_evaluation_and_names_the_setting(
    metric: str, section: str
) -> None:
    judges = {"judge": ScriptedLLM([])} if section != "judge" else {}
    with pytest.raises(ConfigError, match=rf"metric {metric} .*\[llm\.{section}\]"):
        report(judges, [metric])


def test_a_failed_judge_is_an_error_of_the_question_never_a_wrong_answer() -> None:
    llm = ScriptedLLM([says(True), ModelError("the judge is gone"), *[says(True)] * 4])
    cases = evaluate_cases(
        TASK,
        Recent,
        ScriptedAgent.knowing(TASK),
        DOORS,
        metrics=["judge_strict"],
        judges={"judge": llm},
        max_errors=0.5,
    )
    assert [case.error is None for case in cases] == [True, False, True, True, True, True]
    assert cases[1].error == "score: ModelError: the judge is gone"
    assert (cases[1].scores, cases[1].judgements) == ({}, {})
    with pytest.raises(EvaluationFailedError, match="the judge is gone"):
        report({"judge": ScriptedLLM([ModelError("the judge is gone")] * 6)}, ["judge_strict"])


def test_a_rubric_is_scored_from_gold_and_never_shown_to_the_agent() -> None:
    gold = Gold(
        rubric=({"criterion": "Names it.", "points": 2}, {"criterion": "Lies.", "points": -1})
    )
    asked = [replace(DOORS[0], gold=gold)]
    agent = ScriptedAgent({DOORS[0].id: "bronze"})
    met = [json.dumps({"explanation": "", "criteria_met": True})] * 2
    [case] = evaluate_cases(
        TASK,
        Recent,
        agent,
        asked,
        metrics=["rubric", "judge_strict"],
        judges={"judge": ScriptedLLM(met)},
    )
    assert case.scores == {"rubric": 0.5}
    assert [c["met"] for c in case.judgements["rubric"]["criteria"]] == [True, True]


def whole(*harnesses: HarnessReport, seed: int = 0) -> EvaluationReport:
    return EvaluationReport("tiny", "all", "scripted", seed, harnesses)


def test_the_report_holds_each_judges_prompt_once() -> None:
    judges = {"judge": ScriptedLLM(judge), "judge2": ScriptedLLM(harsh, name="other")}
    one = report(judges, ["judge_strict"])
    record = whole(one, replace(one, name="again")).to_json()
    assert record["judges"] == [
        {
            "metric": metric,
            "model": model,
            "prompt_name": "judge_strict",
            "prompt_digest": JUDGE_STRICT.digest,
            "prompt": f"{JUDGE_STRICT.system}\n\n{JUDGE_STRICT.user}",
        }
        for metric, model in (("judge_strict", "scripted"), ("judge_strict@judge2", "other"))
    ]
    assert "judges" not in whole(report({}, ["token_f1"])).to_json()


def test_each_kind_of_question_names_the_prompt_it_was_judged_by() -> None:
    signs = [q for q in TASK.questions if q.id.endswith("/sign")][:1]
    agent = ScriptedAgent({q.id: "nobody told" for q in (*DOORS, *signs)})
    cases = evaluate_cases(
        TASK,
        Recent,
        agent,
        [*DOORS, *signs],
        metrics=["judge_strict"],
        judges={"judge": ScriptedLLM(judge)},
    )
    assert {one.prompt_digest for one in judges_used(cases)} == {
        JUDGE_STRICT.digest,
        JUDGE_ABSTENTION.digest,
    }


def test_a_prompt_of_another_version_is_named_but_not_made_up() -> None:
    said = {"correct": True, "explanation": "", "model": "m", "prompt": "0123456789ab"}
    [case] = evaluate_cases(TASK, Recent, ScriptedAgent(), DOORS[:1], metrics=["recall@1"])
    [used] = judges_used([replace(case, judgements={"judge_strict": said})])
    assert (used.prompt_digest, used.prompt, used.prompt_name) == ("0123456789ab", None, None)


def test_agreement_is_in_the_report_its_json_and_a_table() -> None:
    judges = {"judge": ScriptedLLM(judge), "judge2": ScriptedLLM(harsh)}
    one = report(judges, ["judge_strict"])
    pair, strict, other = one.agreement
    # Verdicts yes 2 and 1 of 6, one apart: p_o = 5/6, p_e = (2·1 + 4·5)/36, kappa = 8/14.
    assert (pair.first, pair.second) == ("judge_strict", "judge_strict@judge2")
    assert pair.agreement.mean == pytest.approx(5 / 6)
    assert pair.kappa == pytest.approx(8 / 14)
    assert (strict.reference, other.reference) == (True, True)
    assert whole(one).to_json()["harnesses"][0]["agreement"] == [
        pair.to_json(),
        strict.to_json(),
        other.to_json(),
    ]
    table = whole(one).agreement_table()
    assert table is not None
    assert table.header == ("harness", "judge", "beside", "questions", "agreement", "kappa")
    assert table.rows[0][:4] == ("recent", "judge_strict", "judge_strict@judge2", "6")
    assert table.rows[0][5] == "0.57"
    assert table.rows[1][2] == REFERENCE_NAME
    assert whole(report({}, ["token_f1"])).agreement_table() is None


def test_categories_set_apart_do_not_count_in_agreement() -> None:
    asked = [q for q in TASK.questions if q.id.endswith(("/door", "/sign"))]
    agent = ScriptedAgent({q.id: "nobody told" for q in asked})
    judges = {"judge": ScriptedLLM(judge), "judge2": ScriptedLLM(harsh)}
    found = measure(TASK, "recent", Recent, agent, asked, metrics=["judge_strict"], judges=judges)
    assert found.by_category["unanswerable"].metrics["judge_strict"].n == 6
    assert found.agreement[0].agreement.n == 6


def test_seeds_are_averaged_with_the_agreement_of_all_their_verdicts() -> None:
    lenient = {"judge": ScriptedLLM(judge), "judge2": ScriptedLLM(judge)}
    apart = {"judge": ScriptedLLM(judge), "judge2": ScriptedLLM(lambda _: says(False))}
    runs = [
        whole(report(judges, ["judge_strict"], seed), seed=seed)
        for seed, judges in enumerate((lenient, apart))
    ]
    [both] = average_reports(runs, TASK).harnesses
    pair = both.agreement[0]
    assert pair.agreement.n == 6
    assert pair.agreement.mean == pytest.approx((4 * 1 + 2 * 0.5) / 6)
    assert (pair.both, pair.neither, pair.only_first) == (2, 8, 2)
    assert [one.metric for one in both.judges] == ["judge_strict", "judge_strict@judge2"]


def judged_cases() -> list[Case]:
    return list(report({"judge": ScriptedLLM(judge)}, ["judge_strict"]).cases)


def test_judgements_come_back_from_disk(tmp_path: Path) -> None:
    cases = judged_cases()
    write_cases(tmp_path / "cases.jsonl", cases)
    assert read_cases(tmp_path / "cases.jsonl") == cases


def test_records_from_before_there_were_judges_are_read(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    cases = judged_cases()
    write_cases(path, cases)
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    old = [{k: v for k, v in json.loads(line).items() if k != "judgements"} for line in lines]
    path.write_text("\n".join([header, *map(json.dumps, old)]) + "\n", encoding="utf-8")
    assert read_cases(path) == [replace(case, judgements={}) for case in cases]


def test_redacted_judgements_hold_verdicts_and_points_but_no_words(tmp_path: Path) -> None:
    rubric = {
        "unclipped": 1.0,
        "criteria": [{"criterion": "Names it.", "points": 2, "met": True, "explanation": "so"}],
        "model": "m",
        "prompt": RUBRIC_CRITERION.digest,
    }
    case = judged_cases()[0]
    case = replace(case, judgements={**case.judgements, "rubric": rubric})
    write_cases(tmp_path / "cases.jsonl", [case], redact=True)
    [back] = read_cases(tmp_path / "cases.jsonl")
    assert back.judgements == {
        "judge_strict": {"correct": False, "model": "scripted", "prompt": JUDGE_STRICT.digest},
        "rubric": {
            "unclipped": 1.0,
            "criteria": [{"points": 2, "met": True}],
            "model": "m",
            "prompt": RUBRIC_CRITERION.digest,
        },
    }
