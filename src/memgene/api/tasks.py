"""What tasks there are, what one holds, and whether a folder can be used as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memgene.core import InputError
from memgene.settings import load_settings
from memgene.tasks import load_task
from memgene.tasks.check import check_folder
from memgene.tasks.part import counted
from memgene.tasks.registry import benchmarks
from memgene.tasks.splits import split_task
from memgene.tasks.summary import summarise
from memgene.tasks.task import Split, Task


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """A benchmark by name; `available` says whether its data is here, `obtain` how to get it."""

    name: str
    description: str
    regime: str
    metric: str
    licence: str
    available: bool
    obtain: str
    options: Mapping[str, str] = field(default_factory=dict)

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class TaskDescription:
    """One task in numbers. `splits` counts groups and questions of the default division."""

    name: str
    regime: str
    metric: str
    licence: str
    groups: int
    episodes: int
    messages: int
    questions: int
    counted: int
    usable_evidence: int
    categories: Mapping[str, int]
    set_apart: tuple[str, ...]
    splits: Mapping[str, Mapping[str, int]]
    fingerprint: str
    options: Mapping[str, str] = field(default_factory=dict)

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "set_apart": list(self.set_apart)}


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """Every problem of a task folder, each with file and line."""

    folder: Path
    ok: bool
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    summary: Mapping[str, Any]

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "folder": str(self.folder),
            "ok": self.ok,
            "errors": list(self.errors),
            "warnings": list(self.warnings),
            "summary": dict(self.summary),
        }


def list_tasks(data: str | Path | None = None) -> list[TaskEntry]:
    """Every benchmark, and whether its data is here."""
    place = load_settings({"data": data}).data
    return [
        TaskEntry(
            info.name,
            info.description,
            info.regime.value,
            info.metric,
            info.licence,
            info.available(place),
            info.obtain,
            dict(info.options),
        )
        for info in benchmarks()
    ]


def describe_task(
    task: Task | str | Path, data: str | Path | None = None, **options: Any
) -> TaskDescription:
    """What a task holds and how it is divided. DataError when its data is absent or malformed."""
    loaded = task if isinstance(task, Task) else open_task(task, data, options)
    summary = summarise(loaded)
    known = {info.name: dict(info.options) for info in benchmarks()}
    return TaskDescription(
        name=loaded.name,
        regime=summary.regime,
        metric=summary.metric,
        licence=loaded.licence,
        groups=summary.groups,
        episodes=summary.episodes,
        messages=summary.messages,
        questions=summary.questions,
        counted=summary.counted,
        usable_evidence=summary.usable,
        categories=dict(summary.categories),
        set_apart=summary.set_apart,
        splits=_splits(loaded),
        fingerprint=loaded.fingerprint,
        options=known.get(loaded.name, {}),
    )


def check_task(folder: str | Path) -> FolderCheck:
    """Check a task folder; raises nothing for what it contains."""
    report = check_folder(Path(folder))
    return FolderCheck(
        Path(folder),
        report.ok,
        tuple(map(str, report.errors)),
        tuple(map(str, report.warnings)),
        {} if report.summary is None else _plain_summary(asdict(report.summary)),
    )


def open_task(
    task: str | Path, data: str | Path | None = None, options: Mapping[str, Any] | None = None
) -> Task:
    """A task by name or folder, its data where the argument or the settings say."""
    return load_task(task, data=load_settings({"data": data}).data, **(options or {}))


def _splits(task: Task) -> dict[str, dict[str, int]]:
    try:
        division = split_task(task)
    except InputError:  # fewer than three groups: the task can be looked at, not evolved on
        return {}
    asked = Counter(division.of[q.group] for q in counted(task))
    return {
        split.value: {"groups": len(division.groups(split)), "questions": asked[split]}
        for split in Split
    }


def _plain_summary(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
