"""Which messages the lines that a program's bank remembers stand for."""

from __future__ import annotations

from dataclasses import replace

from memgene.core import Episode, Hit
from memgene.engine import units_from_episode


class EpisodeLines:
    """Messages of the written episodes by the line that a bank shows them as.

    A program is handed an episode's text, without ids. A line that several messages have stands for
    all of them: nobody who reads it can tell them apart.
    """

    def __init__(self) -> None:
        self._waiting: list[Episode] = []
        self._known: dict[str, tuple[str, tuple[str, ...]]] = {}

    def add(self, episode: Episode) -> None:
        """An episode was written."""
        self._waiting.append(episode)

    def referred(self, hit: Hit) -> Hit:
        """The hit with the episode and the messages that its line stands for; as it is where it is
        no message's line."""
        for episode in self._waiting:
            self._read(episode)
        self._waiting = []
        known = self._known.get(hit.rendered)
        return hit if known is None else replace(hit, source=known[0], refs=known[1])

    def _read(self, episode: Episode) -> None:
        for unit in units_from_episode(episode):
            source, refs = self._known.get(unit.rendered, (episode.id, ()))
            new = tuple(ref for ref in unit.refs if ref not in refs)
            self._known[unit.rendered] = source, (*refs, *new)
