"""Lists of neighbours that are followed equal lists that are worked out anew."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memgene.engine.linking.nearest import NONE, Nearest, Pairs, Rows


class Given:
    """Scores from a symmetric matrix; 0 does not qualify. Blocks of three rows."""

    def __init__(self, scores: np.ndarray, alive: np.ndarray) -> None:
        self.scores = scores
        self.alive = alive

    def pairs(self, rows: Rows, most: int | None) -> Iterator[tuple[Rows, Pairs]]:
        for start in range(0, len(rows), 3):
            block = rows[start : start + 3]
            found = self.scores[block] * self.alive[None, :]
            found[np.arange(len(block)), block] = 0
            place, others = np.nonzero(found)
            yield block, Pairs(block[place], others, found[place, others])


def mutual(scores: np.ndarray, alive: np.ndarray, seq: np.ndarray, k: int) -> dict:
    """Edges by the definition."""
    best = {}
    living = np.flatnonzero(alive).tolist()
    for row in living:
        others = [o for o in living if o != row and scores[row, o] > 0]
        best[row] = sorted(others, key=lambda o: (-scores[row, o], seq[o]))[:k]
    return {
        (a, b): scores[a, b] for a, b in combinations(living, 2) if b in best[a] and a in best[b]
    }


def silent(_: int) -> None:
    pass


def drawn(rng: np.random.Generator, size: int) -> np.ndarray:
    """Few distinct scores, so that there are many ties."""
    half = np.triu(rng.integers(0, 4, (size, size)), 1).astype(np.float64)
    return half + half.T


@given(seed=st.integers(0, 10**6), k=st.integers(1, 4), steps=st.integers(1, 5))
def test_following_equals_building(seed: int, k: int, steps: int) -> None:
    """Rows go, come, and change all their scores; edges are those of the definition each time."""
    rng = np.random.default_rng(seed)
    size, room = int(rng.integers(1, 12)), 40
    scores, seq = drawn(rng, room), rng.permutation(room)
    alive = np.zeros(room, np.bool_)
    alive[:size] = True
    followed = Nearest(k)
    followed.grow(size)
    followed.build(np.arange(size), seq, Given(scores, alive), silent)
    for _ in range(steps):
        gone = np.flatnonzero(alive & (rng.random(room) < 0.15))
        alive[gone] = False
        new = np.arange(size, min(room, size + int(rng.integers(0, 4))))
        alive[new] = True
        size += len(new)
        other = np.flatnonzero(alive & (rng.random(room) < 0.1))
        fresh = drawn(rng, room)
        scores[other] = fresh[other]
        scores[:, other] = fresh[other].T
        scores[np.ix_(other, other)] = drawn(rng, room)[np.ix_(other, other)]
        before = followed.edges(np.arange(len(followed.others)))
        followed.grow(size)
        touched = np.union1d(new, other)
        scorer = Given(scores, alive)
        dirty = followed.update(gone, touched, alive[:size], seq, scorer, silent)
        after = followed.edges(np.arange(size))
        assert after == mutual(scores, alive, seq, k)
        changed = {
            pair for pair in before.keys() | after.keys() if before.get(pair) != after.get(pair)
        }
        assert all(set(pair) & set(dirty.tolist()) for pair in changed)


def test_ties_go_to_the_older_unit() -> None:
    """Row 0 is equally near to all; rows 2 and 1 came before row 3."""
    scores = np.ones((4, 4))
    nearest = Nearest(2)
    nearest.grow(4)
    alive = np.ones(4, np.bool_)
    nearest.build(np.arange(4), np.array([0, 2, 1, 3]), Given(scores, alive), silent)
    assert nearest.others[0].tolist() == [2, 1]
    assert nearest.others[3].tolist() == [0, 2]


def test_a_nearer_neighbour_takes_the_place_of_the_last_and_the_edge_goes() -> None:
    """0 – 1 are each other's only neighbour until 2, which is nearer to 0, comes."""
    scores = np.array([[0, 1, 2.0], [1, 0, 0], [2, 0, 0]])
    alive = np.array([True, True, False])
    nearest = Nearest(1)
    nearest.grow(2)
    nearest.build(np.arange(2), np.arange(3), Given(scores, alive), silent)
    assert nearest.edges(np.arange(2)) == {(0, 1): 1.0}
    alive[2] = True
    nearest.grow(3)
    none = np.empty(0, np.int64)
    dirty = nearest.update(none, np.array([2]), alive, np.arange(3), Given(scores, alive), silent)
    assert dirty.tolist() == [0, 2]
    assert nearest.edges(np.arange(3)) == {(0, 2): 2.0}
    assert nearest.others[1].tolist() == [0]


def test_without_scores_there_are_no_edges() -> None:
    nearest = Nearest(2)
    nearest.grow(3)
    alive = np.ones(3, np.bool_)
    nearest.build(np.arange(3), np.arange(3), Given(np.zeros((3, 3)), alive), silent)
    assert nearest.edges(np.arange(3)) == {}
    assert (nearest.others == NONE).all()
