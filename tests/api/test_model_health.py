"""What `doctor` says of language models."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from memgene.api import doctor
from memgene.api.model_health import model_health
from memgene.settings import LLMRoles, LLMSettings
from memgene.testing.llm import FaultyServer, refuses

ECHO = LLMSettings(model="command:cat")


def test_without_settings_all_is_offline() -> None:
    (only,) = model_health(LLMRoles())
    assert (only.name, only.state, only.problem) == ("offline", "offline", None)
    assert only.roles == ("task", "reflector", "judge", "toolkit")


def test_each_model_is_called_once_whatever_its_roles() -> None:
    pytest.importorskip("openai")
    with FaultyServer() as server:
        shared = LLMSettings(model="openai/m", base_url=server.url)
        other = LLMSettings(model="openai/n", base_url=server.url)
        found = model_health(LLMRoles(task=shared, judge=shared, diagnose=other))
        assert [body["model"] for body in server.bodies] == ["m", "n"]
        assert all(body["max_tokens"] == 1 for body in server.bodies)
    assert [(m.name, m.roles, m.state) for m in found] == [
        ("openai/m", ("task", "judge"), "ok"),
        ("offline", ("reflector", "toolkit"), "offline"),
        ("openai/n", ("diagnose",), "ok"),
    ]
    assert found[0].seconds > 0
    assert found[1].seconds == 0


def test_a_failed_call_is_made_once_and_told() -> None:
    pytest.importorskip("openai")
    with FaultyServer(then=refuses(503, "overloaded")) as server:
        found = model_health(LLMRoles(task=LLMSettings(model="openai/m", base_url=server.url)))
        assert len(server.bodies) == 1
    assert found[0].state == "problem"
    assert "overloaded" in (found[0].problem or "")


def test_a_model_that_does_not_load_is_told() -> None:
    (first, _) = model_health(LLMRoles(task=LLMSettings(model="command:no-such-program")))
    assert first.state == "problem"
    assert "not found" in (first.problem or "")


def test_calls_can_be_left_out(tmp_path: Path) -> None:
    mark = tmp_path / "called"
    touch = LLMSettings(model=f"command:{sys.executable} -c 'open({str(mark)!r}, \"w\")'")
    (first, _) = model_health(LLMRoles(task=touch), calls=False)
    assert (first.state, first.problem) == ("not called", None)
    assert not mark.exists()


def test_nobody_is_asked_by_file_and_nothing_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "calls").write_text("")
    recorded = ECHO.model_copy(update={"record": tmp_path / "record"})
    found = model_health(
        LLMRoles(
            task=LLMSettings(model=f"files:{tmp_path / 'talk'}"),
            reflector=LLMSettings(model=f"replay:{tmp_path / 'calls'}"),
            judge=recorded,
            toolkit=LLMSettings(model=f"replay:{tmp_path / 'absent'}"),
        )
    )
    assert [m.state for m in found] == ["not called", "not called", "ok", "problem"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["calls"]


def test_the_doctor_counts_a_silent_model_as_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMGENE_LLM_JUDGE_MODEL", "command:false")
    health = doctor()
    assert health.ok is False
    assert health.problems == ("model command:false (judge): command:false: exit code 1",)
    assert [m["roles"] for m in health.model_dump()["models"]] == [
        ["task", "reflector", "toolkit"],
        ["judge"],
    ]
    assert doctor(calls=False).ok is True
