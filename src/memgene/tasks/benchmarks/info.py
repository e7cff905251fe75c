"""What is known about a benchmark before its data is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memgene.tasks.sources import find
from memgene.tasks.task import Regime, Task


@dataclass(frozen=True, slots=True)
class BenchmarkInfo:
    """A named task: what it measures, under which licence, where its file is looked for.

    `load` takes the data place and the options named in `options` (name → meaning). An empty
    `filename` means the data comes with memgene.
    """

    name: str
    description: str
    regime: Regime
    metric: str
    licence: str
    obtain: str
    load: Callable[[Path | None, Mapping[str, Any]], Task]
    filename: str = ""
    folders: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)

    def available(self, data: Path | None = None) -> bool:
        """Whether the file is where `load` would look for it."""
        return not self.filename or find(data, self.filename, self.folders) is not None
