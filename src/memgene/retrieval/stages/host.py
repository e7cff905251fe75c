"""Who runs stages: the seam between retrieval and the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from memgene.core import MemgeneError
from memgene.retrieval.stages.stage import Stage


class StageError(MemgeneError):
    """A stage raised, hung, exceeded a limit or returned what it must not."""


@runtime_checkable
class StageHost(Protocol):
    """Runs stages where they can do no harm. Thread-safe."""

    def call(self, stage: Stage, method: str, params: Mapping[str, Any]) -> Any:
        """What the stage's `method` returns for these parameters, as JSON values.

        Raises StageError where the stage fails.
        """
        ...
