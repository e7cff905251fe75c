"""`memgene doctor` and the language models in the settings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest


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
