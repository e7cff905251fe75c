"""What similarities are measured in: exact on a grid, taken once, kept without words."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.bank import EmbedderInfo
from memgene.engine.linking.frame import GRID, SQUARE, Frame, calibrate, digest, units_for_frame
from memgene.engine.linking.settings import LinkSettings

INFO = EmbedderInfo("test", 8)


def vectors(many: int, dimension: int = 8, seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(many, dimension))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def frame(
    many: int = 100, *, centred: bool = False, dimension: int = 8, **settings: float
) -> Frame:
    info = EmbedderInfo("test", dimension)
    told = [["word"]] * many
    chosen = LinkSettings(**settings)  # type: ignore[arg-type]
    return calibrate(told, vectors(many, dimension), info, chosen, centred=centred)


@given(seed=st.integers(0, 2**32 - 1), dimension=st.sampled_from([3, 64, 256, 1536]))
def test_cosines_are_whole_numbers_whatever_the_order_of_summation(
    seed: int, dimension: int
) -> None:
    """The partial sums of float32 in any order are exact, so no rounding can tell them apart."""
    one, two = frame(2, dimension=dimension).grid(vectors(2, dimension, seed))
    exact = sum(int(a) * int(b) for a, b in zip(one, two, strict=True))
    product = one.astype(np.float32) * two.astype(np.float32)
    order = np.random.default_rng(seed).permutation(dimension)
    for terms in (product, product[::-1], product[order]):
        assert float(np.cumsum(terms, dtype=np.float32)[-1]) == exact
    assert abs(product).sum(dtype=np.float64) < 2**24


def test_the_grid_keeps_cosines() -> None:
    given_vectors = vectors(50, 256)
    grid = frame(dimension=256).grid(given_vectors).astype(np.float64)
    assert grid @ grid.T / SQUARE == pytest.approx(given_vectors @ given_vectors.T, abs=1e-3)
    assert np.linalg.norm(grid, axis=1) == pytest.approx(GRID, rel=1e-3)


def test_a_unit_without_a_vector_stays_without() -> None:
    assert not frame(centred=True).grid(np.zeros((1, 8), np.float32)).any()


def test_centring_takes_the_common_direction_away() -> None:
    common = vectors(64) * 0.2 + np.eye(8, dtype=np.float32)[0]
    common /= np.linalg.norm(common, axis=1, keepdims=True)
    chosen = LinkSettings()
    plain = calibrate([[]] * 64, common, INFO, chosen, centred=False)
    centred = calibrate([[]] * 64, common, INFO, chosen, centred=True)
    assert centred.mean == pytest.approx(common.mean(axis=0), abs=1e-6)
    assert not plain.mean.any()  # type: ignore[union-attr]
    moved = centred.grid(common).astype(float)
    expected = common - common.mean(axis=0)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert moved / GRID == pytest.approx(expected, abs=2e-4)


def test_the_threshold_is_a_quantile_of_all_pairs() -> None:
    """Of the 4,950 pairs of 100 vectors, 25 lie above the 99.5 % quantile."""
    found = frame(100)
    pairs = [float(a @ b) for a, b in combinations(vectors(100).astype(np.float64), 2)]
    assert found.threshold == pytest.approx(sorted(pairs)[-25], abs=1e-3)
    lower = frame(100, dense_quantile=0.9).threshold
    assert lower == pytest.approx(np.quantile(pairs, 0.9), abs=0.01)


def test_a_few_vectors_do_not_calibrate() -> None:
    assert frame(63).threshold == 0.6
    assert frame(64).threshold != 0.6


def test_a_given_cosine_is_not_calibrated() -> None:
    assert frame(100, dense_cosine=0.7).threshold == 0.7


def test_without_an_embedder_there_is_no_threshold() -> None:
    assert calibrate([["a"]], None, None, LinkSettings(), centred=False).threshold is None


def test_weights_are_idf() -> None:
    """4 units, `tea` in 3 of them, `boat` in 1: ln(1 + 1.5/3.5) = 0.357, ln(1 + 3.5/1.5) = 1.204;
    a word that no unit holds: ln(1 + 4.5/0.5) = 2.303."""
    told = [["tea", "boat"], ["tea"], ["tea"], ["roof"]]
    found = calibrate(told, None, None, LinkSettings(), centred=False)
    assert found.weights(["tea", "boat", "opera"]).tolist() == [357, 1204, 2303]
    assert found.weights([]).tolist() == []
    assert math.log(1 + 1.5 / 3.5) == pytest.approx(0.357, abs=1e-3)


def test_equal_frames_are_equal_bytes_and_come_back() -> None:
    first, again = frame(100, centred=True), frame(100, centred=True)
    content = first.to_bytes()
    assert content == again.to_bytes()
    back = Frame.from_bytes(content)
    assert back is not None
    assert back.to_bytes() == content
    assert (back.embedder, back.threshold, back.units) == (INFO, first.threshold, 100)
    assert digest(content) != digest(frame(101, centred=True).to_bytes())


def test_no_word_stands_in_a_frame() -> None:
    content = calibrate([["secret"]] * 3, None, None, LinkSettings(), centred=False).to_bytes()
    assert b"secret" not in content


def test_a_damaged_frame_is_named() -> None:
    with pytest.raises(ValueError, match="damaged"):
        Frame.from_bytes(frame().to_bytes()[:-9])


def test_a_frame_of_another_format_is_not_read() -> None:
    assert Frame.from_bytes(frame().to_bytes().replace(b'"format": 1', b'"format": 2')) is None


@pytest.mark.parametrize(
    ("living", "units"), [(0, 0), (1, 1), (3, 2), (64, 64), (1023, 512), (1024, 1024), (9999, 1024)]
)
def test_a_frame_is_taken_from_a_power_of_two(living: int, units: int) -> None:
    assert units_for_frame(living, LinkSettings()) == units
