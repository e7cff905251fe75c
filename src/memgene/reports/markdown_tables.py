"""Tables and lines of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], numbers: int | None = None
) -> list[str]:
    """Rows under a head; `numbers` columns after the first are right-aligned (None: all)."""
    right = len(head) - 1 if numbers is None else numbers
    rule = ["---"] + ["---:"] * right + ["---"] * (len(head) - 1 - right)
    return [_row(head), _row(rule), *(_row(row) for row in rows)]


def line(text: str) -> str:
    """Text on one line, without what Markdown would take for HTML."""
    return " ".join(text.split()).replace("<", "&lt;")


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
