"""A stage: a small piece of retrieval as source text. Nothing here runs it.

Source: EvolveMem §4, "New dimensions": a dimension that was not in the action space is code, and
enters it as a lever once the guard has accepted it. The interface of the code is memgene's.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from memgene.core import ConfigError, content_hash
from memgene.retrieval.levers import Lever, Symptom

PREFIX = "stage."
"""Stages are levers of this prefix: `stage.NAME`, 0 = off."""
MOST_STRENGTH = 2.0
MOST_SOURCE = 20_000
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


class StageKind(StrEnum):
    """Where a stage acts.

    `query`: further queries beside the question. `view`: candidates of its own. `rescorer`: an
    addition to the candidates' scores. `filter`: an order or a choice among the first hits.
    `answer`: an instruction for the questions it is for, and a check of the answer.
    """

    QUERY = "query"
    VIEW = "view"
    RESCORER = "rescorer"
    FILTER = "filter"
    ANSWER = "answer"


@dataclass(frozen=True)
class Stage:
    """One stage. The source says of itself, as plain literals: `KIND` (a `StageKind`), `ABOUT`
    (one line) and, if it treats any, `TREATS` (names of symptoms).

    Raises ConfigError for a name that is none, and for source that does not parse, is too long or
    lacks these.
    """

    name: str
    source: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigError(
                f"a stage's name is up to 40 of a-z, 0-9 and _, beginning with a letter; got "
                f"{self.name!r}"
            )
        if len(self.source) > MOST_SOURCE:
            raise ConfigError(
                f"stage {self.name} has {len(self.source):,} characters, at most "
                f"{MOST_SOURCE:,} are allowed"
            )
        _ = self.kind, self.about, self.treats

    @cached_property
    def kind(self) -> StageKind:
        """Where it acts."""
        found = self._literals.get("KIND")
        if found not in tuple(StageKind):
            raise ConfigError(
                f"stage {self.name} must say KIND = one of {', '.join(StageKind)}; got {found!r}"
            )
        return StageKind(str(found))

    @cached_property
    def about(self) -> str:
        """What it does, in one line."""
        found = self._literals.get("ABOUT")
        if not isinstance(found, str) or not found.strip():
            raise ConfigError(f'stage {self.name} must say ABOUT = "…" what it does')
        return " ".join(found.split())

    @cached_property
    def treats(self) -> tuple[Symptom, ...]:
        """Failures it may treat."""
        found = self._literals.get("TREATS", ())
        names = found if isinstance(found, list | tuple) else (found,)
        unknown = [name for name in names if name not in tuple(Symptom)]
        if unknown:
            raise ConfigError(
                f"stage {self.name}: TREATS names {unknown[0]!r}; there are {', '.join(Symptom)}"
            )
        return tuple(Symptom(str(name)) for name in names)

    @cached_property
    def digest(self) -> str:
        """A hash of the source: what it does, whatever it is called."""
        return content_hash(self.source)[:12]

    @property
    def lever(self) -> Lever:
        """Its strength as a lever."""
        name = PREFIX + self.name
        return Lever(float, 0.0, MOST_STRENGTH, (), (), self.treats, self.about, name, 0.0, 0.0)

    @cached_property
    def _literals(self) -> dict[str, Any]:
        """Module-level names bound to literals."""
        try:
            tree = ast.parse(self.source)
        except (SyntaxError, ValueError) as error:
            raise ConfigError(f"stage {self.name} is not Python: {error}") from error
        found: dict[str, Any] = {}
        for node in tree.body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target, value = node.targets[0], node.value
                if isinstance(target, ast.Name):
                    try:
                        found[target.id] = ast.literal_eval(value)
                    except ValueError:
                        continue
        return found


@dataclass(frozen=True, slots=True)
class PlacedStage:
    """A stage in a configuration. `strength` lies in [0, 2]; at 0 it is off, elsewhere it weighs
    what a rescorer or view says and switches the other kinds on."""

    stage: Stage
    strength: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", self.stage.lever.checked(self.strength))

    @property
    def name(self) -> str:
        """Of the stage."""
        return self.stage.name
