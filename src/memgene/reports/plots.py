"""Two plots: scores over rounds (SVG), and intervals side by side (HTML that fits any width)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from memgene.reports.elements import Markup, Piece, element, join
from memgene.reports.model import Round, Verdict
from memgene.reports.numbers import points

_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 16, 16, 46
_BELOW = 9  # where candidates without a score are marked, under the lowest tick


@dataclass(frozen=True, slots=True)
class _Frame:
    """Maps rounds and scores to coordinates."""

    width: int
    height: int
    first: int
    last: int
    low: float
    high: float

    def x(self, number: float) -> float:
        span = max(1, self.last - self.first)
        room = self.width - _LEFT - _RIGHT
        return _LEFT + 12 + (number - self.first) / span * (room - 24)

    def y(self, score: float) -> float:
        room = self.height - _TOP - _BOTTOM
        return _TOP + (self.high - score) / (self.high - self.low) * room


def trajectory(
    rounds: Sequence[Round], metric: str, step: str, *, width: int, height: int = 260
) -> Markup:
    """Score on val per step (round or iteration), the best so far as a stepped line, a mark per
    candidate: at its score, or under the scale where it was refused before it had one."""
    drawn = [r for r in rounds if r.score is not None or r.verdict is Verdict.REFUSED]
    scores = [r.score for r in drawn if r.score is not None]
    if not scores:
        return element("p", f"No {step} has a score yet.", class_="quiet")
    scores += [r.best for r in drawn if r.best is not None]
    ticks = round_ticks(min(scores), max(scores))
    frame = _Frame(width, height, drawn[0].number, drawn[-1].number, ticks[0], ticks[-1])
    label = f"{metric} on val per {step}, from {points(scores[0])} to {points(max(scores))}"
    numbers = list(dict.fromkeys(r.number for r in drawn))
    body = [
        *_axes(frame, ticks, numbers, step),
        _best_line(frame, drawn),
        *(_mark(frame, r, step) for r in drawn),
    ]
    inner = join(body).html
    return Markup(
        f'<svg role="img" aria-label="{escape(label, quote=True)}" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">{inner}</svg>'
    )


def legend(verdicts: Sequence[Verdict]) -> Markup:
    """What the marks of `trajectory` mean, for the verdicts there can be."""
    frame = _Frame(18, 18, 0, 1, 0.0, 1.0)
    entries = []
    for verdict in verdicts:
        shape = _shape(verdict, frame.width / 2, frame.height / 2).html
        mark = Markup(f'<svg viewBox="0 0 18 18" width="18" height="18">{shape}</svg>')
        entries.append(element("span", mark, " ", verdict.value))
    line = '<svg viewBox="0 0 26 18" width="26" height="18"><path class="best" d="M2 9H24"/></svg>'
    entries.append(element("span", Markup(line), " best so far"))
    return element("p", *entries, class_="legend")


@dataclass(frozen=True, slots=True)
class Bar:
    """A point with its interval; `strong` ones are drawn in the accent colour."""

    name: str
    mean: float
    low: float
    high: float
    text: str
    strong: bool = False


def intervals(bars: Sequence[Bar], zero: bool = False) -> Markup:
    """Points with intervals on one common scale; `zero` draws the line of no difference."""
    if not bars:
        return Markup("")
    low, high = min(b.low for b in bars), max(b.high for b in bars)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    room = (high - low) or 1.0
    low, high = low - 0.04 * room, high + 0.04 * room

    def place(value: float) -> float:
        return 100 * (value - low) / (high - low)

    rows: list[Piece] = []
    for bar in bars:
        span = f"left:{place(bar.low):.2f}%;width:{place(bar.high) - place(bar.low):.2f}%"
        track: list[Piece] = []
        if zero:
            track.append(element("i", class_="zero", style=f"left:{place(0.0):.2f}%"))
        track.append(element("i", class_="span", style=span))
        track.append(element("i", class_="dot", style=f"left:{place(bar.mean):.2f}%"))
        rows.append(
            element(
                "div",
                element("span", bar.name, class_="name"),
                element("span", *track, class_="track"),
                element("span", bar.text, class_="text"),
                class_="bar strong" if bar.strong else "bar",
            )
        )
    return element("div", *rows, class_="bars")


def round_ticks(low: float, high: float) -> list[float]:
    """Round numbers that enclose both scores, three to seven of them."""
    room = max(high - low, 0.01)
    step = next(s for s in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1e9) if room / s <= 5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if first == last:
        first, last = first - 1, last + 1
    return [round(n * step, 6) for n in range(first, last + 1)]


def tick_label(tick: float) -> str:
    """A tick in points, without a decimal where it is a whole number."""
    return f"{100 * tick:.4g}"


def _axes(frame: _Frame, ticks: Sequence[float], numbers: Sequence[int], step: str) -> list[Markup]:
    parts = []
    for tick in ticks:
        y = frame.y(tick)
        parts.append(
            Markup(
                f'<path class="grid" d="M{_LEFT} {y:.1f}H{frame.width - _RIGHT}"/>'
                f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick_label(tick)}</text>'
            )
        )
    every = max(1, math.ceil(len(numbers) / (frame.width / 40)))
    base = frame.height - _BOTTOM + 28
    parts += [
        Markup(f'<text x="{frame.x(number):.1f}" y="{base}" text-anchor="middle">{number}</text>')
        for number in numbers[::every]
    ]
    middle = (_LEFT + frame.width - _RIGHT) / 2
    parts.append(
        Markup(f'<text x="{middle:.0f}" y="{base + 15}" text-anchor="middle">{step}</text>')
    )
    return parts


def _best_line(frame: _Frame, rounds: Sequence[Round]) -> Markup:
    path: list[str] = []
    for round_ in rounds:
        if round_.best is None:
            continue
        x, y = frame.x(round_.number), frame.y(round_.best)
        path.append(f"H{x:.1f}V{y:.1f}" if path else f"M{x:.1f} {y:.1f}")
    return Markup(f'<path class="best" d="{"".join(path)}"/>' if path else "")


def _mark(frame: _Frame, round_: Round, step: str) -> Markup:
    y = frame.y(frame.low) + _BELOW if round_.score is None else frame.y(round_.score)
    shape = _shape(round_.verdict, frame.x(round_.number), y).html
    score = "" if round_.score is None else f"{points(round_.score)}, "
    candidate = "" if round_.name == str(round_.number) else f", {round_.name}"
    words = f"{step} {round_.number}{candidate}: {score}{round_.verdict.value}"
    return Markup(f"<g><title>{escape(words)}</title>{shape}</g>")


def _shape(verdict: Verdict, x: float, y: float) -> Markup:
    """A filled circle for what was kept, a hollow one for what was not, a square for what the
    search began with, a triangle for a revert, a cross for a refusal."""
    if verdict is Verdict.REFUSED:
        path = f"M{x - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10"
        return Markup(f'<path class="mark refused" d="{path}"/>')
    if verdict is Verdict.REVERTED:
        path = f"M{x - 6:.1f} {y - 5:.1f}H{x + 6:.1f}L{x:.1f} {y + 6:.1f}Z"
        return Markup(f'<path class="mark reverted" d="{path}"/>')
    if verdict in (Verdict.START, Verdict.SEED):
        return Markup(
            f'<rect class="mark start" x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10"/>'
        )
    kind = "accepted" if verdict is Verdict.BEST else verdict.value
    return Markup(f'<circle class="mark {kind}" cx="{x:.1f}" cy="{y:.1f}" r="5.5"/>')
