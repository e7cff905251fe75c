"""A reply of llama.cpp, gathered token by token so that it can be stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from memgene.llm.protocol import Finish, Reply

_REFUSED = 400
_FINISH = {"stop": Finish.STOP, "length": Finish.LENGTH}


class Stream:
    """What llama.cpp calls with every chunk; returns True to stop it.

    Args:
        deadline: `time.perf_counter()` after which the reply is stopped; None: never.
    """

    def __init__(self, deadline: float | None = None) -> None:
        self._deadline = deadline
        self._stopped = False
        self._parts: list[str] = []
        self._finish: str | None = None
        self._usage: dict[str, int] = {}
        self._trouble: str | None = None
        self.refused = False
        """Whether llama.cpp will not take this request (its HTTP status 400)."""

    def run(self, call: Callable[[Any, Any], object], body: dict[str, Any]) -> None:
        """Make the call in a thread of its own and wait for its end.

        llama.cpp's binding swallows what is raised while it runs, a Ctrl-C too. Here that
        interrupts the waiting, stops the reply at its next token, and goes on to the caller.
        """
        thread = threading.Thread(target=self._call, args=(call, body), daemon=True)
        thread.start()
        try:
            thread.join()
        finally:
            self._stopped = True
            thread.join()

    def __call__(self, chunk: dict[str, Any]) -> bool:
        if "error" in chunk:
            self._trouble = str(chunk["error"].get("message", chunk["error"]))
            self.refused = chunk["error"].get("code") == _REFUSED
            return True
        self._usage = chunk.get("usage") or self._usage
        for choice in chunk.get("choices", ()):
            self._parts.append(choice.get("delta", {}).get("content") or "")
            self._finish = choice.get("finish_reason") or self._finish
        if self._deadline is not None and time.perf_counter() > self._deadline:
            self._trouble = "no whole reply within the time-out, stopped"
        return self._stopped or self._trouble is not None

    def reply(self, seconds: float) -> Reply | str:
        """The whole reply, or what went wrong."""
        if self._trouble is not None:
            return self._trouble
        if self._finish is None:
            return "llama.cpp stopped without saying why"
        return Reply(
            "".join(self._parts),
            _FINISH.get(self._finish, Finish.OTHER),
            tokens_in=self._usage.get("prompt_tokens", 0),
            tokens_out=self._usage.get("completion_tokens", 0),
            seconds=seconds,
        )

    def _call(self, call: Callable[[Any, Any], object], body: dict[str, Any]) -> None:
        try:
            call(body, self)
        except (ValueError, RuntimeError) as error:
            self._trouble, self.refused = f"llama.cpp refused the request: {error}", True
