"""What a lever is: one declared, bounded dimension of the retrieval configuration."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from memgene.core import ConfigError

MOST_TEXT = 400


class Symptom(StrEnum):
    """Failures a lever may treat, as diagnosis names them."""

    NEVER_STORED = "never_stored"
    NOT_RETRIEVED = "not_retrieved"
    RANKED_LOW = "ranked_low"
    ANSWERED_WRONG = "answered_wrong"
    TEMPORAL = "temporal"
    NAMES_MISLEAD = "names_mislead"
    MULTI_HOP = "multi_hop"
    SLOW = "slow"


class Need(StrEnum):
    """What a lever needs beside the bank's text."""

    EMBEDDINGS = "embeddings"
    WORD_VECTORS = "word_vectors"
    TRAINING = "training"
    VALUES = "values"
    LINKS = "links"
    LLM = "llm"


@dataclass(frozen=True, slots=True)
class Lever:
    """A named dimension: type, bounds or choices, what it needs, which failures it treats.

    A text without choices is free: words that a diagnosis gives, at most `MOST_TEXT` characters.
    """

    kind: type
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    treats: tuple[Symptom, ...] = ()
    about: str = ""
    name: str = ""
    default: Any = None
    minimal: Any = None

    def checked(self, value: Any) -> Any:
        """The value in this lever's type, clamped to its range; ConfigError if it cannot be."""
        if self.kind is bool:
            if not isinstance(value, bool):
                raise ConfigError(f"lever {self.name} is true or false, got {value!r}")
            return value
        if self.kind is str:
            if not self.choices:
                return self._free(value)
            if value not in self.choices:
                raise ConfigError(
                    f"lever {self.name} is one of {', '.join(self.choices)}, got {value!r}"
                )
            return value
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise ConfigError(f"lever {self.name} is a number, got {value!r}")
        if self.kind is int and (math.isinf(value) or value != int(value)):
            raise ConfigError(f"lever {self.name} is a whole number, got {value!r}")
        assert self.low is not None
        assert self.high is not None
        return self.kind(min(max(value, self.low), self.high))

    def _free(self, value: Any) -> str:
        """Words on one line, cut at the limit."""
        if not isinstance(value, str):
            raise ConfigError(f"lever {self.name} is a text, got {value!r}")
        return " ".join(value.split())[:MOST_TEXT].strip()


def lever(
    default: Any,
    minimal: Any,
    low: float | None = None,
    high: float | None = None,
    *,
    choices: tuple[str, ...] = (),
    needs: tuple[Need, ...] = (),
    treats: tuple[Symptom, ...] = (),
    about: str,
) -> Any:
    """Declare a lever as a dataclass field."""
    declared = Lever(
        type(default), low, high, choices, needs, treats, about, default=default, minimal=minimal
    )
    return field(default=default, metadata={"lever": declared})
