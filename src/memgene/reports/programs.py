"""The part of the page about programs: the tree of all that were written, and the one that won."""

from __future__ import annotations

from collections.abc import Sequence

from memgene.reports.elements import Markup, Piece, details, element, join, section
from memgene.reports.model import Chosen, Draft, RunView, Trajectory
from memgene.reports.node import Node, Status
from memgene.reports.numbers import duration, points, signed
from memgene.reports.order import in_tree_order

_DEEPEST = 10  # levels that are still indented: a phone has no room for more
_LEAD = (
    "Each program under the one it was made from; open one for its message, its changes and why "
    "it went no further. Scores are those on val that guide the search."
)


def tree(view: RunView) -> Markup:
    """Every program in its place in the lineage, one list per trajectory."""
    shown = [one for one in view.trajectories if one.drafts]
    if not shown:
        return Markup("")
    if len(view.trajectories) == 1:
        return section("Every program, and where it came from", _tree(shown[0]), lead=_LEAD)
    parts = [details(one.name, _tree(one), open_=one is shown[0]) for one in shown]
    return section("Every program, and where it came from", *parts, lead=_LEAD)


def chosen(program: Chosen | None) -> Markup:
    """The source that the run yields, in full."""
    if program is None:
        return Markup("")
    return section(program.title, code(program.source), lead=program.about)


def code(source: str) -> Markup:
    """A program's text."""
    return element("pre", element("code", source))


def patch(text: str) -> Markup:
    """A unified difference, its lines coloured."""
    lines = [_line(line) for line in text.splitlines()]
    return element("pre", element("code", *lines), class_="patch")


def _tree(one: Trajectory) -> Markup:
    drafts = {draft.node.id: draft for draft in one.drafts}
    ordered = in_tree_order([draft.node for draft in one.drafts])
    items = [
        element(
            "li",
            details(_summary(drafts[node.id]), *_inside(drafts[node.id])),
            *_refusals(node),
            style=f"margin-left:{0.9 * min(depth, _DEEPEST):.1f}rem",
        )
        for node, depth in ordered
    ]
    return element("ol", *items, class_="tree")


def _summary(draft: Draft) -> Markup:
    node = draft.node
    pieces: list[Piece] = [element("b", node.id), " "]
    pieces += [Markup(f"{badge.html} ") for badge in _badges(draft)]
    if node.score is not None:
        delta = f" ({signed(node.delta)})" if node.delta is not None else ""
        pieces.append(element("span", f"{points(node.score)}{delta}", class_="figure"))
        pieces.append(" ")
    pieces.append(node.title or "(without a title)")
    return join(pieces)


def _badges(draft: Draft) -> list[Markup]:
    node = draft.node
    shown = [(str(node.status), str(node.status))]
    if draft.new_best:
        shown.append(("new best", "best"))
    if node.regressed:
        shown.append(("regressed", "regressed"))
    if node.failures:
        shown.append((f"broke on {node.failures}", "broke"))
    return [element("span", words, class_=f"badge {name}") for words, name in shown]


def _inside(draft: Draft) -> Sequence[Markup]:
    node = draft.node
    parts = [element("p", _origin(node, draft), class_="quiet")]
    if node.message.strip():
        parts.append(element("p", node.message.strip(), class_="message"))
    if draft.patch:
        parts.append(details(f"Changes to {node.parent}", patch(draft.patch)))
    if draft.source:
        parts.append(details("The whole program", code(draft.source)))
    return parts


def _refusals(node: Node) -> list[Markup]:
    return [
        element("p", element("b", f"{each.stage}: "), each.reason, class_="refusal quiet")
        for each in node.rejections
    ]


def _origin(node: Node, draft: Draft) -> str:
    words = [f"from {node.parent}" if node.parent else "seed"]
    if node.parent:
        words.append(f"iteration {node.iteration}")
        words.append(f"by {node.proposer}")
    if node.attempts > 1:
        words.append(f"{node.attempts} drafts")
    words.append(duration(draft.seconds))
    if draft.transcript:
        words.append(f"what was said: {draft.transcript}")
    if node.status is Status.PENDING:
        words.append("not judged yet")
    return ", ".join(words) + "."


def _line(text: str) -> Markup:
    kinds = {"+": "added", "-": "removed", "@": "place"}
    kind = "quiet" if text.startswith(("+++", "---")) else kinds.get(text[:1])
    shown = f"{text}\n"
    return element("span", shown, class_=kind) if kind else element("span", shown)
