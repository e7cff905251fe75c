"""Which of the bank's hits a program's text is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memgene.core import Hit

MOST = 200  # hits that are told of one read


def recalled(text: str, found: Sequence[Hit]) -> tuple[list[Hit], int] | None:
    """The hits of a text in its order, then the others that were found; and how many stand in it.

    None where anything stands in it that is no whole line of a hit (`[date] speaker: words`), blank
    lines apart: then it is the program's own text, and no ranking.
    """
    by_head: dict[str, list[Hit]] = {}
    for hit in found:
        by_head.setdefault(hit.rendered.split("\n")[0], []).append(hit)
    lines, place, shown = text.split("\n"), 0, list[Hit]()
    while place < len(lines):
        if not lines[place].strip():
            place += 1
            continue
        standing = _standing(lines, place, by_head.get(lines[place], ()))
        if standing is None:
            return None
        shown.append(standing)
        place += standing.rendered.count("\n") + 1
    ids = {hit.id for hit in shown}
    rest = [hit for hit in found if hit.id not in ids]
    return [*shown, *rest][:MOST], min(len(shown), MOST)


def packed(hit: Hit) -> Mapping[str, Any]:
    """A hit as JSON."""
    return {
        "id": hit.id,
        "text": hit.text,
        "rendered": hit.rendered,
        "score": hit.score,
        "source": hit.source,
        "speaker": hit.speaker,
        "time": None if hit.event_time is None else hit.event_time.isoformat(),
        "metadata": dict(hit.metadata),
    }


def _standing(lines: Sequence[str], place: int, offered: Sequence[Hit]) -> Hit | None:
    """The longest hit whose lines stand here."""
    fitting = [
        hit
        for hit in offered
        if hit.rendered.split("\n") == lines[place : place + hit.rendered.count("\n") + 1]
    ]
    return max(fitting, key=lambda hit: hit.rendered.count("\n"), default=None)
