"""Programs as vectors: near where their code is alike."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from memgene.programs.examples import example, example_names
from memgene.programs.placeholders import placeholders
from memgene.programs.seeds import seed, seed_names
from memgene.reports.landscape_storage import storage_of
from memgene.reports.landscape_vectors import DIMENSION, program_vectors


def test_rows_have_unit_length_and_no_token_is_zero() -> None:
    rows = program_vectors(["A0 = N", "", "def F0(): pass"])
    assert rows.shape == (3, DIMENSION)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 1])


def test_a_row_depends_on_its_text_alone() -> None:
    together, alone = program_vectors(["x = N", "y", "x = N"]), program_vectors(["x = N"])
    assert (together[0] == alone[0]).all()
    assert (together[2] == alone[0]).all()


def test_a_piece_counts_once_however_often_it_stands_there() -> None:
    # x; x twice: pieces x, x x. By hand: one of the two pieces is shared, cosine 1 / sqrt(1 · 2)
    rows = program_vectors(["x", "x x", "x x x"])
    assert rows[0] @ rows[1] == pytest.approx(2**-0.5)
    assert rows[1] @ rows[2] == pytest.approx(1)


def test_numbers_of_placeholders_do_not_count() -> None:
    rows = program_vectors(["A0 = F1(V2)", "A7 = F0(V1)", "A7 = F0(M1)"])
    assert rows[0] @ rows[1] == pytest.approx(1)
    assert rows[0] @ rows[2] < 0.9


def test_shipped_programs_of_one_architecture_are_nearer_than_others() -> None:
    sources = [
        *(seed(n).source for n in seed_names()), *(example(n).source for n in example_names())
    ]  # fmt: skip
    rows = program_vectors([placeholders(source) for source in sources])
    kinds = [storage_of(source) for source in sources]
    same, other = [], []
    for a, b in combinations(range(len(rows)), 2):
        (same if kinds[a] == kinds[b] else other).append(float(rows[a] @ rows[b]))
    assert len(same) == 3  # two vector searches, two of SQL and vectors, two of plain lists
    assert np.mean(same) > np.mean(other) + 1.5 * np.std(other)
