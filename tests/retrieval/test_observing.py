"""What a router is shown of a question, number by number."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.bank import SqliteBank
from memgene.bank.unit import MemoryUnit
from memgene.embed.static import StaticEmbedder
from memgene.engine import MemoryEngine
from memgene.retrieval.clusters import query_vector
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.observing import Returned, features_of, observe, prior_over
from memgene.retrieval.question_type import QUESTION_TYPES
from memgene.retrieval.router.observation import TWO_ROUTES, SelfRouting

NOTHING = np.zeros(0, np.float32)


def returned(*pairs: tuple[int, float]) -> Returned:
    return Returned(
        np.array([row for row, _ in pairs], np.int64),
        np.array([score for _, score in pairs], np.float32),
    )


def seen(
    text: str,
    routing: SelfRouting | None = None,
    found: dict[str, Returned] | None = None,
    routes: tuple[str, ...] = TWO_ROUTES,
    kind: str = "single",
) -> dict[str, float]:
    """Features by name."""
    routing = routing or SelfRouting.raw(text)
    observed = observe(
        text, kind, routing, routes, prior_over(routes, routing), found or {}, NOTHING
    )
    return dict(zip(features_of(routes), observed.features.tolist(), strict=True))


def test_the_names_tell_routes_and_question_types() -> None:
    names = features_of(("lexical", "dense"))
    assert names[:6] == (
        "prior_logit", "confidence", "length", "entities", "digits", "rewrites_overlap",
    )  # fmt: skip
    assert names[6:10] == (
        "margin.lexical", "margin.dense", "overlap.lexical", "overlap.dense",
    )  # fmt: skip
    assert names[10:] == tuple(f"type.{kind}" for kind in QUESTION_TYPES)
    assert len(set(names)) == len(names)


def test_numbers_of_the_words() -> None:
    found = seen("Did Anna see Mount Fuji on 3 May 2024?")
    assert found["length"] == pytest.approx(math.log(1 + 9))
    assert found["entities"] == pytest.approx(math.log(1 + 3))  # Anna, Mount, Fuji; may is a verb
    assert found["digits"] == pytest.approx(math.log(1 + 2))
    assert seen("") == pytest.approx({**seen(""), "length": 0, "entities": 0, "digits": 0})


def test_prior_and_confidence_are_those_of_the_routing() -> None:
    found = seen("a boat", SelfRouting("a boat", "boat", prior=0.8, confidence=0.4))
    assert found["prior_logit"] == pytest.approx(math.log(4))
    assert found["confidence"] == 0.4
    sure = seen("a boat", SelfRouting("a boat", "boat", prior=0.0, confidence=1.0))
    assert sure["prior_logit"] == pytest.approx(math.log(0.02 / 0.98))


def test_the_overlap_of_the_rewrites_is_that_of_their_words() -> None:
    assert seen("x", SelfRouting("a red boat", "boat RED paddle"))["rewrites_overlap"] == 0.5
    assert seen("x", SelfRouting("a", "b"))["rewrites_overlap"] == 0
    assert seen("x", SelfRouting("", ""))["rewrites_overlap"] == 0


def test_the_margin_is_the_lead_of_the_first_in_the_span_of_the_scores() -> None:
    found = seen("x", found={"dense": returned((7, 0.9), (3, 0.6), (4, 0.3))})
    assert found["margin.dense"] == pytest.approx(0.5)
    assert found["margin.sparse"] == 0
    alike = seen("x", found={"dense": returned((7, 0.9), (3, 0.9))})
    assert alike["margin.dense"] == 0
    assert seen("x", found={"dense": returned((7, 0.9))})["margin.dense"] == 0


def test_the_overlap_of_a_route_is_what_others_return_of_its_first_ten() -> None:
    found = {
        "lexical": returned((1, 3.0), (2, 2.0)),
        "window": returned((2, 1.0), (9, 0.5), (8, 0.2), (7, 0.1)),
        "dense": returned((1, 0.5), (2, 0.4), (3, 0.3)),
    }
    numbers = seen("x", found=found, routes=("lexical", "window", "dense"))
    assert numbers["overlap.lexical"] == pytest.approx((1 / 2 + 2 / 2) / 2)
    assert numbers["overlap.window"] == pytest.approx((1 / 4 + 1 / 4) / 2)
    assert numbers["overlap.dense"] == pytest.approx((2 / 3 + 1 / 3) / 2)
    many = {name: returned(*((row, -row) for row in rows)) for name, rows in
            (("dense", range(20)), ("sparse", range(5, 25)))}  # fmt: skip
    assert seen("x", found=many)["overlap.dense"] == pytest.approx(5 / 10)


def test_the_predicted_type_is_one_of_all() -> None:
    for kind in QUESTION_TYPES:
        found = {n: v for n, v in seen("x", kind=kind).items() if n.startswith("type.")}
        assert found == {f"type.{each}": float(each == kind) for each in QUESTION_TYPES}


def test_the_prior_over_views_is_uniform() -> None:
    routing = SelfRouting("a", "b", prior=0.9, confidence=1.0)
    assert prior_over(("lexical", "dense", "soft"), routing).tolist() == pytest.approx([1 / 3] * 3)
    assert prior_over(TWO_ROUTES, routing).tolist() == pytest.approx([0.9, 0.1])


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.floats(0, 1), st.floats(0, 1))
def test_whatever_is_asked_the_numbers_are_finite(text: str, prior: float, trust: float) -> None:
    found = seen(text, SelfRouting(text, text[::2], prior, trust))
    assert all(math.isfinite(value) for value in found.values())


@pytest.mark.parametrize("fusion", ["q_rrf", "weighted_sum"])
def test_a_prepared_question_shows_what_its_routes_returned(
    static: StaticEmbedder, fusion: str
) -> None:
    bank = SqliteBank(":memory:")
    engine = MemoryEngine(bank, static, RetrievalConfig(fusion=fusion, structured_k=0))
    engine.write([MemoryUnit("a red boat"), MemoryUnit("a blue boat"), MemoryUnit("green tea")])
    prepared = engine.prepare("Which red boat?")
    observed = prepared.observation
    assert observed.routes == prepared.routes
    assert observed.features.shape == (len(features_of(prepared.routes)),)
    assert observed.query.tolist() == query_vector("Which red boat?", static).tolist()
    numbers = dict(zip(features_of(prepared.routes), observed.features.tolist(), strict=True))
    words = "sparse" if fusion == "q_rrf" else "lexical"
    assert 0 < numbers[f"margin.{words}"] <= 1
    # both boats are found by words, all three by vectors
    assert numbers[f"overlap.{words}"] > numbers["overlap.dense"] > 0
    bank.close()
