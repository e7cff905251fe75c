"""The landscape of programs as SVG: colour, shape, strength and lines, each with a word beside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType

from memgene.reports.elements import Markup, Piece, details, element, join, table
from memgene.reports.landscape_model import Landscape, Spot
from memgene.reports.landscape_projection import Method
from memgene.reports.landscape_storage import Storage
from memgene.reports.numbers import points

TONES = 8
_MARGIN, _RADIUS, _PALEST = 22, 6.5, 0.15
_GOLDEN = math.pi * (3 - math.sqrt(5))  # what stands on one point is laid out as sunflower seeds
_SEED_ROOM = 8.5


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A program with the centre of its mark."""

    spot: Spot
    x: float
    y: float


def drawing(found: Landscape, metric: str, *, width: int, height: int) -> Markup:
    """Every program at its place, lines from parents to children, the best ringed."""
    drawn = _layout(found.spots, width, height)
    tones = _tones(found.groups)
    strengths = _strengths(found)
    children = [each for each in drawn.values() if each.spot.parent in drawn]
    in_order = sorted(drawn.values(), key=lambda each: (each.spot.best, each.spot.score or 0.0))
    body = [
        *(_descent(drawn[each.spot.parent or ""], each) for each in children),
        *(
            _mark(each, tones[each.spot.group], strengths.get(each.spot.name), metric)
            for each in in_order
        ),
    ]
    storages = len({spot.storage for spot in found.spots})
    label = (
        f"{len(drawn)} programs of {storages} storage architectures by how alike their code is, "
        f"coloured by {found.grouped_by}, with {len(children)} lines from parents to children"
    )
    return Markup(
        f'<svg role="img" aria-label="{escape(label, quote=True)}" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">'
        f'<rect class="frame" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}"/>'
        f"{join(body).html}</svg>"
    )


def legend(found: Landscape) -> Markup:
    """What colours, shapes, strengths, lines and rings mean."""
    tones = _tones(found.groups)
    named: dict[str, list[str]] = {}
    for group in found.groups:
        named.setdefault(tones[group], []).append(group)
    colours = [
        _key(f'<circle class="spot {tone}" cx="13" cy="9" r="6"/>', _told(groups))
        for tone, groups in named.items()
    ]
    shapes = [_key(_shape(kind, 13, 9, "spot plain", ""), str(kind)) for kind in found.storages]
    others = [_key('<circle class="ring" cx="13" cy="9" r="8"/>', "best")]
    scores = {spot.score for spot in found.spots if spot.score is not None}
    if len(scores) > 1:
        pale = _shape(Storage.VECTOR, 13, 9, "spot plain", f' fill-opacity="{_PALEST}"')
        ranked = f"by rank within its {found.grouped_by}" if found.apart else "by rank"
        others.append(_key(pale, f"lowest score (paler {ranked})"))
    if any(spot.score is None for spot in found.spots):
        hollow = _shape(Storage.VECTOR, 13, 9, "spot plain hollow", "")
        others.append(_key(hollow, "without a score"))
    if any(spot.parent for spot in found.spots):
        line = '<path class="descent" d="M2 9H24"/><path class="tip" d="M17 9l-7 -3.5v7z"/>'
        others.append(_key(line, "parent to child"))
    return join(element("p", *part, class_="legend") for part in (colours, shapes, others))


def listing(found: Landscape) -> Markup:
    """The programs of the picture as a table."""
    by = found.grouped_by
    rows: list[Sequence[Piece]] = [
        (
            element("b", spot.name) if spot.best else spot.name,
            spot.parent,
            str(spot.storage),
            spot.group,
            points(spot.score),
            spot.title,
        )
        for spot in found.spots
    ]
    head = ("program", "from", "storage", by, "score", "what it is")
    return details("The programs of the picture", table(head, rows, numeric_from=99))


def about(found: Landscape) -> str:
    """How to read the picture, and how it was made."""
    words = (
        "Programs stand near one another where their code works alike: names, texts and numbers "
        "were replaced by placeholders, and the tokens and token pairs of what is left compared. "
        f"Projected by {found.method}."
    )
    if found.method is Method.TSNE:
        words += " Neighbours mean something, distances between clusters and axes do not."
    if found.unread:
        words += f" Left out as they are no Python: {found.unread}."
    return words


def _layout(spots: Sequence[Spot], width: int, height: int) -> Mapping[str, _Drawn]:
    """Centres of the marks; programs on one point stand around it, the first in its middle."""
    taken: dict[tuple[float, float], int] = {}
    drawn = {}
    for spot in spots:
        nth = taken.get((spot.x, spot.y), 0)
        taken[spot.x, spot.y] = nth + 1
        away, angle = _SEED_ROOM * math.sqrt(nth), nth * _GOLDEN
        x = _MARGIN + spot.x * (width - 2 * _MARGIN) + away * math.cos(angle)
        y = _MARGIN + (1 - spot.y) * (height - 2 * _MARGIN) + away * math.sin(angle)
        x = min(max(x, _MARGIN / 2), width - _MARGIN / 2)
        y = min(max(y, _MARGIN / 2), height - _MARGIN / 2)
        drawn[spot.name] = _Drawn(spot, x, y)
    return drawn


