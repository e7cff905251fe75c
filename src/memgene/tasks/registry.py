"""Tasks by name or folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memgene.core import DataError, InputError
from memgene.tasks.benchmarks import bfcl_memory, locomo
from memgene.tasks.benchmarks.info import BenchmarkInfo
from memgene.tasks.demo import task as demo
from memgene.tasks.sources import refuse_unknown
from memgene.tasks.task import Task


def benchmarks() -> list[BenchmarkInfo]:
    """Every named task, in the order shown to people."""
    return [demo.INFO, locomo.INFO, bfcl_memory.INFO]


def load_task(name_or_folder: str | Path, data: Path | None = None, **options: Any) -> Task:
    """A benchmark by name (`data` or `MEMGENE_DATA` says where its file is), or a task folder.

    A name wins over a folder of the same name; write `./name` for the folder. DataError when the
    data is absent or malformed, InputError for an unknown name or option.
    """
    known = {info.name: info for info in benchmarks()}
    name = str(name_or_folder)
    if name in known:
        return known[name].load(Path(data) if data is not None else None, options)
    folder = Path(name_or_folder).expanduser()
    if not folder.exists():
        raise InputError(f"there is no task {name!r}; tasks are {', '.join(known)}, or a folder")
    if not folder.is_dir():
        raise DataError(
            f"{folder} is a file; give a task folder, or a benchmark's name with --data {folder}"
        )
    refuse_unknown(options, (), name)
    # pydantic is wanted for folders only.
    from memgene.tasks.folder import load_folder

    return load_folder(folder)
