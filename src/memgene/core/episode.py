"""What is written to memory at once: a session, a trajectory, a solved case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of an episode.

    `id` is what evidence refers to and is unique inside the task. `caption` describes an image
    that came with the turn and belongs to its text.
    """

    text: str
    id: str | None = None
    speaker: str | None = None
    time: datetime | None = None
    caption: str | None = None

    @property
    def content(self) -> str:
        """The words of the turn, its image caption in brackets."""
        return f"{self.text} ({self.caption})" if self.caption else self.text


@dataclass(frozen=True, slots=True)
class Episode:
    """What is written at once. `group` is what splits never cut (conversation, user, scenario)."""

    id: str
    messages: tuple[Message, ...]
    group: str
    time: datetime | None = None
    source: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The whole episode, one line per turn, `speaker: words (caption)`."""
        return "\n".join(
            f"{m.speaker}: {m.content}" if m.speaker else m.content for m in self.messages
        )