def _strengths(found: Landscape) -> dict[str, float]:
    """How full the colour of each program that has a score is, from _PALEST to 1 by the rank of
    its score: one bad program would make all others look alike by the score itself."""
    ladders: dict[str, set[float]] = {}
    for spot in found.spots:
        if spot.score is not None:
            ladders.setdefault(spot.group if found.apart else "", set()).add(spot.score)
    steps = {where: sorted(scores) for where, scores in ladders.items()}
    strengths = {}
    for spot in found.spots:
        if spot.score is not None:
            ladder = steps[spot.group if found.apart else ""]
            place = ladder.index(spot.score) / (len(ladder) - 1) if len(ladder) > 1 else 1.0
            strengths[spot.name] = _PALEST + (1 - _PALEST) * place
    return strengths


def _tones(groups: Sequence[str]) -> dict[str, str]:
    """A colour for each group; those after the last colour share it."""
    return {group: f"tone-{min(place, TONES - 1)}" for place, group in enumerate(groups)}


def _told(groups: Sequence[str]) -> str:
    return groups[0] if len(groups) == 1 else f"{len(groups)} more"


def _descent(parent: _Drawn, child: _Drawn) -> Markup:
    """A line with a tip in its middle."""
    dx, dy = child.x - parent.x, child.y - parent.y
    length = math.hypot(dx, dy)
    line = f'<path class="descent" d="M{parent.x:.1f} {parent.y:.1f}L{child.x:.1f} {child.y:.1f}"/>'
    if length < 4 * _RADIUS:
        return Markup(line)
    ux, uy = dx / length, dy / length
    x, y = parent.x + 0.55 * dx, parent.y + 0.55 * dy
    wings = "L".join(
        f"{x - 7 * ux + side * 3.5 * uy:.1f} {y - 7 * uy - side * 3.5 * ux:.1f}" for side in (1, -1)
    )
    return Markup(f'{line}<path class="tip" d="M{x:.1f} {y:.1f}L{wings}Z"/>')


def _mark(each: _Drawn, tone: str, strength: float | None, metric: str) -> Markup:
    spot = each.spot
    score = "without a score" if spot.score is None else f"{metric} {points(spot.score)}"
    best = ", best" if spot.best else ""
    title = f": {spot.title}" if spot.title else ""
    words = f"{spot.name}{title} ({spot.storage}, {spot.group}, {score}{best})"
    fill = "" if strength is None else f' fill-opacity="{strength:.2f}"'
    kind = f"spot {tone}{' hollow' if strength is None else ''}"
    ring = (
        f'<circle class="ring" cx="{each.x:.1f}" cy="{each.y:.1f}" r="{_RADIUS + 5}"/>'
        if spot.best
        else ""
    )
    under = _shape(spot.storage, each.x, each.y, "under", "")
    shape = _shape(spot.storage, each.x, each.y, kind, fill)
    return Markup(f"<g><title>{escape(words)}</title>{ring}{under}{shape}</g>")


def _shape(storage: Storage, x: float, y: float, kind: str, more: str) -> str:
    """A shape for each architecture, of about one size."""
    if storage is Storage.VECTOR:
        return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}"{more}/>'
    corners = "L".join(f"{x + dx:.1f} {y + dy:.1f}" for dx, dy in _CORNERS[storage])
    return f'<path class="{kind}" d="M{corners}Z"{more}/>'


def _polygon(count: int, radius: float, turn: float) -> tuple[tuple[float, float], ...]:
    """Corners of a regular polygon; `turn` in degrees, 0 has a corner on top."""
    angles = (math.radians(turn - 90 + 360 * place / count) for place in range(count))
    return tuple((radius * math.cos(a), radius * math.sin(a)) for a in angles)


def _star(rays: int, outer: float, inner: float) -> tuple[tuple[float, float], ...]:
    tips, notches = _polygon(rays, outer, 0), _polygon(rays, inner, 180 / rays)
    return tuple(corner for pair in zip(tips, notches, strict=True) for corner in pair)


_CORNERS: Mapping[Storage, tuple[tuple[float, float], ...]] = MappingProxyType(
    {
        Storage.VECTOR_LLM: _star(4, 9.5, 4.2),
        Storage.SQL: _polygon(4, 8.2, 45),
        Storage.SQL_VECTOR: _polygon(4, 8.6, 0),
        Storage.SQL_LLM: _polygon(6, 7.6, 0),
        Storage.LLM: _star(5, 9.2, 4.4),
        Storage.BANK: _polygon(3, 9.0, 0),
        Storage.PLAIN: _polygon(3, 9.0, 180),
    }
)


def _key(drawn: str, name: str) -> Markup:
    mark = Markup(f'<svg viewBox="0 0 26 18" width="26" height="18">{drawn}</svg>')
    return element("span", mark, f" {name}")
