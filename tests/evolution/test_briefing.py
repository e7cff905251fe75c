"""What a model is told: computed causes, levers that count, cases and their lines, in bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memgene.core import InputError
from memgene.evaluation.case import Case, HitTrace
from memgene.evolution.advice import Advice
from memgene.evolution.briefing import Briefing
from memgene.evolution.changes import change
from memgene.evolution.diagnosis import diagnose
from memgene.evolution.means import Means, Use
from memgene.evolution.proposers import Attempt
from memgene.llm.structured import ask
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.levers import Need
from memgene.testing.llm import ScriptedLLM

F1 = "token_f1"
ALL: Means = frozenset({*Need, *Use})
CONFIG = RetrievalConfig()
NOWHERE = {"bank_evidence": 0.0, "pool_evidence": 0.0}
Make = Callable[..., Case]


def told(
    cases: Sequence[Case],
    config: RetrievalConfig = CONFIG,
    history: Sequence[Attempt] = (),
    available: Means = ALL,
    metric: str = F1,
    max_tokens: int = 6_000,
) -> str:
    briefing = Briefing(available, metric, 2, max_tokens)
    messages = briefing.messages(diagnose(cases, metric), config, history, Advice)
    return messages[-1].content


def section(text: str, title: str) -> list[str]:
    """Lines of a section."""
    return text.split(f"## {title}")[1].split("\n## ")[0].rstrip().splitlines()[1:]


@pytest.fixture
def failing(make_case: Make) -> list[Case]:
    """Ten questions: two never stored, three ranked low, one `when`; four are fine."""
    fine = [make_case(f"ok{i}", "a", 1.0, scores={F1: 1.0}) for i in range(4)]
    lost = [make_case(f"l{i}", "a", 0.0, scores={F1: 0.0}, **NOWHERE) for i in range(2)]
    low = [make_case(f"r{i}", "a", 0.0, scores={F1: 0.25}) for i in range(3)]
    when = make_case("w", "a", 0.0, scores={F1: 0.0}, question_type="when", category="hard")
    return [*fine, *lost, *low, when]


def test_the_result_and_the_computed_causes_are_told(failing: list[Case]) -> None:
    text = told(failing)
    assert section(text, "Result") == [
        "token_f1 0.475 on 10 questions; 6 fail; 0% were not answered; 0% of the failing ones need "
        "several facts",
    ]
    assert section(text, "Where questions fail")[-5:] == [
        "cause | questions | points lost",
        "never_stored | 2 | 20.0",
        "not_retrieved | 0 | 0.0",
        "ranked_low | 4 | 32.5",
        "answered_wrong | 0 | 0.0",
    ]


def test_kinds_are_told_costliest_first(failing: list[Case]) -> None:
    assert section(told(failing), "By kind") == [
        "kind | questions | mean | never_stored | not_retrieved | ranked_low | answered_wrong",
        "category all | 9 | 0.53 | 2 | 0 | 3 | 0",
        "type single | 9 | 0.53 | 2 | 0 | 3 | 0",
        "category hard | 1 | 0.00 | 0 | 0 | 1 | 0",
        "type when | 1 | 0.00 | 0 | 0 | 1 | 0",
    ]


def test_levers_have_value_range_meaning_and_symptoms(failing: list[Case]) -> None:
    lines = section(told(failing), "Levers")
    assert (
        "context_k = 10 | 1 to 50 | units given to the agent | ranked_low, answered_wrong" in lines
    )
    assert (
        'rerank = "off" | "off", "llm" | a language model orders the first units anew | ranked_low'
        in lines
    )
    assert any(line.startswith("decomposition = false | true or false |") for line in lines)


def test_levers_without_an_effect_are_left_out(failing: list[Case]) -> None:
    without = told(failing, available=frozenset({Need.EMBEDDINGS}))
    assert not any(
        name in without for name in ("rerank =", "soft_k =", "half_life_days =", "utility_weight =")
    )
    assert '"learned"' not in without
    assert '"learned"' in told(failing)
    assert "half_life_days =" in told(failing, CONFIG.changed(recency_weight=0.5))


def test_values_of_single_types_are_shown(failing: list[Case]) -> None:
    own = CONFIG.changed(per_type={"when": {"recency_weight": 0.5}})
    assert "(for when: recency_weight = 0.5)" in told(failing, own)


def test_the_checklist_names_what_is_off_though_its_symptom_is_there(failing: list[Case]) -> None:
    off = section(told(failing), "Switched off")[0].split(", ")
    assert {"extraction", "rerank", "neighbour_bonus"} <= set(off)
    assert not {"recency_weight", "decomposition", "lexical_k"} & set(off)
    fine = [case for case in failing if case.scores[F1] == 1]
    assert section(told(fine), "Switched off") == ["none"]


def test_the_history_tells_what_was_tried_and_from_where(failing: list[Case]) -> None:
    history = [
        Attempt("before", (change(CONFIG, "dense_k", 90),), 0.02, True),
        Attempt(CONFIG.digest, (change(CONFIG, "fusion", "rrf"),), -0.0123, False),
    ]
    assert section(told(failing, history=history), "Tried before") == [
        "round 1: dense_k = 90: +0.0200, kept, from other settings",
        'round 2: fusion = "rrf": -0.0123, not kept',
    ]
    assert section(told(failing), "Tried before") == ["none"]


def test_a_case_shows_question_answers_cause_and_marked_lines(make_case: Make) -> None:
    hits = tuple(
        HitTrace(f"u{i}", (f"m{i}",), 1.0, f"[3 May 2023] Ana: line {i}", f"s{i}")
        for i in range(12)
    )
    case = make_case(
        "q",
        "a",
        0.0,
        scores={F1: 0.1},
        question="Where  does\nAna live?",
        gold=("in Turin", "Turin"),
        answer="in Rome",
        evidence=("m1", "s7"),
        hits=hits,
    )
    assert section(told([case]), "Failed questions")[1:] == [
        "Q (single): Where does Ana live?",
        "expected: in Turin / Turin | answered: in Rome | answered_wrong, score 0.10",
        "- 1. [3 May 2023] Ana: line 0",
        "* 2. [3 May 2023] Ana: line 1",
        "- 3. [3 May 2023] Ana: line 2",
        "* 8. [3 May 2023] Ana: line 7",
    ]


def test_cases_of_all_causes_come_first(make_case: Make) -> None:
    low = [make_case(f"low{i}", "a", 0.0, scores={F1: 0.0}) for i in range(15)]
    lost = [make_case(f"lost{i}", "a", 0.0, scores={F1: 0.0}, **NOWHERE) for i in range(2)]
    lines = section(told([*low, *lost]), "Failed questions")
    asked = [line.split("about ")[1] for line in lines if line.startswith("Q ")]
    assert asked[:5] == ["low0?", "lost0?", "low1?", "lost1?", "low2?"]
    assert len(asked) == 12


def test_abstentions_and_unanswerable_questions_are_named(make_case: Make) -> None:
    silent = make_case("q", "a", 0.0, scores={F1: 0.0}, abstained=True, gold=())
    assert "expected: (not answerable) | answered: (not answered)" in told([silent])


@pytest.mark.parametrize("max_tokens", [2_000, 2_500, 4_000, 6_000])
@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=400),
    count=st.integers(1, 40),
)
@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_the_prompt_never_exceeds_its_bound(
    make_case: Make, max_tokens: int, text: str, count: int
) -> None:
    hits = tuple(HitTrace(f"u{i}", (f"m{i}",), 1.0, text * 9) for i in range(12))
    cases = [
        make_case(
            f"q{i}",
            "a",
            0.0,
            scores={F1: 0.0},
            question=text,
            gold=(text,) * 5,
            answer=text,
            hits=hits,
            category=f"{text}{i}",
            question_type=f"{text}{i}",
            evidence=(f"m{i % 12}", "n"),
        )
        for i in range(count)
    ]
    pair = (change(CONFIG, "context_chars", 12_345), change(CONFIG, "window_k", 77, "when"))
    history = [Attempt(CONFIG.digest, pair, -0.01, False)] * 30
    llm = ScriptedLLM(['{"changes": []}'])
    briefing = Briefing(ALL, F1, 2, max_tokens)
    everything = CONFIG.changed(extraction="both", decomposition=True, rerank="llm")
    ask(llm, briefing.messages(diagnose(cases, F1), everything, history, Advice), Advice)
    size = sum(len(message.content.encode()) for message in llm.requests[0].messages)
    assert size <= max_tokens * 3


def test_less_room_means_fewer_cases_and_shorter_tables(failing: list[Case]) -> None:
    many = failing * 9
    sizes = [len(told(many, max_tokens=limit)) for limit in (2_000, 3_000, 6_000)]
    assert sizes == sorted(sizes)
    history = [Attempt("x", (change(CONFIG, "dense_k", k),), 0.0, False) for k in range(70, 99)]
    short = told(many, history=history, max_tokens=2_000)
    assert "context_k = 10" in short
    # with room enough all levers are told, also those that treat nothing that is wrong here
    assert "recency_weight =" in told(many, history=history)
    assert "recency_weight =" not in short


def test_a_bound_under_what_tables_need_is_refused() -> None:
    with pytest.raises(InputError, match="at least 2000 tokens"):
        Briefing(ALL, F1, 2, 1_999)
