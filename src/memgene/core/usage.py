"""What a run cost, by role (task, reflector, judge, toolkit, embed, …)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RoleUsage:
    """Calls, `fresh` of them made to a model (not answered by a cache or by rule); tokens in and
    out and money of those; seconds of all."""

    calls: int = 0
    fresh: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: RoleUsage) -> RoleUsage:
        return RoleUsage(
            self.calls + other.calls,
            self.fresh + other.fresh,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.cost + other.cost,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of every role that was called; roles add up."""

    roles: Mapping[str, RoleUsage] = field(default_factory=dict)

    def __add__(self, other: Usage) -> Usage:
        merged = dict(self.roles)
        for role, used in other.roles.items():
            merged[role] = merged.get(role, RoleUsage()) + used
        return Usage(merged)
