"""A memory program: one Python file, and what it declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memgene.core import Instructions, Schema, content_hash


@dataclass(frozen=True, slots=True)
class Program:
    """Source text of a program. Nothing of it runs outside the sandbox."""

    source: str

    @property
    def digest(self) -> str:
        """Short name of the exact text."""
        return content_hash(self.source)[:12]


@dataclass(frozen=True, slots=True)
class Contract:
    """What a loaded program declares (M* §2): item and query fields, and its four instructions.

    `item_json` and `query_json` are JSON schemas of the two dataclasses, descriptions kept.
    """

    item_schema: Schema
    query_schema: Schema
    instructions: Instructions
    item_json: Mapping[str, Any]
    query_json: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """Limits of a program at work (M* §2): characters of a read (longer is a violation, never cut),
    seconds of its own time a write or read, calls of `toolkit.llm_completion` in each of them."""

    read_characters: int = 3000
    call_seconds: float = 60.0
    llm_calls: int = 1
