"""Any server that speaks OpenAI's /embeddings: OpenAI, vLLM, Ollama, llama.cpp, …"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from memgene.core.errors import DataError, InputError, MissingDependencyError
from memgene.embed.normalise import unit_rows
from memgene.embed.protocol import Vectors
from memgene.embed.texts import checked


class OpenAIEmbedder:
    """Embeddings from an OpenAI-compatible server, normalised; blank texts are zero, never sent.

    The size of the vectors is known from the first reply. Retries are the SDK's.

    Args:
        model: its name on the server.
        base_url: the server's `/v1` address; by default OPENAI_BASE_URL, then OpenAI.
        api_key: by default OPENAI_API_KEY.
        dimensions: ask for shorter vectors, if the model can give them.
        batch_size: texts in one request.
        options: further arguments of the SDK's client, e.g. `timeout`, `max_retries`.

    Raises:
        MissingDependencyError: the `openai` package is not installed.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        dimensions: int | None = None,
        batch_size: int = 256,
        **options: Any,
    ) -> None:
        try:
            from openai import OpenAI
        except ImportError as error:
            raise MissingDependencyError(
                f"the embedder 'openai/{model}' needs the openai package: "
                "pip install 'memgene[openai]'"
            ) from error
        if batch_size < 1:
            raise InputError(f"batch_size must be at least 1, not {batch_size}")
        self._client = OpenAI(base_url=base_url, api_key=api_key, **options)
        self._model = model
        self._batch_size = batch_size
        self._asked = dimensions
        self._dimension: int | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """`openai/` and the model's name, with `@dimensions` when that was asked for."""
        suffix = "" if self._asked is None else f"@{self._asked}"
        return f"openai/{self._model}{suffix}"

    @property
    def dimension(self) -> int:
        """Length of a row; the first use asks the server with one word."""
        if self._dimension is None:
            self._request(["dimension"])
        assert self._dimension is not None
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (n, dimension), unit length, zero for a blank text.

        Raises:
            DataError: the reply has another number or size of vectors than was asked for.
        """
        items = checked(texts)
        filled = [i for i, text in enumerate(items) if text.strip()]
        parts = [
            self._request([items[i] for i in filled[start : start + self._batch_size]])
            for start in range(0, len(filled), self._batch_size)
        ]
        result = np.zeros((len(items), self.dimension), dtype=np.float32)
        if parts:
            result[filled] = np.concatenate(parts)
        return unit_rows(result)

    def close(self) -> None:
        """Close the connections to the server."""
        self._client.close()

    def _request(self, texts: list[str]) -> Vectors:
        extra: dict[str, Any] = {} if self._asked is None else {"dimensions": self._asked}
        reply = self._client.embeddings.create(
            model=self._model, input=texts, encoding_format="float", **extra
        )
        rows = [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]
        if len(rows) != len(texts):
            raise DataError(f"{self.name}: sent {len(texts)} texts, got {len(rows)} vectors back")
        with self._lock:
            if self._dimension is None:
                self._dimension = len(rows[0])
        if any(len(row) != self._dimension for row in rows):
            raise DataError(f"{self.name}: the server changed the size of its vectors")
        return np.asarray(rows, dtype=np.float32)
