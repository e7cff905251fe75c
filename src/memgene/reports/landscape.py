"""The landscape of programs (M*): alike where they work alike, whatever their authors named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from memgene.programs.placeholders import placeholders
from memgene.programs.syntax import UnparsableError
from memgene.reports.landscape_model import Landscape, MetProgram, Spot
from memgene.reports.landscape_projection import Plane, project
from memgene.reports.landscape_storage import storage_of
from memgene.reports.landscape_vectors import program_vectors

BANDS = 4
"""Most colours for the steps of one run."""


def landscape(
    met: Sequence[MetProgram], grouped_by: str, *, apart: bool = False
) -> Landscape | None:
    """Where each program stands; None where fewer than two can be read.

    A text that several candidates share (of one group where groups are `apart`) is shown once, as
    the first of them with the best of their scores; children of the others hang from it.
    """
    texts: dict[str, str] = {}
    unread = 0
    shown = _distinct(met, apart)
    for one in shown:
        try:
            texts[one.name] = placeholders(one.source)
        except UnparsableError:
            unread += 1
    drawn = [one for one in shown if one.name in texts]
    if len(drawn) < 2:
        return None
    found = project(program_vectors([texts[one.name] for one in drawn]))
    scaled = _scaled(found.points)
    return Landscape(
        spots=tuple(_spot(one, x, y, texts) for one, (x, y) in zip(drawn, scaled, strict=True)),
        groups=tuple(dict.fromkeys(one.group for one in drawn)),
        grouped_by=grouped_by,
        method=found.method,
        apart=apart,
        unread=unread,
    )


def bands(numbers: Sequence[int], step: str) -> Mapping[int, str]:
    """A colour for each number of a step that is above 0: at most BANDS spans of equal length,
    named as `iterations 6–10`; 0 is where a search began (`seeds`)."""
    last = max(numbers, default=0)
    count = min(BANDS, max(1, last))
    found = {0: "seeds"}
    for number in range(1, last + 1):
        band = (number - 1) * count // last
        first, end = -(-band * last // count) + 1, -(-(band + 1) * last // count)
        found[number] = f"{step} {first}" if first == end else f"{step}s {first}–{end}"
    return found


def _distinct(met: Sequence[MetProgram], apart: bool) -> list[MetProgram]:
    kept: dict[tuple[str, str], MetProgram] = {}
    shown_as: dict[str, str] = {}
    for one in met:
        key = one.source, one.group if apart else ""
        first = kept.setdefault(key, one)
        shown_as[one.name] = first.name
        score = max((s for s in (first.score, one.score) if s is not None), default=None)
        kept[key] = replace(first, score=score, best=first.best or one.best)
    found = []
    for one in kept.values():
        parent = shown_as.get(one.parent or "")
        found.append(replace(one, parent=None if parent == one.name else parent))
    return found


def _spot(one: MetProgram, x: float, y: float, texts: Mapping[str, str]) -> Spot:
    return Spot(
        name=one.name,
        title=one.title,
        group=one.group,
        storage=storage_of(one.source),
        x=float(x),
        y=float(y),
        parent=one.parent if one.parent in texts else None,
        score=one.score,
        best=one.best,
    )


def _scaled(points: Plane) -> Plane:
    """Each axis on [0, 1]: axes have no unit. What does not spread stands in the middle."""
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    wide = span > 1e-9
    return np.where(wide, (points - low) / np.where(wide, span, 1.0), 0.5)
