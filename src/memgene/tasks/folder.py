"""A user's own task: a folder of three files, read and written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import tomli_w

from memgene.core import DataError, Episode, InputError, LabelledQuestion, Message
from memgene.tasks.check import examine
from memgene.tasks.reading import EPISODES_FILE, QUESTIONS_FILE, TASK_FILE
from memgene.tasks.records import FORMAT
from memgene.tasks.task import Split, Task

_SHOWN = 20


def load_folder(path: Path) -> Task:
    """Read a task folder; any error in it is a DataError that lists up to twenty."""
    folder = Path(path)
    if not (folder / TASK_FILE).is_file():
        raise DataError(
            f"{folder} is no task folder: it has no {TASK_FILE}. A task folder holds {TASK_FILE}, "
            f"{EPISODES_FILE} and {QUESTIONS_FILE}; `memgene task check {folder}` explains"
        )
    task, report = examine(folder)
    if task is None:
        shown = "\n".join(f"  {problem}" for problem in report.errors[:_SHOWN])
        rest = len(report.errors) - _SHOWN
        more = f"\n  … and {rest} more" if rest > 0 else ""
        raise DataError(f"{folder} cannot be used as a task:\n{shown}{more}")
    return task


def write_folder(task: Task, path: Path) -> None:
    """Write a task as a folder that `load_folder` reads back, but for its fingerprint.

    Metadata must be JSON. An existing task there is an InputError, never overwritten.
    """
    folder = Path(path)
    if (folder / TASK_FILE).exists():
        raise InputError(f"{folder} already holds a task; choose an empty folder")
    folder.mkdir(parents=True, exist_ok=True)
    _write_lines(folder / EPISODES_FILE, (_episode(episode) for episode in task.episodes))
    _write_lines(folder / QUESTIONS_FILE, (_question(question) for question in task.questions))
    (folder / TASK_FILE).write_bytes(tomli_w.dumps(_head(task)).encode("utf-8"))


def _head(task: Task) -> dict[str, Any]:
    head: dict[str, Any] = {
        "format": FORMAT,
        "name": task.name,
        "metric": task.metric,
        "memory": task.regime.value,
    }
    if task.licence:
        head["licence"] = task.licence
    if task.set_apart:
        head["set_apart"] = sorted(task.set_apart)
    if task.set_apart_metric:
        head["set_apart_metric"] = task.set_apart_metric
    if task.hints:
        head["hints"] = dict(task.hints)
    if task.fixed_splits:
        head["splits"] = {
            split.value: [group for group, fixed in task.fixed_splits.items() if fixed is split]
            for split in Split
        }
    return head


def _episode(episode: Episode) -> dict[str, Any]:
    only = episode.messages[0] if len(episode.messages) == 1 else None
    plain = only is not None and only == Message(
        text=only.text, id=f"{episode.id}:0", time=episode.time
    )
    return _present(
        {
            "id": episode.id,
            "group": episode.group,
            "time": episode.time.isoformat() if episode.time else None,
            "source": episode.source if episode.source != episode.id else None,
            "text": only.text if only is not None and plain else None,
            "messages": None if plain else [_message(m, episode) for m in episode.messages],
            "metadata": dict(episode.metadata) or None,
        }
    )


def _message(message: Message, episode: Episode) -> dict[str, Any]:
    own_time = message.time is not None and message.time != episode.time
    return _present(
        {
            "id": message.id,
            "speaker": message.speaker,
            "text": message.text,
            "caption": message.caption,
            "time": message.time.isoformat() if message.time and own_time else None,
        }
    )


def _question(labelled: LabelledQuestion) -> dict[str, Any]:
    question, gold = labelled.question, labelled.gold
    answers = list(gold.answers)
    fields = _present(
        {
            "id": question.id,
            "group": question.group,
            "question": question.text,
            "evidence": list(gold.evidence) or None,
            "category": gold.category,
            "time": question.time.isoformat() if question.time else None,
            "choices": list(question.choices) or None,
            "rubric": [dict(criterion) for criterion in gold.rubric] or None,
            "unusable": gold.unusable,
            "metadata": dict(gold.metadata) or None,
        }
    )
    # null is a statement here ("memory does not tell"), so the key is always written.
    fields["answer"] = answers[0] if len(answers) == 1 else (answers or None)
    return fields


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path.write_text("".join(lines), encoding="utf-8")
