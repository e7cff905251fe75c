"""The score of a joint evolution over its passes, on a band in the colour of each arm (SVG)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from memgene.reports.elements import Markup, element, join
from memgene.reports.joint_model import Joint, Pass
from memgene.reports.numbers import points, signed
from memgene.reports.plots import round_ticks, tick_label

_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 16, 30, 46
_NAMED = 70  # width of a band that has room for the name of its arm
_NEAR = 0.05  # how far under the genomes the scale reaches at least, for what was tried
_BANDS = ("structure", "parameters", "router", "values")


@dataclass(frozen=True, slots=True)
class _Frame:
    """Maps passes (one unit wide, the first from 0 to 1) and scores to coordinates."""

    width: int
    height: int
    passes: int
    low: float
    high: float

    def x(self, place: float) -> float:
        room = self.width - _LEFT - _RIGHT - 12
        return _LEFT + 6 + place / max(1, self.passes) * room

    def y(self, score: float) -> float:
        room = self.height - _TOP - _BOTTOM
        return _TOP + (self.high - score) / (self.high - self.low) * room


def trajectory(found: Joint, metric: str, *, width: int, height: int = 300) -> Markup:
    """The best score on val as a stepped line; squares are genomes between passes, filled where
    they were accepted, dots what the searches inside the passes tried."""
    scores = _scores(found)
    if not scores:
        return element("p", "No pass has a score yet.", class_="quiet")
    ticks = round_ticks(min(scores), max(scores))
    frame = _Frame(width, height, len(found.passes), ticks[0], ticks[-1])
    body = [
        *(_band(frame, place, one) for place, one in enumerate(found.passes)),
        *_scale(frame, ticks),
        *(dot for place, one in enumerate(found.passes) for dot in _tried(frame, place, one)),
        _best(frame, found),
        *_genomes(frame, found),
        _axis(frame),
    ]
    ends = [one.best for one in found.passes if one.best is not None]
    span = f" from {points(found.start)} to {points(ends[-1])}" if ends else ""
    label = f"Best {metric} on val over {len(found.passes)} passes{span}"
    return Markup(
        f'<svg role="img" aria-label="{escape(label, quote=True)}" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">{join(body).html}</svg>'
    )


def legend(found: Joint) -> Markup:
    """What bands, line, squares and dots mean."""
    entries = [
        _key(f'<rect class="band {band(arm)}" x="1" y="2" width="24" height="14"/>', arm)
        for arm in dict.fromkeys(one.arm for one in found.passes)
    ]
    entries += [
        _key('<path class="best" d="M2 9H24"/>', "best so far"),
        _key(_square(13, 9, accepted=True), "genome, accepted"),
        _key(_square(13, 9, accepted=False), "not accepted"),
        _key('<circle class="tried" cx="13" cy="9" r="2.5"/>', "tried inside a pass"),
    ]
    return element("p", *entries, class_="legend")


def band(arm: str) -> str:
    """The class of an arm's colour; what is none of the four (all at once) has one of its own."""
    return arm if arm in _BANDS else "both"


def _scores(found: Joint) -> list[float]:
    """Scores that the scale reaches: of all genomes, and of what was tried unless that lies as far
    under them again as they spread; such a one is drawn at the lower edge."""
    told = [found.start, *(s for one in found.passes for s in (one.score, one.best))]
    genomes = [score for score in told if score is not None]
    tried = [r.score for one in found.passes for r in one.rounds if r.score is not None]
    if not genomes:
        return tried
    low, high = min(genomes), max(genomes)
    floor = low - max(_NEAR, high - low)
    return [*genomes, *(score for score in tried if score >= floor)]


def _band(frame: _Frame, place: int, one: Pass) -> Markup:
    """The band of a pass; the name of its arm above it where there is room, else a letter."""
    left, right = frame.x(place), frame.x(place + 1)
    bottom = frame.height - _BOTTOM
    name = one.arm if right - left > _NAMED else one.arm[:1]
    gain = f"gain {signed(one.gain)}" if one.finished else "goes on"
    words = f"pass {one.number}: {one.arm}, {gain}, {one.questions} questions"
    return Markup(
        f"<g><title>{escape(words)}</title>"
        f'<rect class="band {band(one.arm)}" x="{left + 1:.1f}" y="{_TOP - 8}" '
        f'width="{right - left - 2:.1f}" height="{bottom - _TOP + 14}"/>'
        f'<text x="{(left + right) / 2:.1f}" y="{_TOP - 14}" text-anchor="middle">'
        f"{escape(name)}</text>"
        f'<text x="{(left + right) / 2:.1f}" y="{bottom + 28}" text-anchor="middle">'
        f"{one.number}</text></g>"
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


def _tried(frame: _Frame, place: int, one: Pass) -> list[Markup]:
    """Candidates of the search inside a pass, evenly over its band in their order."""
    scored = [each for each in one.rounds if each.score is not None]
    marks = []
    for nth, each in enumerate(scored):
        x = frame.x(place + (nth + 0.5) / len(scored))
        y = frame.y(max(frame.low, each.score or 0.0))
        words = f"pass {one.number}, {each.name}: {points(each.score)}, {each.verdict.value}"
        marks.append(
            Markup(
                f"<g><title>{escape(words)}</title>"
                f'<circle class="tried" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/></g>'
            )
        )
    return marks


def _best(frame: _Frame, found: Joint) -> Markup:
    """The best score after each pass, and the start's before the first."""
    path = [] if found.start is None else [f"M{frame.x(0):.1f} {frame.y(found.start):.1f}"]
    for place, one in enumerate(found.passes, start=1):
        if one.best is not None:
            x, y = frame.x(place), frame.y(one.best)
            path.append(f"H{x:.1f}V{y:.1f}" if path else f"M{x:.1f} {y:.1f}")
    return Markup(f'<path class="best" d="{"".join(path)}"/>' if path else "")


def _genomes(frame: _Frame, found: Joint) -> list[Markup]:
    spots = [(0, "start", found.start, True)]
    spots += [
        (place, f"genome {one.candidate}", one.score, one.accepted)
        for place, one in enumerate(found.passes, start=1)
    ]
    return [
        Markup(
            f"<g><title>{escape(f'{name}: {points(score)} on val')}</title>"
            f"{_square(frame.x(place), frame.y(score), accepted=accepted)}</g>"
        )
        for place, name, score, accepted in spots
        if score is not None
    ]


def _square(x: float, y: float, *, accepted: bool) -> str:
    kind = "genome accepted" if accepted else "genome"
    return f'<rect class="{kind}" x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10"/>'


def _axis(frame: _Frame) -> Markup:
    middle = (_LEFT + frame.width - _RIGHT) / 2
    return Markup(f'<text x="{middle:.0f}" y="{frame.height - 4}" text-anchor="middle">pass</text>')


def _key(drawn: str, name: str) -> Markup:
    mark = Markup(f'<svg viewBox="0 0 26 18" width="26" height="18">{drawn}</svg>')
    return element("span", mark, f" {name}")
