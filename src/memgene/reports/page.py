"""The whole page: one file, nothing fetched, dark and light, readable on a phone."""

from __future__ import annotations

from importlib.resources import files
from string import Template

from memgene.reports import coevolve_parts, facts, headline, joint_parts, programs, rounds, traces
from memgene.reports.elements import Markup, element, join
from memgene.reports.landscape_parts import landscape_part
from memgene.reports.model import RunView


def page(view: RunView) -> str:
    """HTML of a run's report."""
    title = f"{view.task}: {view.strategy} evolution"
    body = join(
        (
            element("h1", title),
            element("p", _about(view), class_="quiet"),
            headline.headline(view),
            headline.comparison(view),
            headline.trajectories(view),
            joint_parts.passes(view),
            joint_parts.lineage(view),
            joint_parts.change(view),
            coevolve_parts.training(view),
            rounds.rounds(view),
            joint_parts.inside(view),
            coevolve_parts.routing(view),
            coevolve_parts.memory(view),
            coevolve_parts.graph(view),
            programs.tree(view),
            landscape_part(view.landscape, view.metric),
            programs.chosen(view.program),
            facts.categories(view),
            rounds.zeros(view),
            rounds.followed(view),
            traces.examples(
                "Fixed",
                "Held-out questions that gained most over the start.",
                view.fixed,
                view.metric,
            ),
            traces.examples(
                "Broken",
                "Held-out questions that lost most against the start.",
                view.broken,
                view.metric,
            ),
            facts.cost(view),
            coevolve_parts.cost(view),
            facts.settings(view),
        )
    )
    return document(title, body)


def document(title: str, body: Markup) -> str:
    """A page of memgene: one file with its style inside."""
    template = Template(_resource("page.html"))
    return template.substitute(
        title=element("title", f"memgene · {title}").html,
        style=_resource("page.css"),
        body=body.html,
    )


def _about(view: RunView) -> str:
    state = "" if view.finished else " The run is not finished; this is its state so far."
    caution = f" {view.caution}" if view.caution else ""
    return f"Run {view.run}. Metric {view.metric}, scores in points of 100.{state}{caution}"


def _resource(name: str) -> str:
    return files("memgene.reports").joinpath(name).read_text(encoding="utf-8")
