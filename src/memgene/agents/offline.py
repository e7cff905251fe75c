"""The agent that needs no language model: fills schemas by rule, answers by extraction."""

from __future__ import annotations

import threading
import time

from memgene.agents.extractive.answer import answer
from memgene.agents.filler import fill_item, fill_query
from memgene.core import Answer, Context, Episode, Filled, Question, RoleUsage, Schema, Usage


class OfflineAgent:
    """Deterministic agent of M* §4 without a model. Thread-safe.

    The harness's instructions and standing advice are for models and are not read. Usage counts
    calls under the role `task`, with no tokens and no cost.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used = RoleUsage()

    @property
    def name(self) -> str:
        """`offline`."""
        return "offline"

    def extract(self, episode: Episode, schema: Schema, instruction: str) -> Filled:
        """Fill the item schema by the table in `memgene.agents.filler`."""
        started = time.perf_counter()
        filled = fill_item(schema, episode)
        self._count(started)
        return filled

    def formulate(self, question: Question, schema: Schema, instruction: str) -> Filled:
        """Fill the query schema; a text field gets the question itself."""
        started = time.perf_counter()
        filled = fill_query(schema, question)
        self._count(started)
        return filled

    def respond(
        self, question: Question, context: Context, instruction: str, always_on: str = ""
    ) -> Answer:
        """Cut the answer out of the context, or abstain when nothing in it matches."""
        started = time.perf_counter()
        reply = answer(question, context)
        self._count(started)
        return reply

    def usage(self) -> Usage:
        """Calls so far, under the role `task`; empty before the first."""
        with self._lock:
            return Usage({"task": self._used}) if self._used.calls else Usage()

    def _count(self, started: float) -> None:
        one = RoleUsage(calls=1, fresh=1, seconds=time.perf_counter() - started)
        with self._lock:
            self._used = self._used + one
