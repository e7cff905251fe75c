"""Plots of a co-evolution: rewards of its passes with a band a phase, and how values lie (SVG)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from memgene.evolution.coevolve.events import PhaseFinished
from memgene.evolution.coevolve.steps import Phase
from memgene.reports.elements import Markup, element, join
from memgene.reports.numbers import points
from memgene.reports.plots import round_ticks, tick_label

_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 16, 30, 46
_BINS = 20
_NEUTRAL = 0.5


@dataclass(frozen=True, slots=True)
class _Frame:
    """Maps phases (one unit wide, from 0) and scores to coordinates."""

    width: int
    height: int
    phases: int
    low: float
    high: float

    def x(self, place: float) -> float:
        room = self.width - _LEFT - _RIGHT - 12
        return _LEFT + 6 + place / max(1, self.phases) * room

    def y(self, score: float) -> float:
        room = self.height - _TOP - _BOTTOM
        return _TOP + (self.high - score) / (self.high - self.low) * room


def training_curve(
    phases: Sequence[PhaseFinished],
    scores: Mapping[str, float],
    start: str,
    metric: str,
    *,
    width: int,
    height: int = 280,
) -> Markup:
    """Mean rewards of the parts of every pass, in order, on a band in the colour of who learned;
    squares are the scores on val of the states between the passes."""
    rewards = [part for phase in phases for part in phase.curve]
    shown = [*rewards, *scores.values()]
    if not phases or not shown:
        return element("p", "No phase is finished yet.", class_="quiet")
    ticks = round_ticks(min(shown), max(shown))
    frame = _Frame(width, height, len(phases), ticks[0], ticks[-1])
    states = [start, *(phase.candidate for phase in phases)]
    body = [
        *(_band(frame, place, phase) for place, phase in enumerate(phases)),
        *_scale(frame, ticks),
        *(_line(frame, place, phase) for place, phase in enumerate(phases)),
        *(
            _state(frame, place, name, scores[name])
            for place, name in enumerate(states)
            if name in scores
        ),
        _axis(frame, "phase"),
    ]
    ends = [phase.reward for phase in phases if phase.reward is not None]
    span = f", from {points(ends[0])} to {points(ends[-1])}" if ends else ""
    return _svg(f"{metric} as reward over {len(phases)} phases{span}", frame, body)


def training_legend(phases: Sequence[PhaseFinished]) -> Markup:
    """What bands, line and squares mean."""

    def drawn(inner: str) -> Markup:
        return Markup(f'<svg viewBox="0 0 26 18" width="26" height="18">{inner}</svg>')

    kinds = [kind for kind in Phase if any(phase.phase == kind for phase in phases)]
    names = {Phase.ROUTER: "router learns", Phase.MEMORY: "memory learns", Phase.BOTH: "both learn"}
    entries = [
        element(
            "span",
            drawn(f'<rect class="band {kind}" x="1" y="2" width="24" height="14"/>'),
            f" {names[kind]}",
        )
        for kind in kinds
    ]
    entries.append(element("span", drawn('<path class="best" d="M2 9H24"/>'), " reward (training)"))
    square = '<rect class="state" x="8" y="4" width="10" height="10"/>'
    entries.append(element("span", drawn(square), " score on val"))
    return element("p", *entries, class_="legend")


def histogram(values: Sequence[float], *, width: int, height: int = 180) -> Markup:
    """How many values lie in each twentieth of [0, 1]; the line marks the neutral value."""
    counts = [0] * _BINS
    for value in values:
        counts[min(_BINS - 1, max(0, int(value * _BINS + 1e-9)))] += 1
    frame = _Frame(width, height, 1, 0.0, float(max(counts) or 1))
    base = frame.y(0)
    bars = []
    for place, count in enumerate(counts):
        left, right = frame.x(place / _BINS), frame.x((place + 1) / _BINS)
        words = f"{place / _BINS:.2f} to {(place + 1) / _BINS:.2f}: {count}"
        top = frame.y(count)
        bars.append(
            Markup(
                f"<g><title>{words}</title>"
                f'<rect class="column" x="{left + 1:.1f}" y="{top:.1f}" '
                f'width="{right - left - 2:.1f}" height="{base - top:.1f}"/></g>'
            )
        )
    middle = frame.x(_NEUTRAL)
    marks = [
        Markup(f'<path class="grid" d="M{_LEFT} {base:.1f}H{width - _RIGHT}"/>'),
        Markup(f'<path class="neutral" d="M{middle:.1f} {_TOP - 8}V{base:.1f}"/>'),
        *(
            Markup(
                f'<text x="{frame.x(at):.1f}" y="{base + 16:.1f}" text-anchor="middle">'
                f"{at:g}</text>"
            )
            for at in (0, 0.25, 0.5, 0.75, 1)
        ),
        Markup(f'<text x="{_LEFT - 8}" y="{_TOP + 4}" text-anchor="end">{max(counts)}</text>'),
        _axis(frame, "value"),
    ]
    return _svg(f"How {len(values)} values lie between 0 and 1", frame, [*marks, *bars])


def _svg(label: str, frame: _Frame, body: Sequence[Markup]) -> Markup:
    return Markup(
        f'<svg role="img" aria-label="{escape(label, quote=True)}" '
        f'viewBox="0 0 {frame.width} {frame.height}" width="{frame.width}" '
        f'height="{frame.height}">{join(body).html}</svg>'
    )


def _band(frame: _Frame, place: int, phase: PhaseFinished) -> Markup:
    """The band of a phase; its name above it where there is room, else its first letter."""
    left, right = frame.x(place), frame.x(place + 1)
    bottom = frame.height - _BOTTOM
    name = phase.phase if right - left > 48 else phase.phase[:1]
    words = f"phase {phase.number}: {phase.phase}, cycle {phase.cycle}, {points(phase.reward)}"
    return Markup(
        f"<g><title>{escape(words)}</title>"
        f'<rect class="band {escape(phase.phase, quote=True)}" x="{left + 1:.1f}" y="{_TOP - 8}" '
        f'width="{right - left - 2:.1f}" height="{bottom - _TOP + 14}"/>'
        f'<text x="{(left + right) / 2:.1f}" y="{_TOP - 14}" text-anchor="middle">'
        f"{escape(name)}</text>"
        f'<text x="{(left + right) / 2:.1f}" y="{bottom + 28}" text-anchor="middle">'
        f"{phase.number}</text></g>"
    )


def _scale(frame: _Frame, ticks: Sequence[float]) -> list[Markup]:
    return [
        Markup(
            f'<path class="grid" d="M{_LEFT} {frame.y(tick):.1f}H{frame.width - _RIGHT}"/>'
            f'<text x="{_LEFT - 8}" y="{frame.y(tick) + 4:.1f}" text-anchor="end">'
            f"{tick_label(tick)}</text>"
        )
        for tick in ticks
    ]


def _line(frame: _Frame, place: int, phase: PhaseFinished) -> Markup:
    """Rewards of a pass; a single part is a short line."""
    parts = len(phase.curve)
    spots = [
        (frame.x(place + (part + 0.5) / parts), frame.y(reward))
        for part, reward in enumerate(phase.curve)
    ]
    if not spots:
        return Markup("")
    if parts == 1:
        (x, y), half = spots[0], 0.3 * (frame.x(1) - frame.x(0))
        return Markup(f'<path class="best" d="M{x - half:.1f} {y:.1f}H{x + half:.1f}"/>')
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in spots)
    return Markup(f'<path class="best" d="M{path}"/>')


def _state(frame: _Frame, place: int, name: str, score: float) -> Markup:
    x, y = frame.x(place), frame.y(score)
    words = f"state {name}: {points(score)} on val"
    return Markup(
        f"<g><title>{escape(words)}</title>"
        f'<rect class="state" x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10"/></g>'
    )


def _axis(frame: _Frame, name: str) -> Markup:
    middle = (_LEFT + frame.width - _RIGHT) / 2
    return Markup(
        f'<text x="{middle:.0f}" y="{frame.height - 4}" text-anchor="middle">{escape(name)}</text>'
    )
