"""The first part of the page: the honest number, what it is compared with, and the trajectory."""

from __future__ import annotations

from memgene.reports import joint_parts, plots
from memgene.reports.elements import Markup, Piece, details, element, join, section, table
from memgene.reports.model import Difference, RunView, Score, Trajectory
from memgene.reports.numbers import duration, interval, points, probability, signed


def headline(view: RunView) -> Markup:
    """The evolved memory's held-out score beside the start's, in one sentence and two numbers."""
    evolved = view.evolved
    if evolved is None:
        state = "This run has no held-out result yet."
        if view.finished:
            state = "This run made no held-out measurement."
        return element("p", state, class_="lead")
    gain = next((d for d in view.differences if d.name == "start"), None)
    figures = [_figure(points(evolved.mean), f"{view.metric}, evolved", _of(evolved))]
    start = view.rows.get("start", {}).get(view.metric)
    if start is not None:
        figures.append(_figure(points(start.mean), "start", _of(start)))
    if gain is not None:
        text = f"{interval(gain.low, gain.high)}, paired"
        figures.append(_figure(signed(gain.delta), "evolved − start", text))
    words = [f"Measured once, on {evolved.n} held-out questions. "]
    if gain is not None:
        words.append(_verdict(gain.low, gain.high))
    best = next((d for d in view.differences if d.name == view.best_static), None)
    if best is not None:
        difference = f"{signed(best.delta)} {interval(best.low, best.high)}"
        words.append(f" Against {best.name}, the best static memory on val: {difference}.")
    return join(
        (element("div", *figures, class_="figures"), element("p", "".join(words), class_="lead"))
    )


def comparison(view: RunView) -> Markup:
    """Every row of the result with its interval, then the paired differences."""
    rows = [
        (name, scores[view.metric]) for name, scores in view.rows.items() if view.metric in scores
    ]
    if not rows:
        return Markup("")
    bars = [
        plots.Bar(name, s.mean, s.low, s.high, f"{points(s.mean)} {_of(s)}", name == "evolved")
        for name, s in rows
    ]
    parts: list[Piece] = [plots.intervals(bars)]
    if view.differences:
        parts.append(element("h3", "Evolved minus each, on the same questions"))
        parts.append(plots.intervals([_difference(d) for d in view.differences], zero=True))
    absent = [name for name, scores in view.rows.items() if view.metric not in scores]
    if absent:
        words = f"Without {view.metric} (it does not apply to them): {', '.join(absent)}."
        parts.append(element("p", words, class_="quiet"))
    if view.start:
        parts.append(element("p", view.start, class_="quiet"))
    parts.append(details("All metrics", _all_metrics(view)))
    return section("On held-out questions", *parts, lead=_method(rows[0][1], view))


def trajectories(view: RunView) -> Markup:
    """Scores on val over rounds or iterations; one plot per fold."""
    parts: list[Piece] = []
    folds = len(view.trajectories) > 1
    if folds:
        parts.append(_fold_table(view))
    parts += [_plot(one, view.metric, folds) for one in view.trajectories]
    if not parts:
        return Markup("")
    lead = "Acceptance on val guides the search; it is not the claim."
    plain = [one for one in view.trajectories if one.joint is None]
    shown = dict.fromkeys(v for one in plain for v in one.wording.verdicts)
    legend = plots.legend(list(shown)) if plain else Markup("")
    return section("How the score moved", legend, *parts, lead=lead)


def _plot(one: Trajectory, metric: str, titled: bool) -> Markup:
    head: Piece = element("h3", one.name) if titled else Markup("")
    foot: Piece = element("p", one.stopped, class_="quiet") if one.stopped else Markup("")
    counted = element("p", one.summary, class_="quiet")
    drawn = _rounds(one, metric) if one.joint is None else joint_parts.plot(one.joint, metric)
    return join((head, drawn, counted, foot))


def _rounds(one: Trajectory, metric: str) -> Markup:
    step = one.wording.step
    wide = plots.trajectory(one.rounds, metric, step, width=860)
    narrow = plots.trajectory(one.rounds, metric, step, width=340)
    return join((element("div", wide, class_="wide"), element("div", narrow, class_="narrow")))


def _fold_table(view: RunView) -> Markup:
    rows = [
        (
            one.name,
            points(one.start.mean) if one.start else None,
            points(one.test.mean) if one.test else None,
            signed(one.test.mean - one.start.mean) if one.test and one.start else None,
            one.test.n if one.test else None,
            sum(r.verdict.kept for r in one.rounds),
        )
        for one in view.trajectories
    ]
    return table(("fold", "start", "evolved", "gain", "questions", "kept"), rows)


def _all_metrics(view: RunView) -> Markup:
    metrics = sorted({metric for scores in view.rows.values() for metric in scores})
    rows = []
    for name, scores in view.rows.items():
        cells = [f"{points(scores[m].mean)}" if m in scores else None for m in metrics]
        rows.append((name, *cells))
    return table(("memory", *metrics), rows)


def _difference(d: Difference) -> plots.Bar:
    text = f"{signed(d.delta)} {interval(d.low, d.high)}"
    if d.p is not None:
        text += f" p {probability(d.p)}"
    return plots.Bar(d.name, d.delta, d.low, d.high, text, d.low > 0)


def _figure(number: str, name: str, small: str) -> Markup:
    return element(
        "div",
        element("b", number),
        element("span", name),
        element("small", small),
    )


def _of(score: Score) -> str:
    return interval(score.low, score.high)


def _verdict(low: float, high: float) -> str:
    if low > 0:
        return "The whole interval of the gain lies above zero."
    if high < 0:
        return "The whole interval lies below zero: what evolved is worse than the start."
    return (
        "The interval of the difference includes zero: "
        "this run does not show a gain on held-out questions."
    )


def _method(score: Score, view: RunView) -> str:
    words = f"95 % bootstrap intervals over {score.n} questions"
    if score.method:
        words += f", resampling {score.method}"
    if view.seconds is not None:
        words += f". The whole run took {duration(view.seconds)}"
    return words + "."
