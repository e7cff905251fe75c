"""What a stage's source must define: the functions of each kind, with what goes in and out.

Values are JSON. A question is the text that was asked; nothing of gold answers, categories or
evidence reaches a stage. Functions are pure: the same input gives the same output, and nothing
that is done to an argument is seen by anybody else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from memgene.retrieval.stages.stage import StageKind

MOST_QUERIES = 4
"""Further queries that one stage may add; more are left out."""
MOST_UNITS = 1000
"""Units offered to a view: all that the search may see, or the latest of them."""
MOST_CANDIDATES = 50
"""Candidates of a view that count, its best."""
MOST_HITS = 50
"""Hits offered to a rescorer or filter, the best so far."""
MOST_CHARACTERS = 2000
"""Of one text that a stage is given or gives: a unit, a query, an instruction."""
MOST_CONTEXT = 50_000
"""Characters of an answer's context that a check is given."""
MOST_SCORE = 1.0
"""A rescorer's numbers are clipped to [-1, 1]; at 1, with strength 1, they lift a hit by the
distance between the worst and the best candidate."""

UNIT = MappingProxyType(
    {
        "id": "str: name of the unit",
        "text": "str: its words",
        "speaker": "str or None: who said it",
        "time": "str or None: when it happened, ISO 8601",
        "source": "str or None: the episode it came from",
        "metadata": "dict: what was stored with it",
    }
)
"""Keys of a unit as a stage sees it."""
HIT = MappingProxyType({**UNIT, "score": "float in [0, 1]: how good the search found it"})
"""Keys of a hit as a stage sees it."""


@dataclass(frozen=True, slots=True)
class StageFunction:
    """A function of a stage's source: its name, parameters by position, and what it returns."""

    name: str
    parameters: tuple[str, ...]
    returns: str
    about: str
    required: bool = True

    @property
    def signature(self) -> str:
        """`def name(parameters) -> returns`."""
        return f"def {self.name}({', '.join(self.parameters)}) -> {self.returns}"


CONTRACT: Mapping[StageKind, tuple[StageFunction, ...]] = MappingProxyType(
    {
        StageKind.QUERY: (
            StageFunction(
                "queries",
                ("question",),
                "list[str]",
                f"at most {MOST_QUERIES} further texts to search for beside the question",
            ),
        ),
        StageKind.VIEW: (
            StageFunction(
                "candidates",
                ("query", "units"),
                "list[tuple[str, float]]",
                f"id and score above 0 of units worth a look, at most {MOST_CANDIDATES}, among at "
                f"most {MOST_UNITS:,} units in the order they were stored",
            ),
        ),
        StageKind.RESCORER: (
            StageFunction(
                "scores",
                ("query", "hits"),
                "list[float]",
                f"one number in [-1, 1] for each of at most {MOST_HITS} hits, best first: what is "
                "added to its score, times the stage's strength",
            ),
        ),
        StageKind.FILTER: (
            StageFunction(
                "keep",
                ("query", "hits"),
                "list[int]",
                f"positions (from 0) of the hits to keep, in their new order, among at most "
                f"{MOST_HITS}",
            ),
        ),
        StageKind.ANSWER: (
            StageFunction(
                "instruction",
                ("question",),
                "str | None",
                "what the agent is told for this question, or None where it is not for it",
            ),
            StageFunction(
                "accept",
                ("question", "context", "answer"),
                "bool",
                "whether a draft may stand as it is; if not, it is verified against the context",
                required=False,
            ),
        ),
    }
)
"""The functions of each kind of stage."""
