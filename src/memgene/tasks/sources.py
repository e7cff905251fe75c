"""Where benchmark files lie, and whether they are the official ones."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memgene.core import DataError, InputError

DATA_VARIABLE = "MEMGENE_DATA"


def data_root(data: Path | None) -> Path | None:
    """The given path, else `MEMGENE_DATA`, else None. `~` is expanded."""
    if data is not None:
        return Path(data).expanduser()
    named = os.environ.get(DATA_VARIABLE)
    return Path(named).expanduser() if named else None


def find(data: Path | None, filename: str, folders: Sequence[str]) -> Path | None:
    """The file itself when the place is one, else `place/<folder>/filename`, first that exists.

    A file given as `data` may have any name; one that `MEMGENE_DATA` names counts only for the
    benchmark whose file it is.
    """
    root = data_root(data)
    if root is None:
        return None
    if root.is_file():
        return root if data is not None or root.name == filename else None
    places = (root / folder / filename for folder in folders)
    return next((place for place in places if place.is_file()), None)


def locate(data: Path | None, filename: str, folders: Sequence[str], obtain: str) -> Path:
    """Like `find`, but absence is a DataError that says where was looked and how to get it."""
    found = find(data, filename, folders)
    if found is not None:
        return found
    root = data_root(data)
    if root is None:
        raise DataError(
            f"{filename} is not here: give its place with --data PATH (Python: data=PATH) "
            f"or the environment variable {DATA_VARIABLE}. {obtain}"
        )
    looked = ", ".join(str(root / folder / filename) for folder in folders)
    raise DataError(f"{filename} is not here; looked for {looked}. {obtain}")


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, 64 hex digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_pinned(path: Path, expected: str, *, unpinned: bool) -> str:
    """The file's SHA-256. Another file than the official one needs `unpinned`, else DataError."""
    actual = file_sha256(path)
    if actual != expected and not unpinned:
        raise DataError(
            f"{path} is not the official file: its SHA-256 is {actual}, expected {expected}. "
            "Results would not compare with published ones; pass unpinned=True to load it anyway."
        )
    return actual


def refuse_unknown(options: Mapping[str, Any], known: Sequence[str], name: str) -> None:
    """InputError for an option the task does not have."""
    unknown = sorted(set(options) - set(known))
    if unknown:
        has = ", ".join(known) or "none"
        raise InputError(f"task {name!r} has no option {', '.join(unknown)}; it has: {has}")
