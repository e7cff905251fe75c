"""Any model that the sentence-transformers package can load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memgene.core.errors import DataError, MissingDependencyError
from memgene.embed.normalise import unit_rows
from memgene.embed.protocol import Vectors
from memgene.embed.texts import checked


class SentenceTransformersEmbedder:
    """A sentence-transformers model on the device it chooses, normalised, blank texts zero.

    Args:
        model: its name on the model hub, or a folder.
        batch_size: texts in one forward pass.
        options: further arguments of `SentenceTransformer`, e.g. `device="cpu"`.

    Raises:
        MissingDependencyError: sentence-transformers is not installed.
        DataError: the model has no fixed embedding size.
    """

    def __init__(self, model: str, *, batch_size: int = 32, **options: Any) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingDependencyError(
                f"the embedder {model!r} needs sentence-transformers: "
                "pip install 'memgene[sentence-transformers]'"
            ) from error
        self._name = f"sentence-transformers/{model}"
        self._model = SentenceTransformer(model, **options)
        self._batch_size = batch_size
        self._dimension = _dimension(self._model, model)

    @property
    def name(self) -> str:
        """`sentence-transformers/` and the model's name."""
        return self._name

    @property
    def dimension(self) -> int:
        """What the model says."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (n, dimension), unit length, zero for a blank text."""
        items = checked(texts)
        result = np.zeros((len(items), self._dimension), dtype=np.float32)
        filled = [i for i, text in enumerate(items) if text.strip()]
        if filled:
            result[filled] = self._model.encode(
                [items[i] for i in filled],
                batch_size=self._batch_size,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return unit_rows(result)


def _dimension(model: Any, name: str) -> int:
    """Length of the model's vectors; version 5 renamed the method and warns about the old name."""
    ask = getattr(model, "get_embedding_dimension", None)
    size = ask() if ask is not None else model.get_sentence_embedding_dimension()
    if size is None:
        raise DataError(f"the model {name!r} does not say how long its vectors are")
    return int(size)
