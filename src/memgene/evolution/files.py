"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from memgene.evolution.journal import sync_folder


def write_whole(path: Path, content: str | bytes) -> None:
    """Write bytes, or text as UTF-8, so that a crash leaves the former file or the new one.
    Renames of a folder become durable with `sync_folder`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    with temporary.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def write_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Make a folder with what `fill` puts into it; an older one of that name is replaced."""
    temporary = path.with_name(f".{path.name}.tmp")
    if temporary.exists():
        shutil.rmtree(temporary)
    fill(temporary)
    if path.exists():
        shutil.rmtree(path)
    os.replace(temporary, path)
    sync_folder(path.parent)
