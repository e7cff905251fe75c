"""The parts of the page about a joint evolution: what each arm gained at what cost, the genomes
after each pass, what happened inside, and what differs from start to best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from memgene.reports import joint_plots
from memgene.reports.elements import Markup, Piece, details, element, join, section, table
from memgene.reports.joint_model import ArmTotal, GenomeChange, Joint, Pass, Skip, totals
from memgene.reports.model import RunView, Trajectory
from memgene.reports.node import Node, Status
from memgene.reports.numbers import counted, duration, points, signed
from memgene.reports.order import in_tree_order
from memgene.reports.programs import patch
from memgene.reports.rounds import round_item

_DEEPEST = 10
_COST = (
    "Gain: what a pass raised the best score on val by, in points. Questions: all that it "
    "evaluated to get there."
)


def plot(found: Joint, metric: str) -> Markup:
    """The trajectory with a band a pass, wide and narrow, under its legend."""
    return join(
        (
            joint_plots.legend(found),
            element("div", joint_plots.trajectory(found, metric, width=860), class_="wide"),
            element("div", joint_plots.trajectory(found, metric, width=340), class_="narrow"),
        )
    )


def passes(view: RunView) -> Markup:
    """Every pass with its gain and its cost, then each arm's in all."""
    return _each(view, "What each pass gained, and at what cost", _passes, _COST)


def lineage(view: RunView) -> Markup:
    """The genomes after each pass under those that they were made from."""
    lead = "A pass starts from the best genome so far; one that was not accepted is left behind."
    return _each(view, "Genomes, pass by pass", _tree, lead)


def inside(view: RunView) -> Markup:
    """What the search of each pass tried, folded away."""
    return _each(view, "Inside each pass", _inside, "")


def change(view: RunView) -> Markup:
    """From the genome that the run began with to the one that it yields."""
    lead = "The program as a difference, levers before and after, and what was learned."
    return _each(view, "From the start to the best", _change, lead)


def _each(view: RunView, title: str, draw: Callable[[Joint], Markup], lead: str) -> Markup:
    """A section with one part for each joint trajectory that has something to show."""
    drawn: list[tuple[Trajectory, Markup]] = []
    for one in view.trajectories:
        if one.joint is not None:
            part = draw(one.joint)
            if part.html:
                drawn.append((one, part))
    if not drawn:
        return Markup("")
    if len(view.trajectories) == 1:
        return section(title, drawn[0][1], lead=lead)
    parts = [details(one.name, part, open_=place == 0) for place, (one, part) in enumerate(drawn)]
    return section(title, *parts, lead=lead)


def _passes(found: Joint) -> Markup:
    if not found.passes:
        return Markup("")
    skips: dict[int, list[Skip]] = {}
    for skip in found.skips:
        skips.setdefault(skip.after, []).append(skip)
    rows = list(_rows(found.passes, skips))
    head = ("pass", "arm", "val", "gain", "questions", "per 1,000", "best", "what came of it")
    arms = [_arm(total) for total in totals(found)]
    arm_head = ("arm", "passes", "accepted", "gain", "questions", "gain per 1,000", "time")
    return join(
        (
            table(head, rows, numeric_from=2),
            element("h3", "By arm"),
            table(arm_head, arms),
        )
    )


def _rows(passes: Sequence[Pass], skips: dict[int, list[Skip]]) -> Iterator[tuple[Piece, ...]]:
    for skip in skips.get(0, ()):
        yield _skipped(skip)
    for one in passes:
        yield (
            str(one.number),
            _coloured(one.arm),
            points(one.score),
            signed(one.gain),
            one.questions,
            signed(per_thousand(one)),
            points(one.best),
            _left(f"{_became(one)} ({one.why})" if one.why else _became(one)),
        )
        for skip in skips.get(one.number, ()):
            yield _skipped(skip)


def per_thousand(one: Pass) -> float | None:
    """Gain of a pass per 1,000 questions; None where it has none or asked nothing."""
    if one.gain is None or not one.questions:
        return None
    return 1000 * one.gain / one.questions


def _skipped(skip: Skip) -> tuple[Piece, ...]:
    blank: tuple[Piece, ...] = ("",) * 5
    return ("", _coloured(skip.arm), *blank, _left(f"left out: {skip.why}"))


def _became(one: Pass) -> str:
    if not one.finished:
        return "goes on"
    return f"{one.candidate} accepted" if one.accepted else f"{one.candidate} not accepted"


def _arm(total: ArmTotal) -> tuple[Piece, ...]:
    return (
        _coloured(total.arm),
        total.passes,
        total.accepted,
        signed(total.gain),
        total.questions,
        signed(total.per_thousand),
        duration(total.seconds),
    )


def _coloured(arm: str) -> Markup:
    """An arm's name beside its colour in the plot."""
    kind = joint_plots.band(arm)
    swatch = (
        f'<svg viewBox="0 0 12 12" width="12" height="12">'
        f'<rect class="band solid {kind}" width="12" height="12"/></svg>'
    )
    return element("span", Markup(swatch), f" {arm}", class_="arm")


def _left(text: str) -> Markup:
    return element("span", text, class_="words")


def _tree(found: Joint) -> Markup:
    items = [
        element(
            "li",
            element("p", *_standing(node)),
            *(
                element("p", element("b", f"{each.stage}: "), each.reason, class_="refusal quiet")
                for each in node.rejections
            ),
            style=f"margin-left:{0.9 * min(depth, _DEEPEST):.1f}rem",
        )
        for node, depth in in_tree_order(found.nodes)
    ]
    return element("ol", *items, class_="tree") if items else Markup("")


def _standing(node: Node) -> list[Piece]:
    kinds = {Status.JOINED: "accepted", Status.PROMOTED: "promoted", Status.REFUSED: "refused"}
    pieces: list[Piece] = [element("b", node.id), " "]
    badge = kinds.get(node.status, str(node.status))
    pieces += [element("span", badge, class_=f"badge {badge}"), " "]
    if node.score is not None:
        delta = f" ({signed(node.delta)})" if node.delta is not None else ""
        pieces += [element("span", f"{points(node.score)}{delta}", class_="figure"), " "]
    pieces.append(node.title)
    return pieces


def _inside(found: Joint) -> Markup:
    parts = []
    for one in found.passes:
        if one.wording is None or not one.rounds:
            continue
        tried = counted(len(one.rounds), one.wording.row)
        items = [round_item(each, one.wording.step) for each in one.rounds]
        head = f"Pass {one.number}, {one.arm}: {tried}"
        parts.append(details(head, element("ol", *items, class_="rounds")))
    return join(parts)


def _change(found: Joint) -> Markup:
    change = found.change
    return Markup("") if change is None else join(_changed(change))


def _changed(change: GenomeChange) -> Iterator[Markup]:
    if change.a == change.b:
        yield element("p", f"No genome is better than the start, {change.a}, so far.")
        return
    yield element("p", f"{change.a} → {change.b}.", class_="quiet")
    if change.levers:
        rows = [
            (element("code", c.lever), element("code", c.before), element("code", c.after))
            for c in change.levers
        ]
        yield table(("lever", change.a, change.b), rows, numeric_from=99)
    for words in change.learned:
        yield element("p", words)
    if change.patch:
        yield details("Changes to the program", patch(change.patch), open_=True)
    if not (change.levers or change.learned or change.patch):
        yield element("p", "Program and levers are equal.")
