"""Small pieces of HTML. Everything that is not markup made here is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

_VOID = frozenset({"br"})


@dataclass(frozen=True, slots=True)
class Markup:
    """Text that is HTML already."""

    html: str

    def __str__(self) -> str:
        return self.html


Piece = Markup | str | int | float | None


def render(piece: Piece) -> str:
    """HTML of a piece: markup as it is, anything else escaped, None as a dash."""
    if isinstance(piece, Markup):
        return piece.html
    return "–" if piece is None else escape(str(piece), quote=True)


def element(tag: str, *children: Piece, **attributes: str) -> Markup:
    """One element; `class_` stands for `class`, `_` in other names for `-`."""
    named = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value, quote=True)}"'
        for name, value in attributes.items()
    )
    if tag in _VOID:
        return Markup(f"<{tag}{named}>")
    return Markup(f"<{tag}{named}>{''.join(map(render, children))}</{tag}>")


def join(pieces: Iterable[Piece]) -> Markup:
    """Pieces one after another."""
    return Markup("".join(map(render, pieces)))


def section(title: str, *children: Piece, lead: Piece = "") -> Markup:
    """A headed part of the page."""
    parts: list[Piece] = [element("h2", title)]
    if lead:
        parts.append(element("p", lead, class_="lead"))
    return element("section", *parts, *children)


def table(head: Sequence[Piece], rows: Iterable[Sequence[Piece]], numeric_from: int = 1) -> Markup:
    """A table that scrolls sideways where the screen is narrow.

    Columns from `numeric_from` on are right-aligned.
    """

    def cells(tag: str, row: Sequence[Piece]) -> list[Markup]:
        return [
            element(tag, cell, class_="number") if place >= numeric_from else element(tag, cell)
            for place, cell in enumerate(row)
        ]

    body = [element("tr", *cells("td", row)) for row in rows]
    return element(
        "div",
        element(
            "table",
            element("thead", element("tr", *cells("th", head))),
            element("tbody", *body),
        ),
        class_="scroll",
    )


def details(summary: Piece, *children: Piece, open_: bool = False) -> Markup:
    """A part that is folded away."""
    inner = join((element("summary", summary), *children)).html
    return Markup(f"<details{' open' if open_ else ''}>{inner}</details>")
