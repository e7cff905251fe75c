"""One question's trace: what was asked, what was found and why, what was answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memgene.evaluation.case import Case, HitTrace
from memgene.reports.elements import Markup, Piece, details, element, join, section, table
from memgene.reports.model import Example, was_asked
from memgene.reports.numbers import points

HITS_SHOWN = 5


def examples(title: str, lead: str, found: tuple[Example, ...], metric: str) -> Markup:
    """Held-out questions before and after, each folded away."""
    if not found:
        return Markup("")
    return section(title, *(_example(e, metric) for e in found), lead=lead)


def trace(case: Case) -> Markup:
    """Answer and first hits with rank and score per view; ✓ marks gold evidence."""
    parts: list[Piece] = [_answer(case)]
    if case.hits is None:
        parts.append(_text(case))
    else:
        rows = [_hit(place, hit, case) for place, hit in enumerate(case.hits[:HITS_SHOWN], 1)]
        parts.append(table(("", "memory, and why it stands there", "score"), rows, numeric_from=2))
        parts.append(element("p", _placed(case), class_="quiet"))
    return join(parts)


def _text(case: Case) -> Markup:
    """What a memory without a ranking returned, folded away."""
    told = element("p", "This memory returns text without a ranking.", class_="quiet")
    if not case.context:
        return told
    shown = element("p", case.context, class_="message")
    return join((told, details("The text it returned", shown)))


def _answer(case: Case) -> Markup:
    if case.error is not None:
        return element("p", element("b", "Error: "), case.error)
    if case.failure is not None:
        return element("p", element("b", "The memory broke: "), case.failure)
    if not was_asked(case):
        words = "No answer was asked for: the metric looks at the ranking alone."
        return element("p", words, class_="quiet")
    return element(
        "p",
        element("b", "Answer: "),
        case.answer or "(no answer)",
        element("span", f" ({case.rule})", class_="quiet") if case.rule else "",
    )


def _example(example: Example, metric: str) -> Markup:
    before, after = example.before, example.after
    summary = join(
        (
            element(
                "b", f"{points(before.scores.get(metric))} → {points(after.scores.get(metric))}"
            ),
            " ",
            after.question,
        )
    )
    gold = " / ".join(after.gold) or "(not answerable)"
    return details(
        summary,
        element(
            "p",
            element("b", "Gold: "),
            gold,
            element("span", f" ({after.category})", class_="quiet"),
        ),
        element("h3", "Start"),
        trace(before),
        element("h3", "Evolved"),
        trace(after),
    )


def _hit(place: int, hit: HitTrace, case: Case) -> tuple[Piece, ...]:
    mark = "✓" if set(hit.refs) & set(case.evidence) else ""
    shown = "" if place <= case.shown else " (not in the context)"
    return (
        f"{place}{mark}",
        join((hit.rendered, element("span", shown, class_="quiet"), element("br"), why(hit.why))),
        f"{hit.score:.3f}",
    )


def why(reasons: Mapping[str, Any]) -> Markup:
    """`view #rank (score)` per view that found it, the weights of the routes where they were
    weighed for the question, then each rescoring factor."""
    words = [
        f"{name} #{view['rank']} ({view['score']:.2f})"
        for name, view in (reasons.get("views") or {}).items()
        if view.get("rank") is not None
    ]
    weights = reasons.get("weights") or {}
    words += [f"weight of {name} {weight:.2f}" for name, weight in weights.items()]
    factors = reasons.get("factors") or {}
    words += [f"{name} {value:+.2f}" for name, value in factors.items() if value]
    return element("small", ", ".join(words) or "–", class_="quiet")


def evidence_places(case: Case) -> dict[str, int]:
    """First place in the recorded ranking of each gold unit that is in it."""
    places: dict[str, int] = {}
    for place, hit in enumerate(case.hits or (), 1):
        for ref in set(hit.refs) & set(case.evidence):
            places.setdefault(ref, place)
    return places


def _placed(case: Case) -> str:
    """Where the gold evidence stood in the ranking that was recorded."""
    if not case.evidence or case.hits is None:
        return "No gold evidence is known for this question."
    places = evidence_places(case)
    words = [
        f"{ref} at {places[ref]}"
        if ref in places
        else f"{ref} not among the first {len(case.hits)}"
        for ref in case.evidence
    ]
    return f"Gold evidence: {', '.join(words)}."
