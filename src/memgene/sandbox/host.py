"""What a guest may ask of the parent: host calls, and how they may be refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from memgene.core import MemgeneError

HostCall: TypeAlias = Callable[[Mapping[str, Any]], Any]
"""Answers one request of a guest: JSON in, JSON out. It runs in the parent, in the thread that
called the worker; its time does not count as the guest's."""


class HostRefusal(MemgeneError):  # noqa: N818 - a refusal of one call, not a defect
    """Raised by a host call whose budget is spent: the guest sees an error, and the call during
    which it asked fails as FailureKind.BUDGET whatever the guest does with that error."""
