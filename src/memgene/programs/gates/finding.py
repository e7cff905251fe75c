"""What a gate found wrong with a program, said so that a model or a person can mend it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Gate = Literal["static", "smoke", "limits"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. `code` is a short stable name (`import-not-allowed`), `line` counts
    from 1, `detail` is the end of a traceback or the offending line."""

    gate: Gate
    code: str
    message: str
    line: int | None = None
    detail: str = ""

    def __str__(self) -> str:
        place = f" (line {self.line})" if self.line else ""
        shown = f"\n{self.detail}" if self.detail else ""
        return f"{self.gate}/{self.code}{place}: {self.message}{shown}"
