"""Recorded replies in place of a model: repeatable, offline, free."""

from __future__ import annotations

import difflib
import hashlib
import threading
from collections import defaultdict
from pathlib import Path

from memgene.core.errors import ModelError
from memgene.llm.protocol import Reply, Request
from memgene.llm.records import read_records, record_key
from memgene.llm.rendering import rendered

_DIFF_LINES = 40


class ReplayLLM:
    """Answers each request as the file says it was answered before.

    A request that was recorded several times gets its replies in their order, then the last one
    again. One that was not recorded is an error: nothing is made up, nobody else is asked.

    Args:
        file: what a recorder wrote.

    Raises:
        StoredConfigError: the file cannot be read, or is no record.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        path = Path(file)
        self._recorded = tuple(read_records(path))
        self._digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        self._replies: dict[str, list[Reply]] = defaultdict(list)
        for recorded in self._recorded:
            self._replies[recorded.key].append(recorded.reply)
        self._asked: dict[str, int] = defaultdict(int)
        self._calls = 0
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """`replay:` and the file."""
        return f"replay:{self._file}"

    @property
    def identity(self) -> str:
        """`replay:` and a hash of what the file held when it was read."""
        return f"replay:{self._digest}"

    @property
    def constrains(self) -> bool:
        """False: a schema changes nothing here."""
        return False

    @property
    def concurrency(self) -> int:
        """As many as a server's; nothing waits."""
        return 64

    def complete(self, request: Request) -> Reply:
        """The recorded reply; see `LLM.complete`.

        Raises:
            ModelError: the request was not recorded; shows how it differs from the nearest.
        """
        key = record_key(request)
        with self._lock:
            self._calls += 1
            call = self._calls
            replies = self._replies.get(key)
            if replies:
                reply = replies[min(self._asked[key], len(replies) - 1)]
                self._asked[key] += 1
                return reply
        raise ModelError(
            f"{self.name}: call {call} was never recorded ({len(self._recorded)} records). "
            + self._difference(request)
        )

    def close(self) -> None:
        """Nothing is open."""

    def _difference(self, request: Request) -> str:
        if not self._recorded:
            return "The file is empty."
        wanted = _lines(request)
        words = set(" ".join(wanted).split())
        nearest = max(
            (_lines(recorded.request) for recorded in self._recorded),
            key=lambda lines: _likeness(words, set(" ".join(lines).split())),
        )
        changes = list(difflib.unified_diff(nearest, wanted, "recorded", "asked", lineterm="", n=1))
        more = f"\n… {len(changes) - _DIFF_LINES} more lines" if len(changes) > _DIFF_LINES else ""
        return "The nearest that was:\n" + "\n".join(changes[:_DIFF_LINES]) + more


def _lines(request: Request) -> list[str]:
    head = [
        f"temperature: {request.temperature}",
        f"max_tokens: {request.max_tokens}",
        f"seed: {request.seed}",
        f"stop: {list(request.stop)}",
    ]
    return [*head, *rendered(request).splitlines()]


def _likeness(a: set[str], b: set[str]) -> float:
    """Words in both / words in either (Jaccard)."""
    return len(a & b) / max(1, len(a | b))
