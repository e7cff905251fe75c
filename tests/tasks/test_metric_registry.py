from __future__ import annotations

import pytest

from memgene.core import Gold, Hit, InputError, Question
from memgene.tasks.metrics import (
    METRICS,
    Needs,
    Scored,
    evidence_index,
    evidence_texts,
    get_metric,
    score_all,
)


def scored(gold, choices=(), **fields):
    return Scored(Question("q", "what?", "g", choices=choices), gold, **fields)


RANKING = (Hit("u1", "", 0, refs=("m1",)), Hit("u2", "", 0, refs=("m2",)))


def test_every_metric_knows_its_name_and_needs():
    assert {"recall@5", "recall@10", "recall@20", "ndcg@10", "mrr"} <= set(METRICS)
    assert {"token_f1", "locomo_f1", "exact", "contains", "evidence_in_text"} <= set(METRICS)
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.description


def test_recall_at_any_k_can_be_asked_for():
    case = scored(Gold(answers=("x",), evidence=("m2",)), ranking=RANKING)
    assert get_metric("recall@1")(case) == 0
    assert get_metric("recall@2")(case) == 1
    assert get_metric("ndcg@3").needs is Needs.RANKING


@pytest.mark.parametrize("name", ["recall@0", "recall@", "recall@-1", "rouge", ""])
def test_an_unknown_metric_is_refused_with_the_names_there_are(name):
    with pytest.raises(InputError, match="token_f1"):
        get_metric(name)


def test_a_question_with_answer_and_evidence_gets_answer_and_ranking_metrics():
    case = scored(Gold(answers=("red",), evidence=("m1",)), answer="red", ranking=RANKING)
    scores = score_all(case)
    assert scores["token_f1"] == scores["recall@5"] == scores["mrr"] == 1
    assert "mcq_accuracy" not in scores
    assert "evidence_in_text" not in scores


def test_without_a_ranking_only_the_context_is_looked_at():
    case = scored(
        Gold(answers=("red",), evidence=("m1",)),
        context="it was red",
        evidence_texts=(("was red",),),
    )
    scores = score_all(case)
    assert scores["evidence_in_text"] == 1
    assert not any(name.startswith(("recall", "ndcg", "mrr")) for name in scores)


@pytest.mark.parametrize("gold", [Gold(answers=("x",)), Gold(evidence=("m1",), unusable="why")])
def test_no_usable_evidence_means_no_ranking_metrics(gold):
    scores = score_all(scored(gold, ranking=RANKING))
    assert not any(METRICS[name].needs is Needs.RANKING for name in scores)


def test_the_best_of_several_accepted_answers_counts():
    case = scored(Gold(answers=("ten", "10 hours")), answer="10 hours")
    assert get_metric("exact")(case) == 1
    assert get_metric("contains")(case) == 1


def test_not_answerable_wants_an_abstention():
    assert score_all(scored(Gold(), answer="Paris"))["token_f1"] == 0
    silent = score_all(scored(Gold(), answer="I cannot tell", abstained=True))
    assert silent["token_f1"] == silent["exact"] == silent["locomo_f1"] == 1
    assert "contains" not in silent


def test_abstaining_from_an_answerable_question_scores_nothing():
    case = scored(Gold(answers=("not much",)), answer="not mentioned, not much", abstained=True)
    assert score_all(case)["token_f1"] == 0
    assert score_all(case)["locomo_f1"] == 0


def test_multiple_choice_is_scored_by_accuracy_alone():
    case = scored(Gold(answers=("Rome",)), choices=("Oslo", "Rome"), answer="(B)")
    assert score_all(case) == {"mcq_accuracy": 1}


def test_a_rubric_without_answers_is_left_to_the_judge():
    gold = Gold(rubric=({"criterion": "kind", "points": 1},))
    assert score_all(scored(gold, answer="hello")) == {}


def test_evidence_may_name_messages_or_whole_episodes(make_task):
    task = make_task({"a": 1})
    index = evidence_index(task)
    assert index["a/e:1"] == ("two",)
    assert index["a/e"] == ("one", "two")
    assert evidence_texts(task.questions[0], index) == (("one",),)
    assert evidence_texts(task.questions[0], {}) == ((),)


# -- means of several


def test_a_mean_of_metrics_applies_where_all_of_them_do():
    both = get_metric("token_f1+evidence_in_text")
    assert (both.name, both.needs) == ("token_f1+evidence_in_text", Needs.ANSWER)
    gold = Gold(("red kayak",), ("m1",))
    asked = Question("q", "What did Ana sell?", "g")
    half = Scored(
        asked, gold, answer="a kayak", context="Ana: I sold it", evidence_texts=(("I sold it",),)
    )
    assert score_all(half, {"f1": get_metric("token_f1")}) == {"f1": pytest.approx(2 / 3)}
    assert both(half) == pytest.approx((2 / 3 + 1) / 2)
    ranks = Scored(asked, gold, answer="a kayak", ranking=())
    assert both(ranks) is None


@pytest.mark.parametrize("name", ["token_f1+", "token_f1+token_f1", "token_f1+judge_strict"])
def test_a_mean_is_of_different_metrics_that_need_no_judge(name):
    with pytest.raises(InputError):
        get_metric(name)
