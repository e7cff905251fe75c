"""The language model of a trial: a fixed reply, no cost."""

from __future__ import annotations

from memgene.llm.protocol import Reply, Request

STUB_REPLY = "This is the reply of a language model to a trial run; it holds no facts."


class StubLLM:
    """Answers every request with `STUB_REPLY`."""

    name = "stub"
    identity = "stub"
    constrains = False
    concurrency = 1

    def complete(self, request: Request) -> Reply:
        """The fixed reply."""
        return Reply(STUB_REPLY)

    def close(self) -> None:
        """Nothing to release."""
