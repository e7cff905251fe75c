"""Bubblewrap: a zygote in namespaces of its own, with few files, where Landlock is missing.

Mounted read-only: Python, the system's libraries, the folders on the import path. The zygote
imports what it needs and then covers those folders with empty ones, for they may hold data;
that takes one capability, given up right after.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from memgene.sandbox import kernel

_SYSTEM: Final = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
_READ_ONLY, _NO_SET_UID, _NO_DEVICES, _NO_EXEC = 1, 2, 4, 8
_OPTIONS: Final = ("--unshare-all", "--new-session", "--cap-drop", "ALL")
_MAY_MOUNT: Final = ("--cap-add", "CAP_SYS_ADMIN")


def python() -> str:
    """The interpreter itself, behind the links of a virtual environment."""
    return str(Path(getattr(sys, "_base_executable", None) or sys.executable).resolve())


def wrap(program: str, command: Sequence[str], import_path: Iterable[str]) -> list[str]:
    """The command line that runs `command` (which begins with `python()`) in a bubble."""
    home = Path(command[0]).parent.parent
    shown = [*_SYSTEM, command[0], str(home / "lib"), str(home / "lib64"), *import_path]
    mounts = [part for path in dict.fromkeys(shown) for part in ("--ro-bind-try", path, path)]
    rest = ("--proc", "/proc", "--dev-bind", "/dev/null", "/dev/null", "--remount-ro", "/")
    return [program, *_OPTIONS, *_MAY_MOUNT, *mounts, *rest, "--", *command]


def trial(program: str) -> list[str]:
    """A command that succeeds where bubbles can be made."""
    python_only = [python(), "-ISc", ""]
    return [program, *_OPTIONS, *_MAY_MOUNT, "--ro-bind", "/", "/", "--", *python_only]


def cover(import_path: Iterable[str], kept: Sequence[Path]) -> None:
    """In the bubble: hide the folders of an import path except the standard library's, and every
    folder of installed packages. Raises OSError."""
    flags = _READ_ONLY | _NO_SET_UID | _NO_DEVICES | _NO_EXEC
    for folder in dict.fromkeys([*map(Path, import_path), *_package_folders(kept)]):
        if folder.is_dir() and not any(_within(folder, root) for root in kept):
            kernel.mount_empty(str(folder), flags)


def _within(folder: Path, root: Path) -> bool:
    return folder.resolve().is_relative_to(root) and not folder.name.endswith("-packages")


def _package_folders(library: Iterable[Path]) -> Iterator[Path]:
    for place in (*library, *Path("/usr/lib").glob("python*"), *Path("/usr/local/lib").glob("py*")):
        yield from (place / "site-packages", place / "dist-packages")
