"""The graph around a question as SVG: what was shown on the left, by rank, neighbours beside it.

The layout is computed from the picture alone: a column for each distance from what was shown,
in it each memory near those that it is linked with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from memgene.bank.protocol import RelationKind
from memgene.evolution.coevolve.picture import GraphPicture, PictureEdge, PictureNode
from memgene.reports.elements import Markup, Piece, details, element, join, table

_ROW, _TOP, _RADIUS = 30, 24, 8
_NEUTRAL = 0.5
_LETTER = 6.4  # width of a letter at 12 px, on the safe side
_ASIDE = {RelationKind.DENSE: -2.5, RelationKind.SPARSE: 2.5, RelationKind.TIME: 0.0}
"""How far the curves of a kind are moved, so that those of a pair do not cover each other."""


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a node is drawn: its column, and the centre of its mark."""

    node: PictureNode
    column: int
    x: float
    y: float


def drawing(found: GraphPicture, *, width: int, labels: bool) -> Markup:
    """The picture; with `labels` the first words of each memory stand beside it."""
    columns = _columns(found)
    rows = max((len(column) for column in columns), default=0)
    height = _TOP * 2 + max(1, rows) * _ROW
    spots = _spots(columns, width, height, labels)
    last = len(columns) - 1
    room = width * 0.36
    body = [
        *(_edge(edge, spots[edge.source], spots[edge.target], last) for edge in found.edges),
        *(_mark(spot, last, int(room / _LETTER) if labels else 0) for spot in spots.values()),
    ]
    shown = sum(node.rank is not None for node in found.nodes)
    label = (
        f"{shown} memories that were shown, {len(found.nodes) - shown} neighbours, "
        f"{len(found.edges)} edges"
    )
    return Markup(
        f'<svg role="img" aria-label="{escape(label, quote=True)}" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">{join(body).html}</svg>'
    )


def legend() -> Markup:
    """What strokes, colours and shapes mean."""
    lines = {
        RelationKind.DENSE: "near in meaning",
        RelationKind.SPARSE: "share rare words",
        RelationKind.TIME: "earlier to later",
    }
    entries = [
        _key(f'<path class="edge {kind}" d="M2 9H24"/>', name) for kind, name in lines.items()
    ]
    entries += [
        _key('<circle class="node high" fill-opacity="1" cx="13" cy="9" r="7"/>', "value above ½"),
        _key('<circle class="node low" fill-opacity="1" cx="13" cy="9" r="7"/>', "below ½"),
        _key('<rect class="node high" fill-opacity="0" x="6" y="2" width="14" height="14"/>',
             "distilled"),
    ]  # fmt: skip
    return element("p", *entries, class_="legend")


def listing(found: GraphPicture) -> Markup:
    """The memories of the picture as a table."""
    rows: list[Sequence[Piece]] = [
        (
            f"{node.rank}" if node.rank is not None else "",
            node.text or element("code", node.id),
            "distilled" if node.distilled else "",
            f"{node.value:.2f}",
            node.exposures,
        )
        for node in found.nodes
    ]
    head = ("rank", "memory", "", "value", "exposures")
    return details("The memories in the picture", table(head, rows, numeric_from=3))


def _columns(found: GraphPicture) -> list[list[PictureNode]]:
    """Nodes by their distance from what was shown; in a column each stands near its links."""
    linked: dict[str, set[str]] = {node.id: set() for node in found.nodes}
    for edge in found.edges:
        linked[edge.source].add(edge.target)
        linked[edge.target].add(edge.source)
    layer = sorted((n for n in found.nodes if n.rank is not None), key=lambda n: n.rank or 0)
    waiting = {node.id: node for node in found.nodes if node.rank is None}
    columns = [layer]
    place = {node.id: float(row) for row, node in enumerate(layer)}
    while waiting:
        near = [node for node in waiting.values() if not linked[node.id].isdisjoint(place)]
        near = near or list(waiting.values())
        for node in near:
            del waiting[node.id]
        known = dict(place)
        near.sort(key=lambda node: (_middle(linked[node.id], known), node.id))
        place.update((node.id, float(row)) for row, node in enumerate(near))
        columns.append(near)
    return [column for column in columns if column]


