"""What a run folder holds: its events, its folds, and a candidate's cases by what they were for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from memgene.core import RunError
from memgene.evaluation.case import Case
from memgene.evaluation.records import read_cases
from memgene.evolution.event import Event
from memgene.evolution.events import Evaluated
from memgene.evolution.journal import read_journal
from memgene.evolution.rundir import JOURNAL_FILE

_E = TypeVar("_E", bound=Event)
_GATE, STATIC = "gate", "static"


def read_events(folder: Path) -> tuple[Event, ...]:
    """All events so far, in order. Raises RunError when there is no journal."""
    return tuple(entry.event for entry in read_journal(folder / JOURNAL_FILE))


def fold_folders(folder: Path) -> list[Path]:
    """Folders of the folds that have begun, in order."""
    return [
        path
        for path in sorted(folder.glob("fold-*"), key=_number)
        if (path / JOURNAL_FILE).exists()
    ]


def of_kind(events: Sequence[Event], kind: type[_E]) -> list[_E]:
    """The events of a kind, in order."""
    return [event for event in events if isinstance(event, kind)]


def first(events: Sequence[Event], kind: type[_E], **values: object) -> _E | None:
    """The first event of a kind with these values."""
    for event in events:
        if isinstance(event, kind) and all(getattr(event, k) == v for k, v in values.items()):
            return event
    return None


def candidate_folder(folder: Path, candidate: str) -> Path:
    """Where a candidate's files lie: `003` in the run's own candidates, `02-structure/003` in those
    of that pass of a joint evolution, other names with a `/` as they are."""
    part, _, name = candidate.rpartition("/")
    if not part:
        return folder / "candidates" / candidate
    inside = folder / "passes" / part / "candidates" / name
    return inside if inside.is_dir() else folder / candidate


def candidate_file(folder: Path, candidate: str, name: str) -> str | None:
    """Text of a candidate's file; None where it has none of that name."""
    path = candidate_folder(folder, candidate) / name
    return path.read_text(encoding="utf-8") if path.exists() else None


def required_file(folder: Path, candidate: str, name: str) -> str:
    """Text of a file that the journal vouches for. Raises RunError when it is gone."""
    text = candidate_file(folder, candidate, name)
    if text is None:
        path = candidate_folder(folder, candidate) / name
        raise RunError(f"{path} is gone, though the journal names it")
    return text


def evaluations(events: Sequence[Event]) -> Mapping[str, list[Evaluated]]:
    """Evaluations of each candidate, in order."""
    found: dict[str, list[Evaluated]] = {}
    for event in of_kind(events, Evaluated):
        found.setdefault(event.candidate, []).append(event)
    return found


def split_cases(
    folder: Path, candidate: str, evaluated: Sequence[Evaluated]
) -> dict[str, list[Case]]:
    """A candidate's cases by the split they were asked for, as its evaluations name it.

    A record holds the cases of each evaluation in order; those of a program's paired gate are
    among the static ones, and stand under `static` also where it got no further.
    """
    if not evaluated:
        return {}
    cases = read_cases(candidate_folder(folder, candidate) / "cases.jsonl")
    splits = {event.split for event in evaluated}
    found: dict[str, list[Case]] = {}
    place = 0
    for event in evaluated:
        if event.split == _GATE and STATIC in splits:
            continue
        name = STATIC if event.split == _GATE else event.split
        found[name] = cases[place : place + event.questions]
        place += event.questions
    return found


def _number(path: Path) -> tuple[int, str]:
    digits = path.name.rpartition("-")[2]
    return (int(digits) if digits.isdigit() else 0, path.name)
