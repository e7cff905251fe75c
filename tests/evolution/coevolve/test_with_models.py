"""A co-evolution whose every step that may ask a language model does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memgene.core import Budget, ConfigError, ModelError
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.evolve import run_evolution
from memgene.evolution.result import EvolveResult
from memgene.evolution.settings import EvolveSettings
from memgene.llm.protocol import Request
from memgene.llm.roles import RoleModels
from memgene.testing import tiny_task
from memgene.testing.llm import ScriptedLLM, shortest_reply

ROLES = ("task", "rewrite", "attribute", "extract")
PLAN = CoevolvePlan.paper(model=True).parsed(
    "cycles=1,hidden=0,bound=1.5,rate=0.3,baseline=group,samples=2"
)


def models(**broken: Any) -> dict[str, ScriptedLLM]:
    return {
        role: ScriptedLLM(broken.get(role, shortest_reply), name=role, constrains=True)
        for role in ROLES
    }


def evolve(path: Path, found: dict[str, ScriptedLLM], **more: Any) -> EvolveResult:
    given: dict[str, Any] = {
        "strategy": "coevolve",
        "metric": "token_f1",
        "agent": "llm",
        "preset": "paper",
        "coevolve": PLAN,
        "harnesses": (),
        **more,
    }
    with RoleModels.of(found) as roles:
        return run_evolution(tiny_task(), EvolveSettings(**given), path, models=roles)


def phases(run: Path) -> list[dict[str, Any]]:
    lines = (run / "journal.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    return [event for event in events if event["event"] == "phase_finished"]


def test_every_role_is_asked_and_paid_for_by_phase(tmp_path: Path) -> None:
    done = evolve(tmp_path / "run", models())
    router, memory = phases(done.run)
    assert {"task", "rewrite", "attribute"} <= router["usage"].keys()
    assert "extract" not in router["usage"]  # nothing is distilled in a router phase
    assert memory["usage"]["extract"]["calls"] == memory["questions"]
    assert memory["distilled"] > 0
    assert memory["degraded"] == router["degraded"] == 0


def test_a_model_that_fails_is_replaced_by_something_simpler_and_named(tmp_path: Path) -> None:
    def fails(request: Request) -> str:
        del request
        raise ModelError("is down")

    done = evolve(tmp_path / "run", models(extract=fails))
    _, memory = phases(done.run)
    assert memory["degraded"] == memory["questions"]
    assert "distillation: " in memory["complaint"]


def test_a_question_that_could_not_be_rewritten_is_counted(tmp_path: Path) -> None:
    def fails(request: Request) -> str:
        del request
        raise ModelError("is down")

    router, memory = phases(evolve(tmp_path / "run", models(rewrite=fails)).run)
    assert router["degraded"] == router["questions"]
    assert memory["degraded"] == memory["questions"]
    assert "self_routing: " in router["complaint"]


def test_a_budget_in_calls_ends_the_search_in_the_middle_of_a_phase(tmp_path: Path) -> None:
    found = models()
    done = evolve(tmp_path / "run", found, budget=Budget(calls=60))
    assert done.stopped == "budget"
    assert len(phases(done.run)) < 2


def test_a_plan_that_needs_a_model_says_which(tmp_path: Path) -> None:
    found = {role: model for role, model in models().items() if role in ("task",)}
    with pytest.raises(ConfigError, match="attribut"):
        evolve(tmp_path / "run", found)
