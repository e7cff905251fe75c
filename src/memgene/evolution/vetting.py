"""A model's proposals against the action space: which can be tried, and what is wrong with the
others, in words a model can act on."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memgene.core import ConfigError
from memgene.evolution.advice import Advice, LeverChange, TypeChange
from memgene.evolution.changes import (
    LEARNED,
    Change,
    change,
    has_effect,
    may_differ_by_type,
    same_settings,
    settings_of,
)
from memgene.evolution.means import Means
from memgene.evolution.proposers import Attempt, tried
from memgene.retrieval.config import RetrievalConfig, levers
from memgene.retrieval.levers import Lever, Need
from memgene.retrieval.question_type import QUESTION_TYPES


@dataclass(frozen=True, slots=True)
class Vetted:
    """The changes to try, the model's reasons for them, and what cannot be tried and why."""

    changes: tuple[Change, ...]
    reasons: tuple[str, ...]
    problems: tuple[str, ...]


class _Refused(Exception):  # noqa: N818 - a signal inside this module, not an error
    """One proposal cannot be tried; the text says why."""


class Vetting:
    """Checks the proposals made for one configuration."""

    def __init__(
        self,
        config: RetrievalConfig,
        available: Means,
        metric: str,
        history: Sequence[Attempt],
        max_changes: int,
    ) -> None:
        self._config = config
        self._available = available
        self._metric = metric
        self._history = history
        self._max_changes = max_changes

    @property
    def usable(self) -> list[str]:
        """Levers that can have an effect now."""
        return [n for n in levers() if has_effect(self._config, n, self._available, self._metric)]

    def vet(self, advice: Advice, *, final: bool) -> Vetted:
        """The first `max_changes` proposals that can be tried. A number out of range is a problem
        at first; in the `final` reply it is clamped, as everywhere else."""
        kept: dict[tuple[str, str | None], tuple[Change, str]] = {}
        problems: list[str] = []
        for wanted in advice.wanted:
            try:
                made = self._change(wanted, final)
            except _Refused as refused:
                problems.append(str(refused))
            else:
                kept.setdefault((made.lever, made.question_type), (made, wanted.why))
        chosen = self._untried(list(kept.values())[: self._max_changes], problems)
        reasons = tuple(why or f"{made.lever} as the model proposes" for made, why in chosen)
        return Vetted(
            tuple(made for made, _ in chosen),
            tuple(dict.fromkeys(reasons)),
            tuple(dict.fromkeys(problems)),
        )

    def _change(self, wanted: LeverChange, final: bool) -> Change:
        name, kind = wanted.lever, None
        if name not in levers():
            near = difflib.get_close_matches(name, self.usable, n=1)
            raise _Refused(f"there is no lever {name!r}" + (f"; near: {near[0]}" if near else ""))
        if isinstance(wanted, TypeChange):
            kind = wanted.question_type
            self._check_type(name, kind)
        served = self._config if kind is None else self._config.for_type(kind)
        if not has_effect(served, name, self._available, self._metric):
            raise _Refused(f"{name} has no effect now")
        value = self._value(levers()[name], wanted.value, final)
        made = change(self._config, name, value, kind)
        if same_settings(self._config, (made,)):
            raise _Refused(f"{name} is {json.dumps(value)} already")
        return made

    def _check_type(self, name: str, kind: str) -> None:
        if kind not in QUESTION_TYPES:
            known = ", ".join(QUESTION_TYPES)
            raise _Refused(f"there is no question type {kind!r}; there are {known}")
        if not may_differ_by_type(self._config, name):
            raise _Refused(f"{name} cannot differ by question type here")

    def _value(self, declared: Lever, given: Any, final: bool) -> Any:
        given = _read(declared, given)
        try:
            value = declared.checked(given)
        except (ConfigError, OverflowError) as error:
            raise _Refused(str(error)) from None
        if value == LEARNED and Need.TRAINING not in self._available:
            raise _Refused("fusion learned has nothing to learn from here")
        if value != given and not final:
            low, high = declared.low, declared.high
            raise _Refused(f"{declared.name} goes from {low:g} to {high:g}, got {given:g}")
        return value

    def _untried(
        self, chosen: list[tuple[Change, str]], problems: list[str]
    ) -> list[tuple[Change, str]]:
        """All of them together, else the first alone that was not tried."""
        for group in (chosen, *([one] for one in chosen if len(chosen) > 1)):
            changes = [made for made, _ in group]
            if changes and not tried(self._config, changes, self._history):
                return list(group)
        if chosen:
            names = settings_of([made for made, _ in chosen])
            said = ", ".join(f"{name} = {json.dumps(value)}" for name, value in names.items())
            problems.append(f"{said} was tried before from here")
        return []


def _read(declared: Lever, given: Any) -> Any:
    """What small models write for a value: numbers and switches in quotes, false for "off"."""
    if isinstance(given, bool) and declared.kind is str and not given:
        return "off"
    if not isinstance(given, str):
        return given
    text = given.strip().strip("\"'")
    if declared.kind is bool:
        return {"true": True, "on": True, "false": False, "off": False}.get(text.lower(), given)
    if declared.kind is str:
        return text.lower() if declared.choices else text
    try:
        number = float(text)
    except ValueError:
        return given
    return int(number) if number.is_integer() else number
