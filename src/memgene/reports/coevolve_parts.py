"""The parts of the page about a co-evolution: its training, the router, the memory, its cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memgene.evolution.coevolve.events import PhaseFinished
from memgene.reports import coevolve_graph, coevolve_plots
from memgene.reports.coevolve_model import ALL_TYPES, Held, Learning, Weights
from memgene.reports.coevolve_nodes import START
from memgene.reports.elements import Markup, Piece, details, element, join, section, table
from memgene.reports.model import RunView, Trajectory
from memgene.reports.numbers import counted, duration, points
from memgene.reports.plots import Bar, intervals


def training(view: RunView) -> Markup:
    """Rewards of every pass with a band a phase, and what was done in each."""
    lead = (
        f"Mean {view.metric} of the parts of every pass over the training questions. In a router "
        "phase it is earned by weights that are tried out, not by those that are served."
    )
    return _section(view, "How rewards moved in training", lead, _training(view.metric))


def routing(view: RunView) -> Markup:
    """Mean weights of the routes by predicted type of question."""
    lead = (
        "Mean share of each route by predicted type of question: the prior, and what the router "
        "made of it."
    )
    return _section(view, "How questions are routed", lead, _routing)


def memory(view: RunView) -> Markup:
    """How the learned values lie, phase after phase and at last; distilled memories."""
    lead = (
        "Values of memories that were ever credited, from 0 to 1; what is written begins at 0.5. "
        "Held-out questions of other groups never meet them where memories belong to a group."
    )
    return _section(view, "What the memory learned", lead, _memory)


def graph(view: RunView) -> Markup:
    """The memory graph around one training question."""
    return _section(view, "The graph around a question", "", _graph)


def cost(view: RunView) -> Markup:
    """What every phase took, in all and per training question."""
    lead = (
        "A training interaction is one question of a pass, however many weights were tried for "
        "it. Calls and tokens count what caches answered, too."
    )
    return _section(view, "What training cost", lead, _cost)


def _section(view: RunView, title: str, lead: str, draw: Callable[[Learning], Markup]) -> Markup:
    """A part with what each trajectory has to tell; none where none has."""
    drawn = [(one, draw(one.learning)) for one in view.trajectories if one.learning is not None]
    drawn = [(one, body) for one, body in drawn if body.html]
    if not drawn:
        return Markup("")
    if len(view.trajectories) == 1:
        return section(title, drawn[0][1], lead=lead)
    parts = [_folded(one, body, one is drawn[0][0]) for one, body in drawn]
    return section(title, *parts, lead=lead)


def _folded(one: Trajectory, body: Markup, open_: bool) -> Markup:
    return details(one.name, body, open_=open_)


def _training(metric: str) -> Callable[[Learning], Markup]:
    def draw(learning: Learning) -> Markup:
        wide, narrow = (
            coevolve_plots.training_curve(
                learning.phases, learning.scores, START, metric, width=width
            )
            for width in (860, 340)
        )
        return join(
            (
                coevolve_plots.training_legend(learning.phases),
                _both(wide, narrow),
                _phase_table(learning),
                *_complaints(learning.phases),
            )
        )

    return draw


def _both(wide: Markup, narrow: Markup) -> Markup:
    return join((element("div", wide, class_="wide"), element("div", narrow, class_="narrow")))


def _phase_table(learning: Learning) -> Markup:
    if not learning.phases:
        return Markup("")
    rows: list[Sequence[Piece]] = [
        (
            phase.number,
            f"{phase.phase}, cycle {phase.cycle}",
            points(phase.reward),
            points(learning.scores.get(phase.candidate)),
            phase.questions,
            phase.played,
            phase.credited,
            phase.distilled,
            phase.degraded,
        )
        for phase in learning.phases
    ]
    head = (
        "phase", "who learned", "reward", "val", "questions", "played", "values moved",
        "distilled", "fell back",
    )  # fmt: skip
    return table(head, rows, numeric_from=2)


def _complaints(phases: Sequence[PhaseFinished]) -> list[Markup]:
    """The first reason in each phase why a step did without a model."""
    return [
        element(
            "p",
            element("b", f"Phase {phase.number}: "),
            f"{counted(phase.degraded, 'step')} fell back, the first because: {phase.complaint}",
            class_="refusal quiet",
        )
        for phase in phases
        if phase.degraded
    ]


def _routing(learning: Learning) -> Markup:
    if not learning.routed:
        return Markup("")
    parts: list[Piece] = []
    if learning.weights:
        said = f"On val questions: the prior → state {learning.told}."
        parts.append(element("p", said, class_="quiet"))
        parts.append(_weight_table(learning.weights, learning.routes))
    phases = [phase for phase in learning.phases if phase.policy]
    inner = [_policy_table(phases, route) for route in _weighed(phases)]
    parts.append(
        details("On training questions, phase by phase", *inner, open_=not learning.weights)
    )
    return join(parts)


def _weight_table(weights: Sequence[Weights], routes: Sequence[str]) -> Markup:
    rows: list[Sequence[Piece]] = [
        (
            _type_name(row.question_type),
            row.n,
            *(_moved(row.before[route], row.after[route]) for route in routes),
        )
        for row in weights
    ]
    return table(("question type", "questions", *routes), rows)


def _moved(before: float, after: float) -> Markup:
    """Two shares, on a ground the deeper, the larger the later one."""
    words = f"{before:.2f} → {after:.2f}"
    return element("span", words, class_="share", style=f"--share:{100 * after:.0f}%")


def _policy_table(phases: Sequence[PhaseFinished], route: str) -> Markup:
    kinds = list(dict.fromkeys(kind for phase in phases for kind in phase.policy))
    rows: list[Sequence[Piece]] = [
        (_type_name(kind), *(_share(phase.policy.get(kind, {}).get(route)) for phase in phases))
        for kind in kinds
    ]
    head = ("question type", *(f"{phase.number} {phase.phase}" for phase in phases))
    return join((element("h3", route), table(head, rows)))


def _share(weight: float | None) -> Piece:
    if weight is None:
        return None
    return element("span", f"{weight:.2f}", class_="share", style=f"--share:{100 * weight:.0f}%")


def _weighed(phases: Sequence[PhaseFinished]) -> list[str]:
    """Routes in the order in which they are weighed; of two, the first tells the other."""
    routes = list(
        dict.fromkeys(
            route for phase in phases for weights in phase.policy.values() for route in weights
        )
    )
    return routes[:1] if len(routes) == 2 else routes


def _type_name(kind: str) -> str:
    return "all" if kind == ALL_TYPES else kind.replace("_", " ")


def _memory(learning: Learning) -> Markup:
    parts: list[Piece] = []
    spread = [phase for phase in learning.phases if phase.values.get("count")]
    if spread:
        parts.append(element("h3", "Median, and where nine of ten values lie, after each phase"))
        parts.append(intervals([_spread(phase) for phase in spread]))
    if learning.held is not None:
        parts.append(_held(learning.held, learning.told))
    return join(parts)


def _spread(phase: PhaseFinished) -> Bar:
    values = phase.values
    text = f"{values['p50']:.2f} [{values['p5']:.2f}, {values['p95']:.2f}] of {values['count']:.0f}"
    name = f"{phase.number} {phase.phase}"
    return Bar(name, values["p50"], values["p5"], values["p95"], text, phase.credited > 0)


def _held(held: Held, told: str) -> Markup:
    if not (held.values or held.distilled or held.retired):
        return Markup("")
    words = (
        f"Memories with a value: {len(held.values)}; values for one of "
        f"{counted(held.kinds, 'kind')} of query: {held.by_kind}. Distilled memories: "
        f"{held.distilled}; retired: {held.retired}."
    )
    parts: list[Piece] = [element("h3", f"Values in state {told}"), element("p", words)]
    if held.values:
        wide, narrow = (coevolve_plots.histogram(held.values, width=width) for width in (860, 340))
        parts.append(_both(wide, narrow))
    if held.best:
        rows: list[Sequence[Piece]] = [
            (element("code", made.id), made.text, f"{made.value:.2f}", made.exposures)
            for made in held.best
        ]
        head = ("id", "memory", "value", "exposures")
        parts.append(details("Distilled memories worth most", table(head, rows, numeric_from=2)))
    return join(parts)


def _graph(learning: Learning) -> Markup:
    found = learning.picture
    if found is None or not found.nodes:
        return Markup("")
    wide = coevolve_graph.drawing(found, width=860, labels=True)
    narrow = coevolve_graph.drawing(found, width=340, labels=False)
    words = "Left, by rank, what was shown for it; beside it what is linked to that. "
    words += "Each with its value."
    if found.hidden:
        words += f" {counted(found.hidden, 'more neighbour')} had no room."
    parts: list[Piece] = [element("p", element("b", found.question))] if found.question else []
    parts += [
        element("p", words, class_="quiet"),
        coevolve_graph.legend(),
        _both(wide, narrow),
        coevolve_graph.listing(found),
    ]
    return join(parts)


def _cost(learning: Learning) -> Markup:
    if not learning.phases:
        return Markup("")
    rows = [_cost_row(f"{phase.number} {phase.phase}", [phase]) for phase in learning.phases]
    if len(rows) > 1:
        rows.append(_cost_row("all", learning.phases))
    head = (
        "phase", "interactions", "calls", "not cached", "tokens", "money", "time",
        "calls each", "tokens each", "time each",
    )  # fmt: skip
    return table(head, rows)


def _cost_row(name: str, phases: Sequence[PhaseFinished]) -> Sequence[Piece]:
    used = totals([phase.usage for phase in phases])
    seconds = sum(phase.seconds for phase in phases)
    count = sum(phase.questions for phase in phases)
    each = max(1, count)
    return (
        name,
        count,
        *(f"{used[part]:.0f}" for part in ("calls", "fresh", "tokens")),
        f"{used['cost']:.4f}",
        duration(seconds),
        f"{used['calls'] / each:.2f}",
        f"{used['tokens'] / each:.0f}",
        f"{1000 * seconds / each:.1f} ms",
    )


def totals(usages: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, float]:
    """Calls, fresh calls, tokens and money over all roles."""
    roles = [used for usage in usages for used in usage.values()]
    names = ("calls", "fresh", "tokens", "cost")
    return {name: sum(used.get(name, 0) for used in roles) for name in names}
