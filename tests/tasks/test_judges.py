"""Judges: what they are asked, what their verdicts score, and what happens when they fail."""

from __future__ import annotations

import ast
import json
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.core import (
    ConfigError,
    DataError,
    Gold,
    InputError,
    LabelledQuestion,
    ModelError,
    Question,
    ReplyError,
)
from memgene.llm import Finish, Reply
from memgene.llm.prompts import judges as wording
from memgene.tasks.judges import JUDGES, PROMPTS, Kind, judge_rubric, kind_of
from memgene.tasks.metrics import (
    JUDGED,
    METRICS,
    Needs,
    Scored,
    can_apply,
    get_metric,
    rubric_score,
    score_all,
)
from memgene.testing import ScriptedLLM

YES = '{"explanation": "both say blue", "correct": true}'
NO = '{"explanation": "red is not blue", "correct": false}'


def scored(answer: str = "navy blue", gold: Gold | None = None, **question: object) -> Scored:
    asked = Question("q1", "What colour is the boat?", "g", **question)  # type: ignore[arg-type]
    return Scored(asked, gold or Gold(("blue",)), answer=answer)


def judged(metric: str, reply: str, case: Scored) -> tuple[float, dict[str, object], str]:
    """Score, verdict, and everything the judge was told."""
    llm = ScriptedLLM([reply])
    said = JUDGES[metric](llm, case)
    [request] = llm.requests
    return said.score, dict(said.verdict), "\n".join(m.content for m in request.messages)


@pytest.mark.parametrize(
    ("metric", "prompt"),
    [("judge_strict", wording.JUDGE_STRICT), ("judge_lenient", wording.JUDGE_LENIENT)],
)
def test_a_verdict_is_the_score_and_is_kept_with_its_reason(metric, prompt) -> None:
    score, verdict, told = judged(metric, YES, scored())
    assert score == 1
    assert verdict == {
        "correct": True,
        "explanation": "both say blue",
        "model": "scripted",
        "prompt": prompt.digest,
    }
    assert prompt.system in told
    for part in ("What colour is the boat?", "Right answer: blue", "Given answer: navy blue"):
        assert part in told
    assert judged(metric, NO, scored())[0] == 0


def test_the_judge_explains_before_it_decides() -> None:
    told = judged("judge_strict", YES, scored())[2]
    assert told.index('"explanation"') < told.index('"correct"')


def test_alternatives_are_shown_as_such_and_dates_with_the_question() -> None:
    case = scored(gold=Gold(("blue", "navy")), time=datetime(2024, 3, 9))
    told = judged("judge_strict", YES, case)[2]
    assert "Right answer: blue\nor: navy" in told
    assert "What colour is the boat? (asked on 9 March 2024)" in told


@pytest.mark.parametrize(
    ("gold", "kind"),
    [
        (Gold(("x",)), Kind.PLAIN),
        (Gold(("x",), category="temporal"), Kind.PLAIN),
        (Gold(("x",), category="temporal-reasoning"), Kind.TEMPORAL),
        (Gold(("x",), category="knowledge-update"), Kind.UPDATE),
        (Gold(("x",), category="single-session-preference"), Kind.PREFERENCE),
        (Gold((), category="knowledge-update"), Kind.ABSTENTION),
        (Gold(("x",), metadata={"judge": "update"}), Kind.UPDATE),
        (Gold(("x",), category="knowledge-update", metadata={"judge": "plain"}), Kind.PLAIN),
        (Gold(("It was never told.",), metadata={"judge": "abstention"}), Kind.ABSTENTION),
    ],
)
def test_the_gold_tells_the_kind(gold: Gold, kind: Kind) -> None:
    assert kind_of(scored(gold=gold)) is kind


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(DataError, match=r"question q1: .*'newest'.*preference"):
        kind_of(scored(gold=Gold(("x",), metadata={"judge": "newest"})))


