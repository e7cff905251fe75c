"""What a read returns: hits with reasons, and the context an agent is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class ViewScore:
    """Place of a hit in one view: `rank` from 1 (None when the view did not return it)."""

    rank: int | None
    score: float


@dataclass(frozen=True, slots=True)
class Why:
    """Why a hit stands where it stands: per view, the fused score, and each rescoring factor.

    `features` are the terms of the fused score where the fusion tells them; `weights` are those
    of the routes, for this question, where a router weighed them.
    """

    views: Mapping[str, ViewScore] = field(default_factory=dict)
    fused: float = 0.0
    factors: Mapping[str, float] = field(default_factory=dict)
    features: Mapping[str, float] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hit:
    """One remembered unit found for a query.

    `source` is the episode it came from; `refs` are the message ids it stands for, which is what
    evidence is compared with. `rendered` is the line an agent reads (date, speaker, words).
    """

    id: str
    text: str
    score: float
    why: Why = field(default_factory=Why)
    source: str | None = None
    refs: tuple[str, ...] = ()
    rendered: str = ""
    event_time: datetime | None = None
    speaker: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnswerPlan:
    """How the memory wants a question answered; for agents that use a language model.

    `style` names an answer style, `verification` is off, strict or multi, and a draft whose own
    confidence is below `threshold` (0 to 1), or that abstains, is verified. `instruction` is for
    this question alone. `accepts` says of a context and a draft whether the draft may stand, and
    `check` names it, so that equal plans have equal checks; a draft that may not is verified.
    """

    style: str = "concise"
    verification: str = "off"
    threshold: float = 0.5
    instruction: str = ""
    check: str = ""
    accepts: Callable[[str, str], bool] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Context:
    """Result of a read: the text for the agent and, where the memory ranks units, the ranking.

    `hits` is the ranking *before* the context cut (recall@k is taken on it); the first `shown`
    of them are in `text`. `pool` holds the refs of all candidates that were scored. `plan` says
    how to answer, where the memory has a view on that. `failure` says that the memory itself broke
    (an evolved program that raised, hung or exceeded a limit): the question scores 0, unasked.
    """

    text: str
    hits: tuple[Hit, ...] | None = None
    shown: int = 0
    pool: tuple[str, ...] = ()
    plan: AnswerPlan | None = None
    failure: str | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
