"""The last parts of the page: categories, cost and time, settings and fingerprints."""

from __future__ import annotations

from collections.abc import Mapping

from memgene.reports.elements import Markup, Piece, details, element, section, table
from memgene.reports.model import RunView
from memgene.reports.numbers import duration, points


def categories(view: RunView) -> Markup:
    """Per-category means on the test questions, with minimum and spread."""
    if not view.categories:
        return Markup("")
    names = list(dict.fromkeys(name for row in view.categories for name in row.means))
    counts = {name: row.means[name][1] for row in view.categories for name in row.means}
    head = ("memory", *(f"{name} ({counts[name]})" for name in names), "lowest", "spread")
    rows = [
        (
            row.name,
            *(points(row.means[name][0]) if name in row.means else None for name in names),
            points(row.minimum),
            points(row.std),
        )
        for row in view.categories
    ]
    lead = (
        f"Mean {view.metric} on test, questions in brackets. "
        "Spread: standard deviation of the categories' means."
    )
    return section("By category", table(head, rows), lead=lead)


def cost(view: RunView) -> Markup:
    """Calls, tokens, money and seconds by role."""
    parts: list[Piece] = []
    words = [f"Wall time {duration(view.seconds)}."]
    if view.evaluations is not None:
        words.append(f" Questions evaluated: {view.evaluations}.")
    if view.usage:
        names = ("calls", "fresh", "tokens", "cost")
        rows = [
            (role, *(_amount(name, used.get(name)) for name in names))
            for role, used in view.usage.items()
        ]
        head = ("role", "calls", "not cached", "tokens", "money")
        parts.append(table(head, rows))
    else:
        words.append(" No model was called: calls, tokens and money are 0.")
    return section("Cost and time", element("p", "".join(words)), *parts)


def settings(view: RunView) -> Markup:
    """The evolved configuration, the run's settings, and fingerprints of the data."""
    parts: list[Piece] = []
    if view.best:
        what = "How its bank retrieves" if view.program else "What evolved"
        parts.append(details(f"{what}: the promoted configuration", _pairs(view.best)))
    if view.settings:
        parts.append(details("Settings of the run", _pairs(view.settings)))
    if view.fingerprints:
        parts.append(details("Fingerprints of the data", _pairs(view.fingerprints)))
    parts += [element("p", note, class_="quiet") for note in view.notes]
    return section("To repeat it", *parts) if parts else Markup("")


def _pairs(values: Mapping[str, str]) -> Markup:
    rows = [(element("code", name), element("code", value)) for name, value in values.items()]
    return table(("name", "value"), rows, numeric_from=99)


def _amount(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if name == "cost" else f"{value:.0f}"
