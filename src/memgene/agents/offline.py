"""The agent that needs no language model: fills schemas by rule, answers by extraction."""

from __future__ import annotations

import time

from memgene.agents.checking import stands
from memgene.agents.extractive.answer import ABSTENTION, answer
from memgene.agents.filler import fill_item, fill_query
from memgene.core import Answer, Context, Episode, Filled, Question, RoleUsage, Schema, record


class OfflineAgent:
    """Deterministic agent of M* §4 without a model. Thread-safe.

    The harness's instructions and standing advice are for models and are not read; a draft that the
    memory's own check does not accept becomes an abstention. Usage counts
    calls under the role `task`, none of them fresh (no model is asked), with no tokens and no cost.
    """

    @property
    def name(self) -> str:
        """`offline`."""
        return "offline"

    @property
    def concurrency(self) -> int:
        """1: it computes, it does not wait."""
        return 1

    def extract(self, episode: Episode, schema: Schema, instruction: str) -> Filled:
        """Fill the item schema by the table in `memgene.agents.filler`."""
        started = time.perf_counter()
        filled = fill_item(schema, episode)
        _count(started)
        return filled

    def formulate(self, question: Question, schema: Schema, instruction: str) -> Filled:
        """Fill the query schema; a text field gets the question itself."""
        started = time.perf_counter()
        filled = fill_query(schema, question)
        _count(started)
        return filled

    def respond(
        self,
        question: Question,
        context: Context,
        instruction: str,
        always_on: str = "",
        query: Filled | None = None,
    ) -> Answer:
        """Cut the answer out of the context, or abstain when nothing in it matches."""
        started = time.perf_counter()
        reply = answer(question, context)
        if not stands(context, reply):
            reply = Answer(ABSTENTION, abstained=True, rule="refused")
        _count(started)
        return reply


def _count(started: float) -> None:
    record("task", RoleUsage(calls=1, seconds=time.perf_counter() - started))
