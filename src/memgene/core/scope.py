"""Whose memory it is: user, agent, run."""

from __future__ import annotations

from dataclasses import dataclass

from memgene.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Scope:
    """Owner of a unit, or the owner a query speaks for.

    As a query: given ids must match; `run_id` also admits units without a run (base scope);
    without `user_id` only unowned units are seen; an absent agent or run does not restrict.
    """

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None

    def __post_init__(self) -> None:
        for name in ("user_id", "agent_id", "run_id"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value):
                raise InputError(f"{name} must be a non-empty string or None, got {value!r}")

    def admits(self, stored: Scope) -> bool:
        """Whether a query in this scope may see a unit stored under `stored`."""
        if self.user_id != stored.user_id:
            return False
        if self.agent_id is not None and self.agent_id != stored.agent_id:
            return False
        return self.run_id is None or stored.run_id in (self.run_id, None)
