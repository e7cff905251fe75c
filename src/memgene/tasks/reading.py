"""Reading a task folder line by line: every problem is kept with its file and line."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from memgene.tasks.records import EpisodeRecord, QuestionRecord, TaskRecord

TASK_FILE = "task.toml"
EPISODES_FILE = "episodes.jsonl"
QUESTIONS_FILE = "questions.jsonl"

# What a key should have held, by pydantic's kind of error.
_WANTED: Mapping[str, str] = MappingProxyType(
    {
        "string_type": "text",
        "string_too_short": "text that is not empty",
        "list_type": "a list",
        "dict_type": "an object of keys and values",
        "model_type": "an object of keys and values",
        "model_attributes_type": "an object of keys and values",
        "float_type": "a number",
        "float_parsing": "a number",
        "finite_number": "a number that is not infinite",
        "int_type": "a whole number",
        "int_parsing": "a whole number",
        "int_from_float": "a whole number",
        "bool_type": "true or false",
    }
)

R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and where; lines count from 1."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Line(Generic[R]):
    """A record and the line it stands on."""

    number: int
    record: R


@dataclass(frozen=True, slots=True)
class FolderContent:
    """What could be read of a folder, and what could not."""

    task: TaskRecord | None
    task_text: str
    episodes: tuple[Line[EpisodeRecord], ...]
    questions: tuple[Line[QuestionRecord], ...]
    problems: tuple[Problem, ...]


def read_content(folder: Path) -> FolderContent:
    """Read the three files; nothing is raised for their content."""
    problems: list[Problem] = []
    task, text = _read_task(folder, problems)
    return FolderContent(
        task=task,
        task_text=text,
        episodes=tuple(_read_lines(folder, EPISODES_FILE, EpisodeRecord, problems)),
        questions=tuple(_read_lines(folder, QUESTIONS_FILE, QuestionRecord, problems)),
        problems=tuple(problems),
    )


def line_of_key(text: str, key: str) -> int:
    """The line of a TOML text where a key or table is named; 1 when it is not there."""
    pattern = re.compile(rf"^\s*\[?\s*{re.escape(key)}\b")
    numbered = enumerate(text.splitlines(), 1)
    return next((number for number, line in numbered if pattern.match(line)), 1)


def _read_task(folder: Path, problems: list[Problem]) -> tuple[TaskRecord | None, str]:
    raw = _read_bytes(folder, TASK_FILE, problems)
    if raw is None:
        return None, ""
    lines = [_decode(TASK_FILE, n, line, problems) for n, line in enumerate(raw.split(b"\n"), 1)]
    if any(line is None for line in lines):
        return None, ""
    text = "\n".join(line or "" for line in lines)
    try:
        return TaskRecord.model_validate(tomllib.loads(text)), text
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        last = len(text.splitlines()) or 1
        problems.append(Problem(TASK_FILE, int(found[1]) if found else last, f"not TOML: {error}"))
    except ValidationError as error:
        for message, place in _explain(error, "a table of keys and values"):
            problems.append(Problem(TASK_FILE, line_of_key(text, place), message))
    return None, text


def _read_lines(folder: Path, name: str, model: type[R], problems: list[Problem]) -> list[Line[R]]:
    raw = _read_bytes(folder, name, problems)
    records: list[Line[R]] = []
    for number, line in enumerate((raw or b"").split(b"\n"), 1):
        text = _decode(name, number, line, problems)
        if text is None or not text.strip():
            continue
        try:
            value = json.loads(text)
            # A lone surrogate is legal JSON and no text.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
            records.append(Line(number, model.model_validate(value)))
        except json.JSONDecodeError as error:
            message = f"not JSON: {error.msg} at column {error.colno}"
            problems.append(Problem(name, number, message))
        except UnicodeEncodeError:
            problems.append(Problem(name, number, "holds a lone surrogate (\\ud800–\\udfff)"))
        except ValidationError as error:
            found = _explain(error, "a JSON object")
            problems += [Problem(name, number, message) for message, _ in found]
    if raw is not None and not records and not any(p.file == name for p in problems):
        problems.append(Problem(name, 1, "the file is empty"))
    return records


def _read_bytes(folder: Path, name: str, problems: list[Problem]) -> bytes | None:
    path = folder / name
    if not path.is_file():
        problems.append(Problem(name, 1, f"the file is missing in {folder}"))
        return None
    return path.read_bytes()


def _decode(name: str, number: int, line: bytes, problems: list[Problem]) -> str | None:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r")
    except UnicodeDecodeError as error:
        column = error.start + 1
        problems.append(Problem(name, number, f"not UTF-8 at byte {column} of the line"))
        return None


def _explain(error: ValidationError, whole: str) -> list[tuple[str, str]]:
    """Messages with the key they concern (`messages[2].text`), and the last key of it. `whole` is
    what a value without keys should have been."""
    wanted: dict[tuple[str, str], list[str]] = {}
    explained: dict[tuple[str, str], None] = {}
    for issue in error.errors():
        parts = [p for p in issue["loc"] if not (isinstance(p, str) and _is_union_branch(p))]
        path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in parts).lstrip(".")
        last = str(parts[-1]) if parts else ""
        kind = issue["type"]
        if kind == "extra_forbidden":
            explained[f"unknown key {path!r}", last] = None
        elif kind == "missing":
            explained[f"key {path!r} is missing", last] = None
        elif kind == "value_error":
            said = issue["msg"].removeprefix("Value error, ")
            explained[f"{path}: {said}" if path else said, last] = None
        else:
            words = whole if not path else _WANTED.get(kind) or _must_be(issue["msg"])
            wanted.setdefault((path, last), []).append(words)
    for (path, last), kinds in wanted.items():
        # A value that may be of several kinds has an issue for each.
        said = f"must be {' or '.join(dict.fromkeys(kinds))}"
        explained[f"{path}: {said}" if path else said, last] = None
    return list(explained)


def _must_be(message: str) -> str:
    """What is wanted, out of a message of pydantic's."""
    return re.sub(r"^Input should be (a valid )?", "", message)


def _is_union_branch(part: str) -> bool:
    return "[" in part or part == "str"
