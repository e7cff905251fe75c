"""What changed each round and why, what failed, and one question followed through all rounds."""

from __future__ import annotations

from collections.abc import Sequence

from memgene.evaluation.case import Case
from memgene.reports.elements import Markup, Piece, details, element, join, section, table
from memgene.reports.model import Change, Followed, Round, RunView, Trajectory, Verdict
from memgene.reports.numbers import duration, points
from memgene.reports.traces import evidence_places, trace

_SHOWN = 12  # rows of a table that are not folded away
UNASKED = "The search asked for no answers: its metric looks at the ranking alone."


def rounds(view: RunView) -> Markup:
    """A list of rounds per trajectory, and the table of failure causes."""
    parts: list[Piece] = []
    for one in view.trajectories:
        if one.drafts or one.joint is not None:
            continue
        body = join(
            (
                element(
                    "ol", *(round_item(r, one.wording.step) for r in one.rounds), class_="rounds"
                ),
                _causes(one.rounds),
            )
        )
        if len(view.trajectories) == 1:
            parts.append(body)
        else:
            parts.append(details(one.name, body, open_=one is view.trajectories[0]))
    if not parts:
        return Markup("")
    lead = "" if view.search_asked else UNASKED
    return section(view.trajectories[0].wording.rounds, *parts, lead=lead)


def zeros(view: RunView) -> Markup:
    """Val questions that scored nothing, per category and candidate."""
    parts = [_zero_table(one, len(view.trajectories) > 1) for one in view.trajectories]
    if not any(part.html for part in parts):
        return Markup("")
    of_rounds = any(one.wording.row == "round" for one in view.trajectories)
    whose = "each round's candidate" if of_rounds else "each candidate"
    lead = (
        f"Val questions with {view.metric} 0 under {whose}, of how many. "
        "Val guides the search; these are not held-out numbers."
    )
    return section("Questions that scored zero", *parts, lead=lead)


def followed(view: RunView) -> Markup:
    """A question's answers and scores, candidate by candidate."""
    one = view.followed
    if one is None or not one.steps:
        return Markup("")
    wording = view.trajectories[0].wording
    gold = " / ".join(one.gold) or "(not answerable)"
    said = "The val question that gained most."
    if one.ranked:
        said = "The val question that gained most; ✓ marks gold evidence."
    return section(
        wording.followed,
        element("p", said if one.asked else f"{said} {UNASKED}", class_="quiet"),
        element("p", element("b", one.question), " Gold: ", gold),
        _steps(one, wording.row, view.metric),
        details(f"Its trace in the first and the last {wording.row}", *_ends(one, wording.row)),
    )


def _steps(one: Followed, row: str, metric: str) -> Markup:
    """A line per candidate; where memories return text alone there is no ranking to tell of."""
    answer, found, top = ("answer",), ("evidence at",), ("first hit",)
    head = (row, metric, *(found if one.ranked else ()), *(answer if one.asked else ()))
    rows = [
        (
            name,
            points(case.scores.get(metric)),
            *((_found(case),) if one.ranked else ()),
            *((_answered(case),) if one.asked else ()),
            *((_top(case),) if one.ranked else ()),
        )
        for name, case in one.steps
    ]
    return table((*head, *(top if one.ranked else ())), rows, numeric_from=99)


def _ends(one: Followed, row: str) -> list[Markup]:
    first, last = one.steps[0], one.steps[-1]
    chosen = [first] if first[0] == last[0] else [first, last]
    word = row.capitalize()
    return [join((element("h3", f"{word} {name}"), trace(case))) for name, case in chosen]


def _answered(case: Case) -> str:
    return case.answer or ("(it broke)" if case.failure else "–")


def _found(case: Case) -> str:
    """Places of the gold evidence in the ranking."""
    return ", ".join(map(str, sorted(evidence_places(case).values()))) or "–"


def _top(case: Case) -> str:
    if not case.hits:
        return "(none)"
    top = case.hits[0]
    mark = " ✓" if set(top.refs) & set(case.evidence) else ""
    return _short(top.rendered, 120) + mark


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def round_item(one: Round, step: str) -> Markup:
    """A round in a list: what was tried, why, and what came of it."""
    head: list[Piece] = [element("b", f"{step.capitalize()} {one.number}"), " "]
    head.append(element("span", one.verdict.value, class_=f"badge {one.verdict.value}"))
    if one.kind and one.verdict is not Verdict.START:
        head.append(element("span", f" {one.kind}", class_="quiet"))
    if one.score is not None:
        head.append(f" val {points(one.score)}")
        if one.best is not None and one.verdict is not Verdict.START:
            head.append(f", best {points(one.best)}")
    if one.seconds is not None:
        head.append(element("span", f" · {duration(one.seconds)}", class_="quiet"))
    parts: list[Piece] = [element("p", *head)]
    if one.changes:
        parts.append(element("p", *_changes(one.changes), class_="changes"))
    said = filter(None, (one.why, one.outcome))
    parts += [element("p", words, class_="quiet") for words in said]
    return element("li", *parts)


def _changes(changes: Sequence[Change]) -> list[Piece]:
    pieces: list[Piece] = []
    for change in changes:
        if pieces:
            pieces.append(" ")
        pieces.append(element("code", f"{change.lever}: {change.before} → {change.after}"))
    return pieces


def _causes(rounds: Sequence[Round]) -> Markup:
    diagnosed = [r for r in rounds if r.causes]
    if not diagnosed:
        return Markup("")
    names = sorted({name for r in diagnosed for name in r.causes})
    rows: list[tuple[Piece, ...]] = [
        (r.number, points(r.dev_score), *(r.causes.get(name, 0) for name in names))
        for r in diagnosed
    ]
    head = ("round", "dev score", *(name.replace("_", " ") for name in names))
    return details("Where failures began, by round (dev questions)", table(head, rows))


def _zero_table(one: Trajectory, titled: bool) -> Markup:
    counted = [r for r in one.rounds if r.zeros]
    if not counted:
        return Markup("")
    names = sorted({name for r in counted for name in r.zeros})

    def cell(r: Round, name: str) -> str | None:
        found = r.zeros.get(name)
        return None if found is None else f"{found[0]} / {found[1]}"

    rows: list[tuple[Piece, ...]] = [(r.name, *(cell(r, name) for name in names)) for r in counted]
    drawn = table((one.wording.row, *names), rows)
    if titled:
        return details(one.name, drawn)
    return drawn if len(rows) <= _SHOWN else details(f"All {len(rows)} candidates", drawn)