def _middle(linked: set[str], place: Mapping[str, float]) -> float:
    rows = sorted(place[name] for name in linked if name in place)
    return sum(rows) / len(rows) if rows else 0.0


def _spots(
    columns: Sequence[Sequence[PictureNode]], width: int, height: int, labels: bool
) -> dict[str, _Spot]:
    """Columns share the middle where labels stand at both sides, else the whole width."""
    margin = width * 0.38 if labels else 70.0
    between = (width - 2 * margin) / max(1, len(columns) - 1)
    found = {}
    for column, nodes in enumerate(columns):
        step = (height - 2 * _TOP) / len(nodes)
        for row, node in enumerate(nodes):
            x, y = margin + column * between, _TOP + (row + 0.5) * step
            found[node.id] = _Spot(node, column, x, y)
    return found


def _edge(edge: PictureEdge, source: _Spot, target: _Spot, last: int) -> Markup:
    """A curve between columns, or a bow inside one towards the others; in time, with an arrow."""
    start, end = source.y + _ASIDE[edge.kind], target.y + _ASIDE[edge.kind]
    if source.column == target.column:
        facing = -1 if source.column == last and last else 1
        bend = source.x + facing * (0.22 * abs(end - start) + 24)
    else:
        facing = -1 if target.x > source.x else 1
        bend = (source.x + target.x) / 2
    tip = target.x + facing * (_RADIUS + 2)
    path = f"M{source.x:.1f} {start:.1f}C{bend:.1f} {start:.1f} {bend:.1f} {end:.1f}"
    path += f" {tip:.1f} {end:.1f}"
    words = f"{edge.kind}, weight {edge.weight:.2f}"
    strength = 0.35 + 0.65 * min(1.0, max(0.0, edge.weight))
    arrow = ""
    if edge.kind is RelationKind.TIME:
        back = tip + facing * 7
        arrow = (
            f'<path class="arrow" d="M{tip:.1f} {end:.1f}L{back:.1f} {end - 4:.1f}'
            f'V{end + 4:.1f}Z"/>'
        )
    return Markup(
        f"<g><title>{escape(words)}</title>"
        f'<path class="edge {edge.kind}" stroke-opacity="{strength:.2f}" d="{path}"/>{arrow}</g>'
    )


def _mark(spot: _Spot, last: int, letters: int) -> Markup:
    """A circle (a square when distilled) filled the more, the further the value is from neutral;
    its rank or value beside it, and its first words where there is room for them."""
    node, x, y = spot.node, spot.x, spot.y
    side = "high" if node.value >= _NEUTRAL else "low"
    fill = min(1.0, 2 * abs(node.value - _NEUTRAL))
    kind = f"node {side}{' shown' if node.rank is not None else ''}"
    if node.distilled:
        at = f'x="{x - _RADIUS:.1f}" y="{y - _RADIUS:.1f}"'
        size = f'width="{2 * _RADIUS}" height="{2 * _RADIUS}"'
        shapes = [f'<rect class="under" {at} {size}/>']
        shapes.append(f'<rect class="{kind}" fill-opacity="{fill:.2f}" {at} {size}/>')
    else:
        at = f'cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}"'
        shapes = [f'<circle class="under" {at}/>']
        shapes.append(f'<circle class="{kind}" fill-opacity="{fill:.2f}" {at}/>')
    told = f"{node.rank}. " if node.rank is not None else ""
    words = f"{told}{node.text or node.id} (value {node.value:.2f})"
    anchor, shift = ("end", -14) if spot.column == 0 else ("start", 14)
    beside = f"{told}{node.value:.2f}"
    if letters and spot.column in (0, last):
        beside = f"{told}{_cut(node.text or node.id, letters - 9)} {node.value:.2f}"
    return Markup(
        f"<g><title>{escape(words)}</title>{''.join(shapes)}"
        f'<text x="{x + shift:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}">{escape(beside)}</text>'
        "</g>"
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _key(drawn: str, name: str) -> Markup:
    mark = Markup(f'<svg viewBox="0 0 26 18" width="26" height="18">{drawn}</svg>')
    return element("span", mark, f" {name}")
