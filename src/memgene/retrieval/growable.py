"""A numpy column that grows at its end without copying each time."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)


class Column(Generic[Scalar]):
    """Amortised-doubling array of one dtype; `values` is a view of the filled part."""

    def __init__(self, dtype: type[Scalar]) -> None:
        self._buffer: NDArray[Scalar] = np.zeros(256, dtype)
        self._size = 0

    def extend(self, values: Any) -> None:
        """Append values (anything numpy can turn into this dtype)."""
        new = np.asarray(values, self._buffer.dtype)
        needed = self._size + len(new)
        if needed > len(self._buffer):
            grown = np.zeros(max(needed, 2 * len(self._buffer)), self._buffer.dtype)
            grown[: self._size] = self._buffer[: self._size]
            self._buffer = grown
        self._buffer[self._size : needed] = new
        self._size = needed

    @property
    def values(self) -> NDArray[Scalar]:
        """The filled part; writing to it writes to the column."""
        return self._buffer[: self._size]
