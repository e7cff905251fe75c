"""A recipe: which part of the catalogue stands in each slot of a composed program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from memgene.core import InputError


class Slot(StrEnum):
    """What a composed program is made of (MemEvolve's four modules, and the words)."""

    STORAGE = "storage"
    INDEXING = "indexing"
    SCORING = "scoring"
    SHOWING = "showing"
    WORDING = "wording"


@dataclass(frozen=True, slots=True)
class Recipe:
    """One choice per lever; see `CHOICES` for what each can be and `SLOTS` for where it belongs.

    | lever | meaning |
    |---|---|
    | `storage` | what one stored piece is; `bank`: `toolkit.bank` cuts, finds and shows by itself |
    | `signals` | what finds pieces: `vectors`, `words` (FTS5 BM25), `overlap` (rarity of shared
    words), `bank` (the ranking of `toolkit.bank`), or several of them joined by `+` |
    | `words_reach`, `vectors_reach` | indexed text: the piece alone, or with those beside it |
    | `fusion` | reciprocal ranks, or a sum of scores each scaled to [0, 1] |
    | `lean` | vectors or the bank weigh as much as the lexical signals, twice that, or half of it |
    | `person`, `date`, `recent` | bonus for a speaker or a date the query names, and for age; the
    fused score is scaled to at most 1 before |
    | `beside`, `same_text` | share of the scores of the pieces beside it, and of the best of its
    text, that a piece gains: an answer stands near what the query speaks of |
    | `limit` | how many of the ranked pieces may be shown |
    | `neighbours` | what stands beside a found piece is shown with it |
    | `per_source` | most pieces of one text (0: no limit) |
    | `order` | best first; by time; or by text under its date, each text in its own order |
    | `dedupe` | a piece that repeats another is left out |
    | `extract`, `ask`, `answer`, `advice` | wording of the four instruction constants |
    """

    storage: str = "lines"
    signals: str = "vectors+words"
    words_reach: str = "alone"
    vectors_reach: str = "alone"
    fusion: str = "rrf"
    lean: str = "even"
    person: float = 0.0
    date: float = 0.0
    recent: float = 0.0
    beside: float = 0.0
    same_text: float = 0.0
    limit: int = 40
    neighbours: str = "none"
    per_source: int = 0
    order: str = "rank"
    dedupe: bool = False
    extract: str = "summary"
    ask: str = "plain"
    answer: str = "short"
    advice: str = "none"

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise InputError(
                    f"recipe {name} must be one of {', '.join(map(str, choices))}, "
                    f"got {getattr(self, name)!r}"
                )

    @property
    def normal(self) -> Recipe:
        """The same program with every lever that has no effect at its default."""
        changes = {name: DEFAULTS[name] for name in _idle(self)}
        if self.storage == "bank":
            changes["signals"] = "bank"  # so that a step away keeps what finds
        return replace(self, **changes) if changes else self

    @property
    def found_by(self) -> tuple[str, ...]:
        """The signals, one by one."""
        return tuple(self.signals.split("+"))

    def to_json(self) -> dict[str, Any]:
        """Every lever by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Recipe:
        """From levers by name; those left out are at their default. InputError on others."""
        unknown = [name for name in values if name not in CHOICES]
        if unknown:
            raise InputError(f"a recipe has no {', '.join(map(repr, unknown))}")
        return cls(**values)

    def __str__(self) -> str:
        told = {n: v for n, v in self.normal.to_json().items() if v != DEFAULTS[n]}
        return json.dumps(told)


CHOICES: Mapping[str, tuple[str | float | int | bool, ...]] = MappingProxyType(
    {
        "storage": (
            *("session", "chunks", "windows", "pairs", "lines", "sentences"),
            *("facts", "lines+facts", "bank"),
        ),
        "signals": (
            *("vectors", "words", "overlap", "vectors+words", "vectors+overlap"),
            *("words+overlap", "vectors+words+overlap", "bank", "bank+words"),
        ),
        "words_reach": ("alone", "before", "around"),
        "vectors_reach": ("alone", "before", "around"),
        "fusion": ("rrf", "sum"),
        "lean": ("even", "vectors", "words"),
        "person": (0.0, 0.1, 0.2, 0.4),
        "date": (0.0, 0.1, 0.2, 0.4),
        "recent": (0.0, 0.05, 0.2),
        "beside": (0.0, 0.15, 0.3, 0.5),
        "same_text": (0.0, 0.1, 0.2, 0.4),
        "limit": (5, 10, 20, 40),
        "neighbours": ("none", "after", "around"),
        "per_source": (0, 2, 4, 8),
        "order": ("rank", "time", "grouped"),
        "dedupe": (False, True),
        "extract": ("summary", "facts", "events"),
        "ask": ("plain", "names", "keywords"),
        "answer": ("short", "exact", "dated"),
        "advice": ("none", "ground", "time"),
    }
)
DEFAULTS: Mapping[str, Any] = MappingProxyType({f.name: f.default for f in fields(Recipe)})

SLOTS: Mapping[Slot, tuple[str, ...]] = MappingProxyType(
    {
        Slot.STORAGE: ("storage",),
        Slot.INDEXING: ("signals", "words_reach", "vectors_reach"),
        Slot.SCORING: ("fusion", "lean", "person", "date", "recent", "beside", "same_text"),
        Slot.SHOWING: ("limit", "neighbours", "per_source", "order", "dedupe"),
        Slot.WORDING: ("extract", "ask", "answer", "advice"),
    }
)

WITHOUT_NEIGHBOURS = frozenset({"session", "facts"})
"""Storage whose pieces do not follow on one another."""


LEXICAL = frozenset({"words", "overlap"})
"""Signals that look at words alone."""


def _idle(recipe: Recipe) -> set[str]:
    """Levers without effect in this recipe."""
    if recipe.storage == "bank":
        return set(CHOICES) - {"storage", "signals", *SLOTS[Slot.WORDING]}
    idle: set[str] = set()
    lexical = set(recipe.found_by) & LEXICAL
    if len(recipe.found_by) == 1:
        idle.add("fusion")
    if len(lexical) in (0, len(recipe.found_by)):
        idle.add("lean")
    if not lexical:
        idle.add("words_reach")
    if "vectors" not in recipe.found_by:
        idle.add("vectors_reach")
    if recipe.storage in WITHOUT_NEIGHBOURS:
        idle |= {"words_reach", "vectors_reach", "neighbours", "beside"}
    if recipe.storage == "session":
        idle |= {"per_source", "limit", "same_text"}
    return idle
