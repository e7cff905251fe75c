"""Full context: everything that was written, in order, up to a limit. No retrieval at all."""

from __future__ import annotations

from memgene.core import Context, Episode, Filled, InputError
from memgene.harness.baselines.turns import turns_of
from memgene.harness.plain import PlainHarness

LIMIT = 400_000


class FullContext(PlainHarness):
    """Every turn as `[date] speaker: text (caption)`, one per line, in the order written.

    `limit` is the longest context in characters (about four make a token). Where there is more,
    whole lines are dropped from the beginning, so that the newest stay (of a last line that alone
    is too long, its end); the notes of a context say how many lines are not there in full and how
    many characters that cost (`cut_lines`, `cut_characters`).
    """

    name = "full-context"
    yields_hits = False

    def __init__(self, limit: int = LIMIT) -> None:
        if limit < 1:
            raise InputError(f"full-context limit must be at least 1 character, got {limit}")
        self._limit = limit
        self._lines: list[str] = []
        self._context: Context | None = None

    def write(self, item: Filled, episode: Episode) -> None:
        """Append the episode's turns."""
        self._lines.extend(unit.rendered for unit in turns_of(episode))
        self._context = None

    def read(self, query: Filled) -> Context:
        """The same context for every query."""
        if self._context is None:
            self._context = self._build()
        return self._context

    def close(self) -> None:
        """Forget everything."""
        self._lines.clear()
        self._context = None

    def _build(self) -> Context:
        whole = "\n".join(self._lines)
        first, left = 0, len(whole)
        while left > self._limit and first < len(self._lines):
            left -= len(self._lines[first]) + 1
            first += 1
        text = "\n".join(self._lines[first:]) if left > 0 else whole[-self._limit :]
        notes = {"cut_lines": first, "cut_characters": len(whole) - len(text)}
        return Context(text, notes=notes)
