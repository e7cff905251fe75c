"""The picture: a mark for every program, lines, rings, words for who cannot see colours."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from memgene.reports.landscape_model import Landscape, Spot
from memgene.reports.landscape_parts import landscape_part
from memgene.reports.landscape_plot import about, drawing, legend, listing
from memgene.reports.landscape_projection import Method
from memgene.reports.landscape_storage import Storage

NASTY = '<b>Chunks</b> & "lines"'
SPOTS = (
    Spot("000", "a seed", "seeds", Storage.BANK, 0.0, 0.0, score=0.0),
    Spot("001", NASTY, "iteration 1", Storage.SQL, 1.0, 1.0, parent="000", score=0.5),
    Spot("002", "third", "iteration 1", Storage.PLAIN, 1.0, 1.0, "001", 0.9, best=True),
    Spot("003", "refused", "iteration 2", Storage.VECTOR, 0.5, 0.5, parent="000"),
)  # fmt: skip
GROUPS = ("seeds", "iteration 1", "iteration 2")
FOUND = Landscape(SPOTS, GROUPS, "iteration", Method.TSNE)


def svg(found: Landscape, width: int = 400, height: int = 300) -> ElementTree.Element:
    return ElementTree.fromstring(drawing(found, "token_f1", width=width, height=height).html)


def marks(found: Landscape) -> dict[str, ElementTree.Element]:
    """Groups of the picture by the program they show."""
    groups = {}
    for group in svg(found).iter("g"):
        groups[(group.findtext("title") or "").split(":")[0].split(" ")[0]] = group
    return groups


def kind(mark: ElementTree.Element) -> str:
    return next(part for part in mark if "spot" in part.get("class", "")).get("class", "")


def test_hovering_tells_which_program_it_is() -> None:
    titles = [group.findtext("title") for group in svg(FOUND).iter("g")]
    assert titles == [
        "000: a seed (bank, seeds, token_f1 0.0)",
        "003: refused (vectors only, iteration 2, without a score)",
        f"001: {NASTY} (SQL only, iteration 1, token_f1 50.0)",
        "002: third (plain lists, iteration 1, token_f1 90.0, best)",
    ]


def test_the_picture_says_in_words_what_it_shows() -> None:
    drawn = svg(FOUND)
    assert drawn.get("role") == "img"
    assert drawn.get("aria-label") == (
        "4 programs of 4 storage architectures by how alike their code is, coloured by iteration, "
        "with 3 lines from parents to children"
    )
    assert len(drawn.findall(".//path[@class='descent']")) == 3


def test_colours_are_groups_and_shapes_are_architectures() -> None:
    found = marks(FOUND)
    assert kind(found["000"]) == "spot tone-0"
    assert kind(found["001"]) == kind(found["002"]) == "spot tone-1"
    assert kind(found["003"]) == "spot tone-2 hollow"
    shapes = {name: mark[-1].get("d", mark[-1].tag) for name, mark in found.items()}
    corners = {name: path.count("L") + 1 for name, path in shapes.items() if path != "circle"}
    assert corners == {"000": 3, "001": 4, "002": 3}  # triangles of bank and lists point apart
    assert shapes["003"] == "circle"


def test_the_more_a_program_scores_the_fuller_its_colour() -> None:
    fills = {name: mark[-1].get("fill-opacity") for name, mark in marks(FOUND).items()}
    assert fills == {"000": "0.15", "001": "0.57", "002": "1.00", "003": None}


def test_where_groups_stand_apart_scores_count_within_them() -> None:
    apart = Landscape(SPOTS, GROUPS, "task", Method.TSNE, apart=True)
    fills = {name: mark[-1].get("fill-opacity") for name, mark in marks(apart).items()}
    assert fills == {"000": "1.00", "001": "0.15", "002": "1.00", "003": None}
    assert "paler by rank within its task" in legend(apart).html


def test_the_best_is_ringed() -> None:
    rings = [
        name
        for name, mark in marks(FOUND).items()
        if mark.find("circle[@class='ring']") is not None
    ]
    assert rings == ["002"]


def test_marks_stay_inside_and_do_not_cover_each_other() -> None:
    crowd = tuple(Spot(f"{n}", "", "g", Storage.VECTOR, 1.0, 1.0, score=0.5) for n in range(30))
    drawn = svg(Landscape(crowd, ("g",), "task", Method.TSNE))
    places = {
        (float(c.get("cx", "")), float(c.get("cy", "")))
        for c in drawn.iter("circle")
        if "spot" in c.get("class", "")
    }
    assert len(places) > 10
    assert all(0 < x < 400 and 0 < y < 300 for x, y in places)


def test_the_legend_names_what_there_is() -> None:
    words = " ".join(re.sub(r"<[^>]+>", " ", legend(FOUND).html).split())
    assert words == (
        "seeds iteration 1 iteration 2 bank SQL only vectors only plain lists "
        "best lowest score (paler by rank) without a score parent to child"
    )


def test_groups_after_the_last_colour_share_it() -> None:
    names = tuple(f"fold {n}" for n in range(1, 11))
    spots = tuple(Spot(n, "", n, Storage.BANK, 0.1, 0.1) for n in names)
    html = legend(Landscape(spots, names, "fold", Method.TSNE)).html
    assert "fold 7" in html
    assert "3 more" in html
    assert "fold 8" not in html


def test_the_table_lists_every_program() -> None:
    html = listing(FOUND).html
    assert html.count("<tr>") == 1 + len(SPOTS)
    assert "&lt;b&gt;Chunks&lt;/b&gt;" in html
    assert "<b>002</b>" in html


def test_the_text_says_how_it_was_projected() -> None:
    assert "Projected by t-SNE. Neighbours mean something" in about(FOUND)
    few = Landscape(SPOTS, GROUPS, "iteration", Method.PCA_ABSENT, unread=2)
    assert "scikit-learn is not installed" in about(few)
    assert about(few).endswith("Left out as they are no Python: 2.")


def test_no_landscape_is_no_part_of_a_page() -> None:
    assert landscape_part(None, "token_f1").html == ""
