"""How numbers are written: scores in points of a hundred, durations in words."""

from __future__ import annotations


def points(value: float | None) -> str:
    """A share as points with one decimal: 0.8234 → `82.3`."""
    return "–" if value is None else f"{100 * value:.1f}"


def signed(value: float | None) -> str:
    """A difference of shares in points, with its sign (a real minus)."""
    if value is None:
        return "–"
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "−")


def interval(low: float, high: float) -> str:
    """`[80.1, 84.2]`."""
    return f"[{100 * low:.1f}, {100 * high:.1f}]".replace("-", "−")


def probability(p: float | None) -> str:
    """A p value; below 0.001 it is said so."""
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def duration(seconds: float | None) -> str:
    """`7.4 s`, `3 min 05 s`, `2 h 10 min`."""
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number with its noun: `1 memory`, `3 memories`."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def value(item: object) -> str:
    """A lever's value: short, without needless digits."""
    if isinstance(item, bool):
        return "on" if item else "off"
    if isinstance(item, float):
        return f"{item:.4g}"
    return "–" if item is None else str(item)
