"""Unit length, and zero where there is no direction."""

from __future__ import annotations

import numpy as np

from memgene.embed.protocol import Vectors

SMALLEST_NORM = 1e-12


def unit_rows(matrix: Vectors) -> Vectors:
    """Rows of shape (n, d) scaled to L2 norm 1; rows shorter than 1e-12 become exactly zero."""
    norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
    safe = np.where(norms > SMALLEST_NORM, norms, np.inf)
    return (matrix / safe[:, None]).astype(np.float32)
