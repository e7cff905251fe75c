"""Whether the language models of the settings answer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any, Literal

from memgene.core import MemgeneError
from memgene.llm.prompts.greeting import GREETING
from memgene.llm.protocol import Request
from memgene.llm.registry import load_llm
from memgene.settings import LLMRoles, LLMSettings
from memgene.settings.model import LLM_ROLES

PATIENCE = 60.0
_UNCALLED = ("files:", "replay:")  # a prompt for a person to find; nothing recorded for it

State = Literal["offline", "ok", "problem", "not called"]


@dataclass(frozen=True, slots=True)
class ModelHealth:
    """A language model, the roles that share its settings, and how it took a call.

    `seconds`: how long loading and the call took. `problem`: why there was no reply, in state
    `problem` only.
    """

    name: str
    roles: tuple[str, ...]
    state: State
    seconds: float = 0.0
    problem: str | None = None

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "roles": list(self.roles)}


def model_health(roles: LLMRoles, *, calls: bool = True) -> tuple[ModelHealth, ...]:
    """A call of one token to the model of each role, once for roles of equal settings.

    A call is made once and may take a minute, or the time-out of the settings. `files:` and
    `replay:` are loaded, not called; with `calls` False all are. A role without a section of its
    own uses that of another and is not listed.
    """
    return tuple(_examined(settings, names, calls) for settings, names in _distinct(roles))


def _distinct(roles: LLMRoles) -> Iterator[tuple[LLMSettings, tuple[str, ...]]]:
    names: list[tuple[LLMSettings, list[str]]] = []
    for role in LLM_ROLES:
        settings: LLMSettings | None = getattr(roles, role)
        if settings is None:
            continue
        same = next((listed for other, listed in names if other == settings), None)
        if same is None:
            names.append((settings, [role]))
        else:
            same.append(role)
    return ((settings, tuple(listed)) for settings, listed in names)


def _examined(settings: LLMSettings, roles: tuple[str, ...], calls: bool) -> ModelHealth:
    if settings.offline:
        return ModelHealth(settings.model, roles, "offline")
    once = {"retries": 0, "timeout": settings.timeout or PATIENCE, "record": None}
    called = calls and not settings.model.startswith(_UNCALLED)
    start = time.perf_counter()
    problem = None
    try:
        with closing(load_llm(settings.model_copy(update=once))) as llm:
            if called:
                llm.complete(Request(GREETING.render(), max_tokens=1))
    except MemgeneError as error:
        problem = str(error)
    state: State = "problem" if problem else "ok" if called else "not called"
    return ModelHealth(settings.model, roles, state, time.perf_counter() - start, problem)
