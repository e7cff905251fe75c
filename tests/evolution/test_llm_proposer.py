"""A search whose proposals come from a model: recorded, resumed, kept within its budget."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from memgene.core import Budget, BudgetExhaustedError, ConfigError, ModelError
from memgene.evolution.event import Event
from memgene.evolution.events import Advised, Evaluated, Proposed, Stopped
from memgene.evolution.journal import read_journal
from memgene.llm.protocol import Request
from memgene.llm.roles import RoleModels
from memgene.retrieval.config import RetrievalConfig
from memgene.testing.llm import ScriptedLLM


def quality(config: RetrievalConfig) -> float:
    return 0.5 + 0.1 * (config.window == 2) + 0.2 * (config.neighbour_bonus > 0)


def advice(name: str, value: Any, **parts: Any) -> str:
    return json.dumps({"changes": [{"lever": name, "value": value, "why": "as I see it"}], **parts})


def events(path: Path, kind: type[Event]) -> list[Any]:
    return [e.event for e in read_journal(path / "journal.jsonl") if isinstance(e.event, kind)]


def lines(path: Path) -> list[dict[str, Any]]:
    """The journal without what may differ between equal runs."""
    plain = [e.event.to_dict() for e in read_journal(path / "journal.jsonl") if e.event.replayed]
    return [{k: v for k, v in line.items() if k not in ("seconds", "usage")} for line in plain]


def diagnosing(script: Any) -> RoleModels:
    return RoleModels.of({"reflector": ScriptedLLM(script, name="oracle")})


def moody(first: int = 0) -> RoleModels:
    """A model that never says the same twice."""
    count = itertools.count(first)

    def say(request: Request) -> str:
        number = next(count)
        levers = ("window", "dense_k", "lexical_k", "neighbour_bonus")
        return advice(levers[number % 4], [2, 70 + number, 70 + number, 0.3][number % 4])

    return diagnosing(say)


def test_what_a_model_proposes_is_tried_and_written_down(tmp_path: Path, world: Any) -> None:
    said = advice("window", 2, causes={"ranked_low": 3}, missing_topics=["names"], next="dates")
    made = world(tmp_path / "run", quality, rounds=1, models=diagnosing([said]))
    found = made.search()
    assert found.promoted.config.window == 2
    (advised,) = events(tmp_path / "run", Advised)
    assert (advised.round, advised.model) == (1, "oracle")
    assert advised.changes == ({"lever": "window", "value": 2},)
    assert (advised.causes["ranked_low"], advised.missing, advised.next) == (3, ("names",), "dates")
    assert (advised.problems, advised.unusable) == ((), "")
    proposed = events(tmp_path / "run", Proposed)[1]
    assert (proposed.proposer, proposed.reason) == ("llm", "as I see it")
    page = (tmp_path / "run" / "candidates" / "001" / "diagnosis.md").read_text()
    assert "# Diagnosis of round 1 by oracle" in page
    assert "Levers you may change" in page
    assert said in page


def test_its_calls_count_in_the_budget_under_its_role(tmp_path: Path, world: Any) -> None:
    made = world(tmp_path / "run", quality, rounds=1, models=diagnosing([advice("window", 2)]))
    made.search()
    assert made.meter.roles["diagnose"]["calls"] == 1
    assert events(tmp_path / "run", Advised)[0].usage["diagnose"]["fresh"] == 1


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (["Let me think."] * 3, "holds no JSON"),
        (['{"changes": ['] * 3, "cut off"),
        ([ModelError("oracle timed out")], "oracle timed out"),
        ([advice("magic", 1)] * 2, "there is no lever 'magic'"),
    ],
)
def test_the_rules_step_in_and_say_so(
    tmp_path: Path, world: Any, script: list[Any], why: str
) -> None:
    world(tmp_path / "run", quality, rounds=1, models=diagnosing(script)).search()
    world(tmp_path / "rules", quality, rounds=1).search()
    (advised,) = events(tmp_path / "run", Advised)
    assert advised.changes == ()
    assert why in advised.unusable
    proposed = events(tmp_path / "run", Proposed)[1]
    by_rule = events(tmp_path / "rules", Proposed)[1]
    assert proposed.proposer.startswith("rule (llm: ")
    assert why in proposed.reason
    assert proposed.reason.startswith(by_rule.reason)
    assert proposed.changes == by_rule.changes
    assert (tmp_path / "run" / "candidates" / "001" / "diagnosis.md").exists()


def test_a_wrong_setting_ends_the_run(tmp_path: Path, world: Any) -> None:
    made = world(tmp_path / "run", quality, models=diagnosing([ConfigError("the key is refused")]))
    with pytest.raises(ConfigError, match="key is refused"):
        made.search()


class KilledError(BaseException):
    """Stands for kill -9 inside one process."""


@pytest.mark.parametrize("after", [0, 1, 2, 3, 5, 6])
def test_a_resumed_run_takes_the_recorded_advice(tmp_path: Path, world: Any, after: int) -> None:
    """Killed in an evaluation; the model would now say something else."""
    world(tmp_path / "whole", quality, rounds=4, models=moody()).search()
    died = world(tmp_path / "died", quality, rounds=4, models=moody())
    left = [after]

    def kill() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KilledError

    died.evaluator.before = kill
    with pytest.raises(KilledError):
        died.search()
    known = len(events(tmp_path / "died", Advised))
    again = world(tmp_path / "died", quality, rounds=4, models=moody(known))
    found = again.search(resume=True)
    assert lines(tmp_path / "died") == lines(tmp_path / "whole")
    assert found.rounds == 4
    # what is recorded is not asked again
    asked = len(events(tmp_path / "whole", Advised))
    assert asked >= 3
    assert len(events(tmp_path / "died", Advised)) == asked
    once = world(tmp_path / "died", quality, rounds=4, models=diagnosing([]))
    assert once.search(resume=True).promoted.config == found.promoted.config


def test_killed_while_the_model_speaks_it_is_asked_again(tmp_path: Path, world: Any) -> None:
    def die(request: Request) -> str:
        raise KilledError

    with pytest.raises(KilledError):
        world(tmp_path / "run", quality, rounds=2, models=diagnosing(die)).search()
    world(tmp_path / "run", quality, rounds=2, models=moody()).search(resume=True)
    world(tmp_path / "whole", quality, rounds=2, models=moody()).search()
    assert lines(tmp_path / "run") == lines(tmp_path / "whole")


def calling(made: Any) -> None:
    """Let each evaluated question call the model of role task."""
    llm = made.models.get("task")
    assert llm is not None
    evaluate = made.evaluator.evaluate

    def asking(config: Any, questions: Any, label: str) -> Any:
        from memgene.llm.protocol import ChatMessage

        for q in questions:
            llm.complete(Request((ChatMessage("user", f"{config.digest} {q.id}"),)))
        return evaluate(config, questions, label)

    made.evaluator.evaluate = asking


def learned(config: RetrievalConfig) -> float:
    """What the rules try first helps."""
    return 0.5 + 0.2 * (config.fusion == "learned")


def budgeted(world: Any, path: Path, calls: int) -> Any:
    """A search by rules whose questions each call a model once."""
    models = RoleModels.of({"task": ScriptedLLM(lambda request: "fine")})
    made = world(path, learned, rounds=9, budget=Budget(calls=calls), models=models)
    made.evaluator.counts = False
    calling(made)
    return made


def test_a_budget_that_ends_in_the_middle_ends_the_search_in_order(
    tmp_path: Path, world: Any
) -> None:
    # 180 calls are start on val and dev, and the first candidate on val; its dev has 60 questions
    made = budgeted(world, tmp_path / "run", 200)
    found = made.search()
    (stopped,) = events(tmp_path / "run", Stopped)
    assert (found.stopped, stopped.reason) == ("budget", "budget")
    assert stopped.detail.startswith("the budget for language models ran out: calls: ")
    assert found.rounds == stopped.round == 1
    searched = [e for e in events(tmp_path / "run", Evaluated) if e.split != "fresh"]
    assert [(e.candidate, e.split) for e in searched] == [
        ("000", "val"),
        ("000", "dev"),
        ("001", "val"),
    ]
    # the best so far is kept, and checked again beyond the limit
    assert found.promoted.id == "001"
    fresh = [e for e in events(tmp_path / "run", Evaluated) if e.split == "fresh"]
    assert [e.candidate for e in fresh] == ["001", "000"]
    assert made.models.ledger.usage.roles["task"].fresh == 200 + 60


def test_a_finished_search_that_ran_out_is_read_without_a_call(tmp_path: Path, world: Any) -> None:
    expected = budgeted(world, tmp_path / "run", 200).search()
    again = budgeted(world, tmp_path / "run", 200)
    found = again.search(resume=True)
    assert again.models.ledger.usage.roles == {}
    assert (found.stopped, found.rounds) == (expected.stopped, expected.rounds)
    assert found.promoted.config == expected.promoted.config


@pytest.mark.parametrize("after", [1, 2, 3, 4])
def test_a_resumed_run_is_held_to_the_same_budget(tmp_path: Path, world: Any, after: int) -> None:
    budgeted(world, tmp_path / "whole", 200).search()
    died = budgeted(world, tmp_path / "died", 200)
    left = [after]

    def kill() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KilledError

    died.evaluator.before = kill
    with pytest.raises(KilledError):
        died.search()
    budgeted(world, tmp_path / "died", 200).search(resume=True)
    assert lines(tmp_path / "died") == lines(tmp_path / "whole")


def test_a_budget_that_the_start_exceeds_yields_nothing(tmp_path: Path, world: Any) -> None:
    with pytest.raises(BudgetExhaustedError, match="59 of 59 used"):
        budgeted(world, tmp_path / "run", 59).search()


def test_a_budget_that_ends_with_the_diagnosis_ends_the_search(tmp_path: Path, world: Any) -> None:
    # the start asks 120 times; the first reply is no JSON and cannot be asked for again
    made = world(
        tmp_path / "run",
        quality,
        rounds=9,
        budget=Budget(calls=121),
        models=diagnosing(lambda request: "no JSON"),
    )
    found = made.search()
    (stopped,) = events(tmp_path / "run", Stopped)
    assert stopped.reason == "budget"
    assert found.promoted is found.start
    assert events(tmp_path / "run", Advised) == []
