"""`memgene task check`: everything that is wrong with a task folder, with file and line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memgene.core import InputError
from memgene.tasks.build import build_task, episode_group, message_ids, question_group
from memgene.tasks.metrics import can_apply, get_metric
from memgene.tasks.part import counted
from memgene.tasks.reading import (
    EPISODES_FILE,
    QUESTIONS_FILE,
    TASK_FILE,
    FolderContent,
    Problem,
    line_of_key,
    read_content,
)
from memgene.tasks.records import QuestionRecord
from memgene.tasks.splits import split_task
from memgene.tasks.summary import TaskSummary, summarise
from memgene.tasks.task import Regime, Split, Task

FEWEST_QUESTIONS = 10


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All problems of a folder. `summary` is there when the folder can be loaded."""

    folder: Path
    errors: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    summary: TaskSummary | None

    @property
    def ok(self) -> bool:
        """Whether the folder can be used; warnings do not hinder."""
        return not self.errors


def check_folder(path: Path) -> CheckReport:
    """Read a folder and report every problem; raises nothing for what it contains."""
    _, report = examine(Path(path))
    return report


def examine(folder: Path) -> tuple[Task | None, CheckReport]:
    """The task, where there are no errors, and the report."""
    content = read_content(folder)
    errors = [*content.problems, *_identity_errors(content), *_reference_errors(content)]
    task = None
    warnings: list[Problem] = []
    summary = None
    if not errors and content.task is not None:
        task = build_task(content.task, content, folder)
        errors += [*_metric_errors(task, content), *_split_errors(task, content)]
    if task is not None and not errors:
        warnings += [*_split_warnings(task), *_content_warnings(task, content)]
        summary = summarise(task)
    report = CheckReport(folder, tuple(errors), tuple(warnings), summary)
    return (task if report.ok else None), report


def _identity_errors(content: FolderContent) -> Iterator[Problem]:
    """Ids that stand for two things."""
    seen: dict[str, int] = {}
    for line in content.episodes:
        for name, count in Counter((line.record.id, *message_ids(line.record))).items():
            if name in seen or count > 1:
                first = seen.get(name, line.number)
                message = f"id {name!r} is already used on line {first}"
                yield Problem(EPISODES_FILE, line.number, message)
            seen.setdefault(name, line.number)
    asked: dict[str, int] = {}
    for question in content.questions:
        name = question.record.id
        if name in asked:
            message = f"id {name!r} is already used on line {asked[name]}"
            yield Problem(QUESTIONS_FILE, question.number, message)
        asked.setdefault(name, question.number)


def _reference_errors(content: FolderContent) -> Iterator[Problem]:
    """Groups that are missing, evidence that does not exist or cannot be in memory."""
    if content.task is None:
        return
    own = content.task.memory is Regime.OWN_GROUP
    home: dict[str, str] = {}
    for line in content.episodes:
        if own and line.record.group is None:
            yield Problem(EPISODES_FILE, line.number, "key 'group' is missing (memory = own_group)")
        group = episode_group(line.record)
        for name in (line.record.id, *message_ids(line.record)):
            home.setdefault(name, group)
    groups = set(home.values())
    for asked in content.questions:
        for message in _question_errors(asked.record, home, groups, own=own):
            yield Problem(QUESTIONS_FILE, asked.number, message)


def _question_errors(
    record: QuestionRecord, home: dict[str, str], groups: set[str], *, own: bool
) -> Iterator[str]:
    group = question_group(record)
    if own and record.group is None:
        yield "key 'group' is missing (memory = own_group)"
    elif own and group not in groups:
        yield f"group {group!r} has no episodes, so nothing could be remembered for it"
    for ref in record.evidence:
        if ref not in home:
            yield f"evidence {ref!r} is no episode and no message"
        elif own and group in groups and home[ref] != group:
            yield f"evidence {ref!r} is in group {home[ref]!r}, the question in {group!r}"
    letters = {chr(ord("A") + i) for i in range(len(record.choices))}
    for answer in record.answers if record.choices else ():
        if answer not in record.choices and answer not in letters:
            yield f"answer {answer!r} is none of the choices, nor a choice's letter"


def _metric_errors(task: Task, content: FolderContent) -> Iterator[Problem]:
    metric = get_metric(task.metric)
    questions = counted(task)
    if questions and not any(
        can_apply(metric, question, ranks=ranks)
        for question in questions
        for ranks in (True, False)
    ):
        yield Problem(
            TASK_FILE,
            line_of_key(content.task_text, "metric"),
            f"metric {metric.name} applies to no question ({metric.description}); "
            "give the questions what it needs, or choose another",
        )


def _split_errors(task: Task, content: FolderContent) -> Iterator[Problem]:
    record = content.task
    named = record.splits if record is not None else None
    line = line_of_key(content.task_text, "splits")
    if named is not None:
        counts = Counter((*named.dev, *named.val, *named.test))
        for group, count in counts.items():
            if count > 1:
                yield Problem(TASK_FILE, line, f"group {group!r} is named {count} times in splits")
            if group not in task.groups:
                yield Problem(TASK_FILE, line, f"splits name group {group!r}, which does not exist")
        if any(group not in task.groups for group in counts):
            return
    try:
        split_task(task)
    except InputError as error:
        yield Problem(TASK_FILE, line, str(error))


def _split_warnings(task: Task) -> Iterator[Problem]:
    division = split_task(task)
    counts = Counter(
        division.of[q.group] for q in task.questions if q.gold.category not in task.set_apart
    )
    for split in Split:
        if counts[split] < FEWEST_QUESTIONS:
            message = (
                f"{split.value} has {counts[split]} questions ({division.origin}); "
                f"below {FEWEST_QUESTIONS} an interval says little"
            )
            yield Problem(TASK_FILE, 1, message)


def _content_warnings(task: Task, content: FolderContent) -> Iterator[Problem]:
    asked = {question.group for question in task.questions}
    if task.regime is Regime.OWN_GROUP:
        for line in content.episodes:
            group = episode_group(line.record)
            if group not in asked:
                asked.add(group)
                yield Problem(EPISODES_FILE, line.number, f"group {group!r} has no questions")
    bare = sum(not question.gold.evidence for question in task.questions)
    if bare:
        message = (
            f"{bare} of {len(task.questions)} questions name no evidence; "
            "recall@k leaves them out, and a ranker learns from answer words instead"
        )
        yield Problem(QUESTIONS_FILE, 1, message)
    texts: dict[tuple[str, str], int] = {}
    for line_asked in content.questions:
        key = (question_group(line_asked.record), line_asked.record.question)
        if key in texts:
            message = f"the same question is asked on line {texts[key]}"
            yield Problem(QUESTIONS_FILE, line_asked.number, message)
        texts.setdefault(key, line_asked.number)
