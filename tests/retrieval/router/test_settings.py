"""How a router learns, in words a plan may use."""

from __future__ import annotations

import math

import pytest

from memgene.core import InputError
from memgene.retrieval.router.policy import Exploration
from memgene.retrieval.router.settings import Baseline, RouterSettings


def test_the_published_settings() -> None:
    paper = RouterSettings.paper()
    assert (paper.rate, paper.weight_decay, paper.batch) == (3e-4, 0, 10)
    assert (paper.beta_kl, paper.ema, paper.kappa, paper.floor) == (0.05, 0.9, 10, 0.02)
    assert (paper.hidden, paper.bound, paper.samples) == (128, None, 1)
    assert (paper.exploration, paper.baseline) == (Exploration.BETA, Baseline.EMA)


def test_what_learns_stably() -> None:
    views, two = RouterSettings(), RouterSettings.two_routes()
    assert (views.rate, views.kappa, views.exploration) == (3e-3, 50, Exploration.DIRICHLET)
    assert (two.rate, two.kappa, two.exploration) == (1e-2, 10, Exploration.BETA)
    for each in (views, two):
        assert (each.hidden, each.bound, each.batch) == (0, 1.5, 10)
        assert (each.baseline, each.samples) == (Baseline.GROUP, 8)


def test_names_may_be_plain_words_and_no_bound_may_be_zero() -> None:
    written = RouterSettings(exploration="beta", baseline="ema", bound=0)  # type: ignore[arg-type]
    assert written == RouterSettings(
        exploration=Exploration.BETA, baseline=Baseline.EMA, bound=None
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rate", 0.0),
        ("rate", 1.5),
        ("rate", math.nan),
        ("weight_decay", -0.1),
        ("batch", 0),
        ("batch", 2.5),
        ("batch", True),
        ("epochs", 0),
        ("beta_kl", -1.0),
        ("beta_kl", math.inf),
        ("exploration", "gauss"),
        ("kappa", 0.5),
        ("floor", 0.5),
        ("floor", -0.1),
        ("samples", 0),
        ("baseline", "none"),
        ("ema", 1.0),
        ("hidden", -1),
        ("bound", -1.5),
        ("bound", math.nan),
        ("strength", -1.0),
    ],
)
def test_a_number_out_of_range_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"router {name}"):
        RouterSettings(**{name: value})  # type: ignore[arg-type]


def test_a_group_needs_two() -> None:
    with pytest.raises(InputError, match="set samples to 2 or more"):
        RouterSettings(baseline=Baseline.GROUP, samples=1)
    assert RouterSettings(baseline=Baseline.EMA, samples=1).samples == 1