@pytest.mark.parametrize(
    ("kind", "strict", "lenient"),
    [
        ("temporal", wording.JUDGE_STRICT_TEMPORAL, wording.JUDGE_LENIENT_TEMPORAL),
        ("update", wording.JUDGE_STRICT_UPDATE, wording.JUDGE_LENIENT_UPDATE),
        ("preference", wording.JUDGE_PREFERENCE, wording.JUDGE_PREFERENCE),
        ("abstention", wording.JUDGE_ABSTENTION, wording.JUDGE_ABSTENTION),
    ],
)
def test_each_kind_has_its_prompt(kind, strict, lenient) -> None:
    case = scored(gold=Gold(("blue",), metadata={"judge": kind}))
    assert judged("judge_strict", YES, case)[1]["prompt"] == strict.digest
    assert judged("judge_lenient", YES, case)[1]["prompt"] == lenient.digest


def test_a_question_without_an_answer_shows_no_gold() -> None:
    score, _, told = judged("judge_strict", YES, scored("It was never said.", Gold()))
    assert score == 1
    assert "Right answer" not in told


@pytest.mark.parametrize(("answer", "abstained"), [("", False), ("  \n", False), ("Dunno.", True)])
def test_no_answer_needs_no_judge(answer: str, abstained: bool) -> None:
    for gold, right in ((Gold(("blue",)), False), (Gold(), True)):
        case = Scored(Question("q1", "?", "g"), gold, answer=answer, abstained=abstained)
        said = JUDGES["judge_lenient"](ScriptedLLM([]), case)
        assert said.score == right
        why = "the agent abstained" if abstained else "the answer is empty"
        assert said.verdict == {"correct": right, "rule": why}


def test_an_unusable_verdict_is_asked_for_again_and_then_an_error_never_a_wrong_answer() -> None:
    llm = ScriptedLLM(["I think it is right.", YES])
    assert JUDGES["judge_strict"](llm, scored()).score == 1
    assert len(llm.requests) == 2
    cut_off = Reply('{"explanation": "it is', Finish.LENGTH)
    with pytest.raises(ReplyError, match="scripted"):
        JUDGES["judge_strict"](ScriptedLLM([cut_off] * 3), scored())
    with pytest.raises(ModelError, match="gone"):
        JUDGES["judge_strict"](ScriptedLLM([ModelError("gone")]), scored())


def test_every_prompt_can_be_found_by_its_digest() -> None:
    assert len(PROMPTS) == 9
    assert all(prompt.digest == digest for digest, prompt in PROMPTS.items())


# Rubrics

RUBRIC = (
    {"criterion": "Names the colour.", "points": 5, "tags": ["axis:accuracy"]},
    {"criterion": "Says who painted it.", "points": 3},
    {"criterion": "Invents an owner.", "points": -4},
)


def met(*verdicts: bool) -> list[str]:
    return [
        json.dumps({"explanation": f"no. {n}", "criteria_met": v}) for n, v in enumerate(verdicts)
    ]


@pytest.mark.parametrize(
    ("verdicts", "score", "unclipped"),
    [
        ((True, True, False), 1, 1),
        ((True, False, False), 5 / 8, 5 / 8),
        ((True, False, True), 1 / 8, 1 / 8),
        ((False, False, True), 0, -4 / 8),
        ((False, False, False), 0, 0),
    ],
)
def test_a_rubric_scores_points_won_over_points_to_win(verdicts, score, unclipped) -> None:
    said = judge_rubric(ScriptedLLM(met(*verdicts)), scored(gold=Gold(rubric=RUBRIC)))
    assert said.score == score
    assert said.verdict["unclipped"] == unclipped


def test_each_criterion_is_judged_alone_in_order_on_the_whole_conversation() -> None:
    llm = ScriptedLLM(met(True, False, True))
    said = judge_rubric(llm, scored("It is blue.", Gold(rubric=RUBRIC)))
    assert said.verdict["criteria"] == [
        {"criterion": "Names the colour.", "points": 5, "met": True, "explanation": "no. 0"},
        {"criterion": "Says who painted it.", "points": 3, "met": False, "explanation": "no. 1"},
        {"criterion": "Invents an owner.", "points": -4, "met": True, "explanation": "no. 2"},
    ]
    assert (said.verdict["model"], said.verdict["prompt"]) == (
        "scripted",
        wording.RUBRIC_CRITERION.digest,
    )
    for request, entry in zip(llm.requests, RUBRIC, strict=True):
        told = request.messages[-1].content
        assert "user: What colour is the boat?\n\nassistant: It is blue." in told
        assert [e["criterion"] in told for e in RUBRIC] == [e is entry for e in RUBRIC]


