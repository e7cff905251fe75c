"""What similarities are measured in: a mean, a threshold and word statistics, taken once and kept.

Edges of old units must not move because a mean or an IDF drifted with every unit that comes. So
these are taken from the bank's first units in insertion order, as many as the largest power of two
it holds (at most `calibration_units`), and kept in the bank; they are taken anew when that power
grows. A bank that only grows therefore has the same frame whenever it is linked. Later changes of
those first units do not count until someone asks for a rebuild.

Dense vectors live on a grid: unit length times 4000, rounded. Every partial sum of a dot product
is then a whole number below 2²⁴, which float32 holds exactly, so a cosine is the same bit for bit
in any batch, order of summation and machine. Keyword weights are whole numbers likewise. No ranking
of neighbours can depend on how it was computed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgene.bank.protocol import EmbedderInfo, Vectors
from memgene.engine.linking.settings import PUBLISHED_COSINE, LinkSettings

Grid = NDArray[np.int16]
Ints = NDArray[np.int64]

GRID = 4000
SQUARE = GRID * GRID
LEAST_TO_CALIBRATE = 64
_FORMAT = 1
_SLOTS = 1 << 14
_WEIGHT = 1000
_SAMPLE_BLOCK = 256


@dataclass(frozen=True, eq=False)
class Frame:
    """`units` is how many it was taken from; `mean` (dimension,) is subtracted from vectors before
    they are normalised, zero for embedders that do not gain from it; `threshold` is the least
    cosine of a dense edge, None without an embedder. `frequencies` counts in how many of the units
    the words of each hash slot stand: words themselves are not kept, so that none outlives the
    units that said it."""

    units: int
    frequencies: NDArray[np.uint16]
    embedder: EmbedderInfo | None = None
    centred: bool = False
    mean: NDArray[np.float32] | None = None
    threshold: float | None = None

    def grid(self, vectors: Vectors) -> Grid:
        """Vectors (n, dimension) on the grid; zero stays zero."""
        assert self.mean is not None
        return _on_grid(vectors, self.mean)

    def weights(self, stems: Sequence[str]) -> Ints:
        """Keyword weights: 1000·ln(1 + (N − df + ½)/(df + ½)), rounded, at least 1."""
        df = self.frequencies[_slots(stems)].astype(np.float64)
        idf = np.log1p(np.maximum(self.units - df + 0.5, 0.0) / (df + 0.5))
        weights: Ints = np.maximum(np.rint(_WEIGHT * idf), 1).astype(np.int64)
        return weights

    def to_bytes(self) -> bytes:
        """Equal frames give equal bytes."""
        head: dict[str, Any] = {
            "format": _FORMAT,
            "units": self.units,
            "centred": self.centred,
            "threshold": self.threshold,
        }
        mean = b""
        if self.embedder is not None and self.mean is not None:
            head |= {"embedder": self.embedder.name, "dimension": self.embedder.dimension}
            mean = self.mean.astype("<f4").tobytes()
        body = zlib.compress(mean + self.frequencies.astype("<u2").tobytes(), 9)
        return json.dumps(head, sort_keys=True).encode() + b"\n" + body

    @classmethod
    def from_bytes(cls, content: bytes) -> Frame | None:
        """The reverse; None where the format is another one, which asks for a new frame.

        Raises ValueError for what is no frame.
        """
        line, _, body = content.partition(b"\n")
        head = json.loads(line)
        if head["format"] != _FORMAT:
            return None
        try:
            plain = zlib.decompress(body)
        except zlib.error as error:
            raise ValueError(f"the frame is damaged: {error}") from error
        size = 4 * head.get("dimension", 0)
        frequencies = np.frombuffer(plain[size:], "<u2").astype(np.uint16)
        if not size:
            return cls(head["units"], frequencies)
        info = EmbedderInfo(head["embedder"], head["dimension"])
        mean = np.frombuffer(plain[:size], "<f4").astype(np.float32)
        return cls(head["units"], frequencies, info, head["centred"], mean, head["threshold"])


def digest(content: bytes) -> str:
    """Short name of a frame, from its bytes."""
    return sha256(content).hexdigest()[:16]


def units_for_frame(living: int, settings: LinkSettings) -> int:
    """How many units a frame is taken from when a bank holds `living`."""
    return min(1 << (living.bit_length() - 1), settings.calibration_units) if living else 0


def calibrate(
    keywords: Sequence[Iterable[str]],
    vectors: Vectors | None,
    embedder: EmbedderInfo | None,
    settings: LinkSettings,
    *,
    centred: bool,
) -> Frame:
    """A frame from the keywords of some units and the vectors of those that have one.

    The threshold is `dense_cosine`, or the quantile of the cosines of all pairs of the vectors.
    """
    frequencies = np.zeros(_SLOTS, np.uint16)
    for stems in keywords:
        frequencies[np.unique(_slots(list(stems)))] += 1
    if embedder is None or vectors is None:
        return Frame(len(keywords), frequencies)
    present = vectors[vectors.any(axis=1)]
    mean = np.zeros(embedder.dimension, np.float32)
    if centred and len(present):
        mean = (present.sum(axis=0, dtype=np.float64) / len(present)).astype(np.float32)
    threshold = settings.dense_cosine or _calibrated(_on_grid(present, mean), settings)
    return Frame(len(keywords), frequencies, embedder, centred, mean, threshold)


def _calibrated(grid: Grid, settings: LinkSettings) -> float:
    if len(grid) < LEAST_TO_CALIBRATE:
        return PUBLISHED_COSINE
    whole = grid.astype(np.float32)
    pairs = []
    for start in range(0, len(grid), _SAMPLE_BLOCK):
        block = whole[start : start + _SAMPLE_BLOCK] @ whole.T
        rows = np.arange(start, start + len(block))[:, None]
        pairs.append(block[np.arange(len(grid))[None, :] > rows])
    found = np.quantile(np.concatenate(pairs), settings.dense_quantile, method="higher")
    return max(float(found), 1.0) / SQUARE


def _on_grid(vectors: Vectors, mean: NDArray[np.float32]) -> Grid:
    moved = vectors.astype(np.float64) - mean
    norm = np.sqrt(np.einsum("ij,ij->i", moved, moved))[:, None]
    absent = (norm == 0) | ~vectors.any(axis=1, keepdims=True)
    scaled = np.where(absent, 0.0, moved * (GRID / np.where(absent, 1.0, norm)))
    return np.rint(scaled).astype(np.int16)


def _slots(stems: Sequence[str]) -> Ints:
    """Hash slots of stems. A collision makes a rare word count as a little less rare."""
    found = (zlib.crc32(s.encode("utf-8", "surrogatepass")) % _SLOTS for s in stems)
    return np.fromiter(found, np.int64, len(stems))
