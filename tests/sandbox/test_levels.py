"""Levels of isolation: what is found, and what is said when it is too little."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import memgene
from memgene.core import ConfigError
from memgene.sandbox import (
    FailureKind,
    GuestError,
    Level,
    Limits,
    Probe,
    Sandbox,
    SandboxUnavailableError,
    levels,
    probe,
)
from memgene.sandbox import sandbox as sandbox_module

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="a part of Linux")


def without(monkeypatch: pytest.MonkeyPatch, *missing: str) -> None:
    for part in missing:
        if part == "bubblewrap":
            monkeypatch.setattr(shutil, "which", lambda name: None)
        else:
            monkeypatch.setattr(getattr(levels, part), "describe", lambda: "no: switched off")


def test_levels_are_ordered() -> None:
    assert Level.NONE < Level.RLIMITS < Level.BUBBLEWRAP < Level.FULL
    assert [level.label for level in Level] == ["none", "rlimits", "bubblewrap", "full"]


def test_a_level_is_asked_for_by_its_label() -> None:
    for level in (Level.RLIMITS, Level.BUBBLEWRAP, Level.FULL):
        assert Level.named(level.label) is level
    for unknown in ("none", "Full", "docker", ""):
        with pytest.raises(ConfigError, match="not one of full, bubblewrap, rlimits"):
            Level.named(unknown)


def test_below_full_isolation_a_result_must_say_so() -> None:
    assert Level.FULL.caution == ""
    assert "level rlimits: they could reach files and the network" in Level.RLIMITS.caution
    assert "level bubblewrap: namespaces alone" in Level.BUBBLEWRAP.caution


@needs_linux
def test_landlock_and_seccomp_together_are_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels.landlock, "describe", lambda: "yes: interface 4")
    monkeypatch.setattr(levels.seccomp, "describe", lambda: "yes")
    found = probe()
    assert found.level is Level.FULL
    assert found.missing == ""
    found.demand(Level.FULL)


@needs_linux
@pytest.mark.parametrize("part", ["landlock", "seccomp"])
def test_one_of_them_missing_is_not_full(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    without(monkeypatch, part, "bubblewrap")
    found = probe()
    assert found.level is Level.RLIMITS
    assert f"{part}: switched off" in found.missing
    assert "bubblewrap: bwrap is not installed" in found.missing


@needs_linux
def test_less_than_required_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "landlock", "bubblewrap")
    with pytest.raises(SandboxUnavailableError) as caught:
        Sandbox("calculator")
    assert str(caught.value) == (
        "this machine isolates programs at level 'rlimits', 'full' is required (missing: "
        "landlock: switched off; bubblewrap: bwrap is not installed). To accept less, ask for "
        "it: `--sandbox rlimits` on the command line, level under [sandbox] in memgene.toml, "
        "`require=Level.RLIMITS` in Python"
    )


def test_macos_is_told_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    found = probe()
    assert found.level is Level.RLIMITS
    assert "darwin has none, it is a part of Linux" in found.missing


def test_a_platform_without_fork_cannot_run_guests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    monkeypatch.setattr(sys, "platform", "win32")
    found = probe()
    assert found.level is Level.NONE
    with pytest.raises(SandboxUnavailableError, match="WSL 2"):
        found.demand(Level.NONE)


@pytest.fixture
def limited(make: Callable[..., Sandbox], monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """With resource limits only."""
    parts = {"rlimits": "yes", "landlock": "no: test", "seccomp": "no: test"}
    monkeypatch.setattr(sandbox_module, "probe", lambda: Probe(Level.RLIMITS, parts))
    with make("canary", limits=Limits(call_seconds=20)) as sandbox:
        yield sandbox


def test_resource_limits_alone_hold_memory_time_and_files(limited: Sandbox, tmp_path: Path) -> None:
    with limited.start({}, {}) as worker:
        assert limited.level is Level.RLIMITS
        with pytest.raises(GuestError) as caught:
            worker.call("allocate", {})
        assert caught.value.kind is FailureKind.MEMORY
        assert worker.call("environment", {})[0] == {}
        with pytest.raises(GuestError) as caught:
            worker.call("loop", {}, seconds=0.2)
        assert caught.value.kind is FailureKind.TIME


@pytest.fixture
def bubble(make: Callable[..., Sandbox], monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """In bubblewrap, where the kernel offers neither Landlock nor seccomp."""
    without(monkeypatch, "landlock", "seccomp")
    found = probe()
    if found.level is not Level.BUBBLEWRAP:
        pytest.skip(found.parts.get("bubblewrap", "not on this platform"))
    monkeypatch.setattr(sandbox_module, "probe", lambda: found)
    with make("canary", limits=Limits(call_seconds=20)) as sandbox:
        yield sandbox


def test_a_bubble_hides_files_and_other_processes(bubble: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "gold.txt"
    secret.write_text("the answer")
    project, packages = Path(memgene.__file__).parent, Path(np.__file__).parents[1]
    hidden = ["/etc/passwd", str(secret), str(project / "py.typed"), np.__file__]
    covered = [str(packages), str(project.parent)]
    with bubble.start({}, {}) as worker:
        found = worker.call("open", {"paths": hidden})
        assert found == dict.fromkeys(hidden, "FileNotFoundError")
        listed = worker.call("list", {"paths": covered})
        assert set(listed.values()) <= {"[]", "FileNotFoundError"}
        written = worker.call("write", {"paths": ["/usr/lib/new", "/new", covered[0] + "/new"]})
        assert set(written.values()) <= {"OSError", "FileNotFoundError"}
        parent = os.getpid()
        assert worker.call("open", {"paths": [f"/proc/{parent}/mem"]}) == {
            f"/proc/{parent}/mem": "FileNotFoundError"
        }
        assert worker.call("signals", {"pids": [parent]})[str(parent)] == "ProcessLookupError"


def test_work_is_possible_in_a_bubble(bubble: Sandbox) -> None:
    with bubble.start({}, {}) as worker:
        assert worker.call("work", {})[0] == "the red bicycle"
        assert worker.call("late_import", {}) == ["1.1", "wave"]


def test_a_bubble_keeps_deadlines_and_ends_clean(
    bubble: Sandbox, ends: Callable[[int], bool]
) -> None:
    worker = bubble.start({}, {})
    assert os.path.exists(f"/proc/{worker.pid}")
    with pytest.raises(GuestError) as caught:
        worker.call("loop", {}, seconds=0.2)
    assert caught.value.kind is FailureKind.TIME
    assert ends(worker.pid)
    left = bubble.start({}, {})
    bubble.close()
    assert ends(left.pid)
    left.close()
