"""Settings are checked before work begins, and named in run.toml."""

from __future__ import annotations

from typing import Any

import pytest

from memgene.core import Budget, ConfigError, InputError
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.programs.plan import ProgramPlan
from memgene.evolution.settings import EvolveSettings
from memgene.harness.registry import STATIC
from memgene.testing import tiny_task


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"strategy": "guess"}, "no strategy 'guess'; there is config, program, coevolve"),
        ({"proposer": "oracle"}, "no proposer 'oracle'; there is rule, random, llm"),
        ({"guard": "lax"}, "no guard 'lax'; there is normal, strict"),
        ({"division": "random"}, "no division 'random'; there is groups, chronological"),
        ({"preset": "quick"}, "no preset 'quick'; there are default, paper"),
    ],
)
def test_what_does_not_exist_is_refused_by_name(setting: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        EvolveSettings(**setting)  # type: ignore[arg-type]


def test_numbers_and_metrics_are_checked() -> None:
    for bad in ({"folds": 1}, {"workers": 0}, {"seed": -1}, {"metric": "beauty"}):
        with pytest.raises(InputError):
            EvolveSettings(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"strategy": "coevolve", "proposer": "random"}, "nothing is proposed"),
        ({"strategy": "coevolve", "preset": "paper", "guard": "strict"}, "has no guard"),
        ({"strategy": "config", "coevolve": CoevolvePlan()}, "plan is of strategy coevolve"),
        ({"folds": 3, "division": "chronological"}, "folds divide the groups"),
    ],
)
def test_what_would_have_no_effect_is_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        EvolveSettings(**settings)  # type: ignore[arg-type]


def test_the_paper_has_a_model_where_the_agent_is_one() -> None:
    offline = EvolveSettings(strategy="coevolve", preset="paper").coevolution
    model = EvolveSettings(strategy="coevolve", preset="paper", agent="llm").coevolution
    assert (offline.attribution, model.attribution) == ("evidence", "llm")
    assert model.check_time


def test_defaults() -> None:
    settings = EvolveSettings()
    assert settings.harnesses == STATIC
    assert settings.metric_for(tiny_task()) == "token_f1"
    assert settings.plan.minimal is False
    assert 8 <= settings.rounds <= 12
    assert EvolveSettings(preset="paper").rounds == 7
    assert EvolveSettings(budget=Budget(iterations=20)).rounds == 20


def test_run_toml_holds_what_decides_the_result() -> None:
    settings = EvolveSettings(metric="mrr", budget=Budget(questions=9), workers=8)
    kept = settings.to_dict(tiny_task())
    assert kept["metric"] == "mrr"
    assert kept["budget"] == {"questions": 9}
    assert kept["task"] == "tiny"
    assert "workers" not in kept
    assert EvolveSettings().to_dict(tiny_task())["budget"] is None


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ({"strategy": "program", "guard": "strict"}, "guard is of strategy config"),
        ({"program": ProgramPlan()}, "plan is of strategy program, not of config"),
    ],
)
def test_what_has_no_effect_under_a_strategy_is_refused(
    setting: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        EvolveSettings(**setting)
