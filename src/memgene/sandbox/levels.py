"""How well this machine can isolate a guest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from memgene.core import ConfigError
from memgene.sandbox import bubble, landlock, seccomp
from memgene.sandbox.failure import SandboxUnavailableError

_PROBE_SECONDS: Final = 10


class Level(IntEnum):
    """Isolation, weakest first."""

    NONE = 0  # guests cannot run: no fork
    RLIMITS = 1  # a process of its own with resource limits: files and network are open to it
    BUBBLEWRAP = 2  # namespaces by bubblewrap: no network, and only Python's files to read
    FULL = 3  # Landlock, a list of allowed system calls, resource limits

    @classmethod
    def named(cls, label: str) -> Level:
        """The level that is called so. Raises ConfigError, with those that can be asked for."""
        known = {level.label: level for level in sorted(cls, reverse=True) if level is not cls.NONE}
        if label not in known:
            raise ConfigError(f"sandbox {label!r} is not one of {', '.join(known)}")
        return known[label]

    @property
    def caution(self) -> str:
        """What must stand beside a result of guests at this level; empty at full isolation."""
        if self is Level.FULL:
            return ""
        kept = "namespaces alone kept them from" if self is Level.BUBBLEWRAP else "they could reach"
        return f"programs ran at sandbox level {self.label}: {kept} files and the network"

    @property
    def label(self) -> str:
        """The word settings and the command line use."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Probe:
    """The best level here, and each part: "yes…", or "no: why"."""

    level: Level
    parts: Mapping[str, str]

    @property
    def landlock(self) -> bool:
        """Whether Landlock can be used."""
        return self.parts.get("landlock", "").startswith("yes")

    @property
    def seccomp(self) -> bool:
        """Whether system calls can be filtered."""
        return self.parts.get("seccomp", "").startswith("yes")

    @property
    def bubblewrap(self) -> str | None:
        """The program that makes bubbles, where one is to be used."""
        return self.parts["bubblewrap"].split()[1] if self.level is Level.BUBBLEWRAP else None

    @property
    def missing(self) -> str:
        """What stands between this machine and full isolation, in words; empty if nothing."""
        return "; ".join(
            f"{name}: {said.removeprefix('no: ')}"
            for name, said in self.parts.items()
            if said.startswith("no: ")
        )

    def demand(self, required: Level) -> None:
        """Raise SandboxUnavailableError when less than `required` can be had."""
        if self.level >= max(required, Level.RLIMITS):
            return
        if self.level is Level.NONE:
            raise SandboxUnavailableError(
                f"evolved programs cannot run on this platform ({self.missing}); use Linux, "
                "a Linux container, or WSL 2"
            )
        raise SandboxUnavailableError(
            f"this machine isolates programs at level '{self.level.label}', "
            f"'{required.label}' is required (missing: {self.missing}). To accept less, "
            f"ask for it: `--sandbox {self.level.label}` on the command line, level under "
            f"[sandbox] in memgene.toml, `require=Level.{self.level.name}` in Python"
        )


def probe() -> Probe:
    """Find out what this machine offers; changes nothing."""
    if not hasattr(os, "fork"):
        return Probe(Level.NONE, {"fork": f"no: {sys.platform} cannot fork processes"})
    if sys.platform != "linux":
        said = f"no: {sys.platform} has none, it is a part of Linux"
        limits = f"yes: but {sys.platform} does not hold processes to a memory limit"
        parts = {"rlimits": limits, "landlock": said, "seccomp": said, "bubblewrap": said}
        return Probe(Level.RLIMITS, parts)
    parts = {"rlimits": "yes", "landlock": landlock.describe(), "seccomp": seccomp.describe()}
    if all(said.startswith("yes") for said in parts.values()):
        return Probe(Level.FULL, parts)
    parts["bubblewrap"] = _describe_bubblewrap()
    wrapped = parts["bubblewrap"].startswith("yes")
    return Probe(Level.BUBBLEWRAP if wrapped else Level.RLIMITS, parts)


def _describe_bubblewrap() -> str:
    program = shutil.which("bwrap")
    if program is None:
        return "no: bwrap is not installed"
    try:
        done = subprocess.run(
            bubble.trial(program),
            capture_output=True,
            timeout=_PROBE_SECONDS,
            check=False,
            text=True,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"no: bwrap does not run ({problem})"
    if done.returncode:
        return f"no: bwrap does not run ({done.stderr.strip()[-200:]})"
    return f"yes: {program}"
