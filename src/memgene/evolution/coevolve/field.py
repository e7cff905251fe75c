"""One dev question played: retrieved by given weights, answered by the agent, scored.

Gold is read here by the scorer and by attribution, on dev questions only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from memgene.agents.protocol import Agent
from memgene.core import Answer, Context, Hit, LabelledQuestion
from memgene.engine import MemoryEngine, compose
from memgene.engine.reading import Retrieval
from memgene.evaluation.scoring import Scorer
from memgene.evolution.diagnosis import cut_of
from memgene.harness.protocol import QUERY_TEXT
from memgene.retrieval.prepared import Prepared
from memgene.retrieval.router.observation import Floats
from memgene.tasks.task import Task


@dataclass(frozen=True, slots=True)
class Asked:
    """A question before it is routed."""

    labelled: LabelledQuestion
    query: str
    engine: MemoryEngine
    prepared: Prepared


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it: what was `found`, of which the agent read the first `shown`, its answer,
    and the reward (None where the metric does not apply)."""

    found: Retrieval
    shown: int
    answer: Answer
    reward: float | None

    @property
    def exposed(self) -> tuple[Hit, ...]:
        """The memories that were shown."""
        return self.found.hits[: self.shown]


def raised(found: Retrieval, place: int) -> Retrieval:
    """What is found when the memory at `place` (from 0) comes first."""
    hits = found.hits
    return replace(found, hits=(hits[place], *hits[:place], *hits[place + 1 :]))


class Field:
    """Plays questions of one task for a reward."""

    def __init__(self, task: Task, agent: Agent, reward: str) -> None:
        self._agent = agent
        self._scorer = Scorer(task, (reward,))
        self._reward = reward
        self._depth = cut_of(reward) or 0

    def ask(self, engine: MemoryEngine, labelled: LabelledQuestion) -> Asked:
        """Formulate, and make everything ready but the weights."""
        query = self._agent.formulate(labelled.question, QUERY_TEXT, "")
        text = str(query.values["query_text"])
        return Asked(labelled, text, engine, engine.prepare(text))

    def play(self, asked: Asked, weights: Floats | None = None) -> Outcome:
        """Retrieve by `weights` (None: as the router says) and score."""
        return self.answered(asked.labelled, self.found(asked, weights))

    def found(self, asked: Asked, weights: Floats | None = None) -> Retrieval:
        """What is retrieved, without an answer."""
        limit = max(self._depth, asked.prepared.config.context_k)
        return asked.engine.read(asked.prepared, weights, limit=limit, explained=0, pooled=False)

    def answered(self, labelled: LabelledQuestion, found: Retrieval) -> Outcome:
        """Let the agent answer from a ranking, where the reward looks at answers."""
        text, shown = compose(found)
        context = Context(text=text, hits=found.hits, shown=shown, plan=found.plan)
        answer = Answer("")
        if self._scorer.needs_answers:
            answer = self._agent.respond(labelled.question, context, "", "", None)
        marks = self._scorer.marks(labelled, context, answer)
        return Outcome(found, shown, answer, marks.scores.get(self._reward))
