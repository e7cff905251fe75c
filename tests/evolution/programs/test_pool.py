"""Who becomes a parent: M* §5, p ∝ exp(score / τ), and the ablations."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.core import InputError
from memgene.evolution.programs.plan import Search
from memgene.evolution.programs.pool import Member, Pool
from memgene.programs.program import Program


def member(name: str, score: float, parent: str | None = None) -> Member:
    return Member(name, Program(name), score, parent, 0, name)


def pool(*scores: float, search: Search = Search.POPULATION, drop_zero: bool = True) -> Pool:
    made = Pool(search, 0.15, drop_zero=drop_zero)
    for place, score in enumerate(scores):
        made.add(member(f"{place:03d}", score))
    return made


def shares(made: Pool, draws: int = 20_000) -> dict[str, float]:
    rng = random.Random(0)
    found = Counter(made.draw(number, rng).member.id for number in range(draws))
    return {name: count / draws for name, count in found.items()}


def test_parents_are_drawn_by_softmax() -> None:
    """0.3 and 0.45 at τ 0.15: e¹ to 1, so 0.7311 for the better one."""
    found = shares(pool(0.3, 0.45))
    assert found["001"] == pytest.approx(math.e / (1 + math.e), abs=0.01)
    drawn = pool(0.3, 0.45).draw(0, random.Random(1))
    expected = {"000": 1 / (1 + math.e), "001": math.e / (1 + math.e)}
    assert drawn.probability == pytest.approx(expected[drawn.member.id])


def test_what_scores_nothing_is_no_parent_while_another_scores() -> None:
    assert set(shares(pool(0.0, 0.1, 0.2), 500)) == {"001", "002"}
    assert set(shares(pool(0.0, 0.0), 500)) == {"000", "001"}
    assert set(shares(pool(0.0, 0.1, drop_zero=False), 500)) == {"000", "001"}


def test_max_and_linear_take_the_best_and_the_first_of_equals() -> None:
    for search in (Search.MAX, Search.LINEAR):
        assert shares(pool(0.1, 0.4, 0.4, search=search), 10) == {"001": 1.0}


def test_best_of_n_takes_the_seeds_in_turn_whatever_their_children_score() -> None:
    made = pool(0.1, 0.2, search=Search.BEST_OF_N)
    made.add(member("002", 0.9, parent="000"))
    rng = random.Random(0)
    drawn = [made.draw(number, rng).member.id for number in range(4)]
    assert drawn == ["000", "001", "000", "001"]


def test_ranking_is_by_score_then_by_age() -> None:
    assert [m.id for m in pool(0.2, 0.5, 0.2, 0.5).ranked()] == ["001", "003", "000", "002"]


def test_an_empty_pool_and_a_second_of_a_name_are_refused() -> None:
    with pytest.raises(InputError, match="empty"):
        _ = Pool(Search.MAX, 0.15, drop_zero=True).best
    made = pool(0.5)
    with pytest.raises(InputError, match="000 is in the pool already"):
        made.add(member("000", 0.1))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=200), st.integers(0, 1000))
def test_every_draw_is_of_the_pool_with_a_true_probability(scores: list[float], seed: int) -> None:
    made = pool(*scores)
    drawn = made.draw(0, random.Random(seed))
    weights = [math.exp((s - max(scores)) / 0.15) for s in scores]
    if max(scores) > 0:
        weights = [w if s > 0 else 0.0 for w, s in zip(weights, scores, strict=True)]
    share = weights[int(drawn.member.id)] / sum(weights)
    assert share > 0
    assert drawn.probability == pytest.approx(share, rel=1e-6)
    assert made.best.score == max(scores)
    assert len(made) == len(scores)
