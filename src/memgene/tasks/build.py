"""From the records of a task folder to a task."""

from __future__ import annotations

from pathlib import Path

from memgene.core import Episode, Gold, LabelledQuestion, Message, Question, stable_id
from memgene.tasks.reading import EPISODES_FILE, QUESTIONS_FILE, TASK_FILE, FolderContent
from memgene.tasks.records import EpisodeRecord, QuestionRecord, SplitsRecord, TaskRecord
from memgene.tasks.sources import file_sha256
from memgene.tasks.task import Exclusion, Split, Task

_FILES = (TASK_FILE, EPISODES_FILE, QUESTIONS_FILE)


def build_task(record: TaskRecord, content: FolderContent, folder: Path) -> Task:
    """The task of a folder without errors; its fingerprint hashes the three files."""
    questions = tuple(_question(line.record) for line in content.questions)
    return Task(
        name=record.name,
        episodes=tuple(_episode(line.record) for line in content.episodes),
        questions=questions,
        regime=record.memory,
        metric=record.metric,
        fingerprint=stable_id(*(file_sha256(folder / name) for name in _FILES)),
        hints=record.hints,
        set_apart=frozenset(record.set_apart),
        fixed_splits=_splits(record.splits),
        exclusions=tuple(Exclusion(q.id, q.gold.unusable) for q in questions if q.gold.unusable),
        licence=record.licence,
        set_apart_metric=record.set_apart_metric,
    )


def message_ids(record: EpisodeRecord) -> tuple[str, ...]:
    """Ids of an episode's messages; one without an id is `<episode id>:<position from 0>`."""
    if record.messages is None:
        return (f"{record.id}:0",)
    return tuple(m.id or f"{record.id}:{i}" for i, m in enumerate(record.messages))


def episode_group(record: EpisodeRecord) -> str:
    """The given group; an episode without one is a group of its own."""
    return record.group or f"episode {record.id}"


def question_group(record: QuestionRecord) -> str:
    """The given group; a question without one is a group of its own."""
    return record.group or f"question {record.id}"


def _episode(record: EpisodeRecord) -> Episode:
    ids = message_ids(record)
    if record.messages is None:
        messages: tuple[Message, ...] = (
            Message(text=record.text or "", id=ids[0], time=record.time),
        )
    else:
        messages = tuple(
            Message(
                text=m.text,
                id=name,
                speaker=m.speaker,
                time=m.time or record.time,
                caption=m.caption,
            )
            for name, m in zip(ids, record.messages, strict=True)
        )
    return Episode(
        id=record.id,
        messages=messages,
        group=episode_group(record),
        time=record.time,
        source=record.source or record.id,
        metadata=record.metadata,
    )


def _question(record: QuestionRecord) -> LabelledQuestion:
    return LabelledQuestion(
        Question(
            id=record.id,
            text=record.question,
            group=question_group(record),
            time=record.time,
            choices=tuple(record.choices),
        ),
        Gold(
            answers=record.answers,
            evidence=tuple(record.evidence),
            category=record.category,
            rubric=tuple(criterion.model_dump() for criterion in record.rubric),
            unusable=record.unusable,
            metadata=record.metadata,
        ),
    )


def _splits(record: SplitsRecord | None) -> dict[str, Split]:
    if record is None:
        return {}
    named = {Split.DEV: record.dev, Split.VAL: record.val, Split.TEST: record.test}
    return {group: split for split, groups in named.items() for group in groups}
