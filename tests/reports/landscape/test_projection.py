"""Vectors on a plane: the same picture every time, and it says how it was made."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memgene.reports import landscape_projection
from memgene.reports.landscape_projection import FEWEST, Method, project


def clusters() -> np.ndarray:
    """Two groups of six rows each, far apart."""
    draw = np.random.default_rng(7)
    rows = draw.normal(scale=0.05, size=(12, 20))
    rows[:6, 0] += 3.0
    return rows


def test_tsne_keeps_clusters_together() -> None:
    found = project(clusters())
    assert found.method is Method.TSNE
    ours, others = found.points[:6], found.points[6:]
    inside = max(np.ptp(ours, axis=0).max(), np.ptp(others, axis=0).max())
    assert np.linalg.norm(ours.mean(axis=0) - others.mean(axis=0)) > inside


def test_it_is_the_same_every_time() -> None:
    assert (project(clusters()).points == project(clusters()).points).all()


def test_equal_rows_are_one_point() -> None:
    rows = clusters()
    found = project(np.concatenate([rows, rows[:2]]))
    assert (found.points[-2:] == found.points[:2]).all()
    assert len(np.unique(found.points, axis=0)) == 12


def test_few_programs_stand_along_their_principal_components() -> None:
    # Along the direction (0.6, 0.8) at -2, 0, 2 of the centre, no second direction.
    found = project(np.array([[0.0, 0.0], [1.2, 1.6], [2.4, 3.2]]))
    assert found.method is Method.PCA_FEW
    assert found.points[:, 0] == pytest.approx([-2.0, 0.0, 2.0])
    assert found.points[:, 1] == pytest.approx([0.0, 0.0, 0.0])


@pytest.mark.parametrize("count", [0, 1, 2])
def test_so_few_that_there_is_nothing_to_spread(count: int) -> None:
    found = project(np.zeros((count, 3)))
    assert (found.points == np.zeros((count, 2))).all()


def test_without_scikit_learn_it_is_principal_components_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(landscape_projection, "find_spec", lambda name: None)
    found = project(clusters())
    assert found.method is Method.PCA_ABSENT
    assert "memgene[landscape]" in found.method
    # By an independent implementation: eigenvectors of the covariance.
    centred = clusters() - clusters().mean(axis=0)
    values, axes = np.linalg.eigh(centred.T @ centred)
    expected = np.abs(centred @ axes[:, np.argsort(values)[::-1][:2]])
    assert np.abs(found.points) == pytest.approx(expected)


@settings(max_examples=15, deadline=None)
@given(arrays(np.float64, (FEWEST - 1, 4), elements=st.floats(-5, 5).map(lambda x: round(x, 2))))
def test_components_do_not_stretch(rows: np.ndarray) -> None:
    points = project(rows).points
    for a in range(len(rows)):
        for b in range(a):
            away = np.linalg.norm(points[a] - points[b])
            assert away <= np.linalg.norm(rows[a] - rows[b]) + 1e-6
