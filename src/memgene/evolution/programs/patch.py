"""The difference of two programs as people read it."""

from __future__ import annotations

import difflib


def patch_of(before: str, source: str, after: str, changed: str) -> str:
    """Unified difference of two candidates' programs."""
    lines = difflib.unified_diff(
        source.splitlines(keepends=True),
        changed.splitlines(keepends=True),
        f"{before}/program.py",
        f"{after}/program.py",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
