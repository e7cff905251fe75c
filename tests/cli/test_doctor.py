"""`memgene doctor` and the language models in the settings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from memgene.api import health as health_module
from memgene.sandbox import Level, Probe


def test_models_are_listed_with_what_they_took(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMGENE_LLM_TASK_MODEL", "command:cat")
    monkeypatch.setenv("MEMGENE_LLM_JUDGE_MODEL", "command:false")
    told = run("doctor")
    assert told.exit_code == 1
    assert re.search(r"^model      command:cat \(task\): ok, \d+\.\d s$", told.stdout, re.MULTILINE)
    assert "model      offline (reflector, toolkit)" in told.stdout
    assert "model      command:false (judge): problem, " in told.stdout
    assert "problem    model command:false (judge): command:false: exit code 1" in told.stdout


def test_no_calls(ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMGENE_LLM_JUDGE_MODEL", "command:false")
    health = ask("doctor", "--no-calls")
    assert health["ok"] is True
    judge = health["models"][1]
    assert (judge["name"], judge["roles"]) == ("command:false", ["judge"])
    assert (judge["state"], judge["problem"]) == ("not called", None)


@pytest.mark.parametrize(
    ("level", "parts", "said"),
    [
        (Level.FULL, {"landlock": "yes: interface 7"}, ["sandbox    full"]),
        (
            Level.RLIMITS,
            {"rlimits": "yes", "landlock": "no: switched off"},
            ["sandbox    rlimits, below full: memory programs run here only where that is asked"],
        ),
        (Level.NONE, {"fork": "no: win32 cannot fork processes"}, ["sandbox    none: memory pro"]),
    ],
)
def test_the_isolation_of_programs_is_told_part_by_part_and_no_problem(
    run: Callable[..., Any],
    ask: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    level: Level,
    parts: dict[str, str],
    said: list[str],
) -> None:
    monkeypatch.setattr(health_module, "probe", lambda: Probe(level, parts))
    told = run("doctor", "--no-calls")
    assert told.exit_code == 0
    for line in (*said, *(f"           {name}: {what}" for name, what in parts.items())):
        assert line in told.stdout
    health = ask("doctor", "--no-calls")
    assert (health["ok"], health["problems"]) == (True, [])
    assert (health["sandbox"], health["sandbox_parts"]) == (level.label, parts)
