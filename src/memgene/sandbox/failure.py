"""How a guest can fail: one error, with a name for what happened and where."""

from __future__ import annotations

from enum import StrEnum

from memgene.core import MemgeneError


class FailureKind(StrEnum):
    """What happened. After those in `FATAL` the process is gone."""

    RAISED = "raised"  # the guest raised an exception
    TIME = "time"  # it exceeded its seconds and was killed
    MEMORY = "memory"  # it asked for more memory than it may have
    OUTPUT = "output"  # what it returned is too large or of the wrong type
    BUDGET = "budget"  # it made more host calls than it may
    ENDED = "ended"  # its process ended: exit, signal, out of memory
    PROTOCOL = "protocol"  # what came back is no message
    GONE = "gone"  # it failed fatally before; this call was not made


FATAL = frozenset({FailureKind.TIME, FailureKind.ENDED, FailureKind.PROTOCOL, FailureKind.GONE})


class GuestError(MemgeneError):
    """A guest failed. `where` is the method called (`load`, `write`, `read`, …), `detail` the end
    of its traceback where it raised. The message names all of them in a line or a few."""

    def __init__(self, kind: FailureKind, where: str, message: str, detail: str = "") -> None:
        super().__init__(f"{where}: {message}")
        self.kind = kind
        self.where = where
        self.message = message
        self.detail = detail

    @property
    def fatal(self) -> bool:
        """Whether the process is gone."""
        return self.kind in FATAL


class SandboxUnavailableError(MemgeneError):
    """This machine cannot isolate guests as asked; the message says what is missing."""
