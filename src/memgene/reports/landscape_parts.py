"""The landscape of programs as a part of a page."""

from __future__ import annotations

from memgene.reports.elements import Markup, element, section
from memgene.reports.landscape_model import Landscape
from memgene.reports.landscape_plot import about, drawing, legend, listing


def landscape_part(found: Landscape | None, metric: str) -> Markup:
    """The picture with its legend and its programs in a table; nothing where there is none."""
    if found is None:
        return Markup("")
    return section(
        "The landscape of programs",
        legend(found),
        element("div", drawing(found, metric, width=860, height=520), class_="wide"),
        element("div", drawing(found, metric, width=340, height=340), class_="narrow"),
        listing(found),
        lead=about(found),
    )
