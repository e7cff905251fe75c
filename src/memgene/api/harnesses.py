"""Every memory that can be evaluated, as a list."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from memgene.harness.registry import STATIC, harness_names


@dataclass(frozen=True, slots=True)
class HarnessEntry:
    """A memory by name; `default`: among the static rows that evolution is compared with."""

    name: str
    about: str
    default: bool

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def list_harnesses() -> list[HarnessEntry]:
    """Every harness, in the order shown to people."""
    return [HarnessEntry(name, about, name in STATIC) for name, about in harness_names().items()]
