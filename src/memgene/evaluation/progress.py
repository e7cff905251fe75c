"""How long work tells how far it is. Who shows it, and how, is another layer's business."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called in the caller's thread after each finished piece of work."""

    def __call__(self, done: int, total: int, label: str) -> None:
        """`done` of `total` pieces are finished (0 ≤ done ≤ total); `label` names the work."""
        ...