def test_a_criterion_without_a_verdict_is_an_error_not_a_criterion_missed() -> None:
    llm = ScriptedLLM([*met(True), ModelError("gone")])
    with pytest.raises(ModelError, match="gone"):
        judge_rubric(llm, scored(gold=Gold(rubric=RUBRIC)))


@pytest.mark.parametrize(
    "entry",
    [
        {"points": 1},
        {"criterion": " ", "points": 1},
        {"criterion": "x"},
        {"criterion": "x", "points": "3"},
        {"criterion": "x", "points": True},
        {"criterion": "x", "points": float("nan")},
    ],
)
def test_a_malformed_rubric_names_the_question_and_the_place(entry) -> None:
    gold = Gold(rubric=(RUBRIC[0], entry))
    with pytest.raises(DataError, match=r"question q1, rubric\[1\]"):
        judge_rubric(ScriptedLLM([]), scored(gold=gold))


@given(st.lists(st.tuples(st.integers(-10, 10), st.booleans()), min_size=1))
def test_a_rubric_score_is_at_most_one_and_rises_with_good_criteria(marks) -> None:
    points = [*(p for p, _ in marks), 1]
    verdicts = [*(v for _, v in marks), False]
    score = rubric_score(points, verdicts)
    assert score <= 1
    assert rubric_score(points, [*verdicts[:-1], True]) > score


def test_published_verdicts_give_the_published_scores(real_data) -> None:
    path = real_data / "healthbench" / "judge_responses.jsonl"
    if not path.exists():
        pytest.skip("MEMGENE_DATA has no judged HealthBench answers")
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(records) == 100
    for record in records:
        said = ast.literal_eval(record["responses"])  # stored as Python writes it
        score = rubric_score(
            [one["points"] for one in said],
            [one["response_dict"]["criteria_met"] for one in said],
        )
        assert score == pytest.approx(record["score"])


# The registry


def test_judged_metrics_are_known_by_name_but_never_computed_by_default() -> None:
    assert set(JUDGED) == set(JUDGES)
    assert not set(JUDGED) & set(METRICS)
    for name, metric in JUDGED.items():
        assert get_metric(name) is metric
        assert (metric.name, metric.needs, metric.judge) == (name, Needs.JUDGE, "judge")
    assert not any(name in JUDGED for name in score_all(scored()))


def test_every_further_judge_has_a_metric_of_its_own() -> None:
    metric = get_metric("judge_strict@judge2")
    assert (metric.name, metric.judge) == ("judge_strict@judge2", "judge2")
    assert get_metric("rubric@judge") is JUDGED["rubric"]
    for name in ("judge_strict@", "judge_strict@2", "token_f1@judge2", "judge"):
        with pytest.raises(InputError, match="judge_lenient"):
            get_metric(name)


def test_where_judged_metrics_apply_is_known_without_a_judge() -> None:
    def applies(gold: Gold, *choices: str) -> set[str]:
        question = Question("q", "?", "g", choices=choices)
        labelled = LabelledQuestion(question, gold)
        return {name for name, metric in JUDGED.items() if can_apply(metric, labelled)}

    correctness = {"judge_strict", "judge_lenient"}
    assert applies(Gold(("blue",))) == correctness
    assert applies(Gold()) == correctness
    assert applies(Gold(rubric=RUBRIC)) == {"rubric"}
    assert applies(Gold(("blue",), rubric=RUBRIC)) == {*correctness, "rubric"}
    assert applies(Gold(("blue",)), "red", "blue") == set()
    assert applies(Gold(rubric=(RUBRIC[2],))) == set()


def test_a_judged_metric_without_a_judge_says_what_to_set() -> None:
    with pytest.raises(ConfigError, match=r"metric judge_strict .*\[llm\.judge\]"):
        get_metric("judge_strict")(scored())
