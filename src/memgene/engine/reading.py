"""From a ranking of rows to hits, and from hits to the text an agent is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from memgene.core import AnswerPlan, Hit, Why
from memgene.engine.merging import MergedRanking
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.index import UnitIndex
from memgene.retrieval.ranking import Ranking
from memgene.retrieval.router.observation import SelfRouting
from memgene.retrieval.stages.calls import StageCalls
from memgene.retrieval.stages.stage import StageKind


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What a read found: hits best first, refs of all candidates, the question's predicted type.

    `config` is the configuration that served the question (overrides for its type applied).
    `queries` are the texts that were searched, the question itself first. `degraded` names each
    step that fell back to the plain ranking because a language model failed, and why. `routing` is
    what rules or a model made of the question for the routes, `weights` how much each route
    counted, where they were weighed for this question. `instruction` is what answer stages tell the
    agent; `stages` are those of the configuration.
    """

    hits: tuple[Hit, ...]
    pool: tuple[str, ...]
    question_type: str
    config: RetrievalConfig
    queries: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    routing: SelfRouting | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    instruction: str = ""
    stages: StageCalls | None = field(default=None, compare=False, repr=False)

    @property
    def plan(self) -> AnswerPlan:
        """How the serving configuration wants the question answered."""
        served = self.config
        plan = AnswerPlan(served.answer_style, served.verification, served.verification_threshold)
        if self.stages is None or not self.stages.has(StageKind.ANSWER):
            return plan
        return replace(
            plan,
            instruction=self.instruction,
            check=self.stages.key(StageKind.ANSWER),
            accepts=partial(self.stages.accepts, self.queries[0]),
        )

    @property
    def notes(self) -> dict[str, Any]:
        """What a trace should hold: the type; further queries, routing and weights of the routes,
        and what was degraded, if any."""
        notes: dict[str, Any] = {"question_type": self.question_type}
        if len(self.queries) > 1:
            notes["queries"] = list(self.queries)
        if self.routing is not None:
            notes["routing"] = asdict(self.routing)
        if self.weights:
            notes["weights"] = {name: round(w, 6) for name, w in self.weights.items()}
        if self.degraded:
            notes["degraded"] = list(self.degraded)
        return notes


def hits_of(
    ranking: Ranking | MergedRanking, index: UnitIndex, limit: int, explained: int
) -> tuple[Hit, ...]:
    """The first `limit` hits; the first `explained` of them with reasons."""
    reasons = ranking.explain(min(explained, limit))
    hits = []
    for place, row in enumerate(ranking.rows[:limit].tolist()):
        unit = index.units[row]
        hits.append(
            Hit(
                id=unit.id,
                text=unit.content,
                score=float(ranking.scores[place]),
                why=reasons[place] if place < len(reasons) else Why(),
                source=unit.source,
                refs=unit.refs,
                rendered=unit.rendered,
                event_time=unit.event_time,
                speaker=unit.speaker,
                metadata=unit.metadata,
            )
        )
    return tuple(hits)


def compose(retrieval: Retrieval) -> tuple[str, int]:
    """The context text and how many hits stand in it, as the serving configuration limits them."""
    served = retrieval.config
    return compose_hits(retrieval.hits[: served.context_k], served.context_chars)


def compose_hits(hits: Sequence[Hit], limit: int) -> tuple[str, int]:
    """The text of hits in at most `limit` characters (1 or more), and how many stand in it.

    In the order given, one rendered line a hit. A first line that is longer is cut and ends in
    `…`, so that a hit never leaves the context empty; a later line that would cross the limit and
    all after it are left out.
    """
    lines: list[str] = []
    used = 0
    for hit in hits:
        line = hit.rendered or hit.text
        if not lines:
            line = _cut(line, limit)
        used += len(line) + (1 if lines else 0)
        if used > limit:
            break
        lines.append(line)
    return "\n".join(lines), len(lines)


def _cut(line: str, limit: int) -> str:
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
