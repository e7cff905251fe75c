"""The default embedder: static token vectors, offline, tens of thousands of texts a second.

WordLlama (256 dimensions, MIT) ships its weights and its tokenizer inside the wheel. Its own
loader looks for the tokenizer where the wheel does not have it and then asks the network, so the
two files are read directly; none of the package's code runs.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memgene.core.errors import MissingDependencyError
from memgene.embed.normalise import unit_rows
from memgene.embed.protocol import Vectors
from memgene.embed.row_cache import RowCache
from memgene.embed.texts import checked

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_TEXTS_AT_ONCE = 512
_TOKENS_AT_ONCE = 4096
_WORDS_KEPT = 50_000


class StaticEmbedder:
    """L2-normalised mean of WordLlama token vectors; also vectors of single words.

    Sentence vectors are raw: the mean of a bank's vectors is the bank's own, so retrieval centres
    them. Word vectors are centred on the vocabulary, which has one mean for all.

    Raises:
        MissingDependencyError: the wheel's files are not where they are expected.
    """

    def __init__(self) -> None:
        folder = _package_folder("wordllama")
        weights = _read(folder / _WEIGHTS)
        self._tokens = _token_vectors(weights)
        self._tokenizer = _tokenizer(_read(folder / _TOKENIZER))
        self._mean: Vectors = self._tokens.mean(axis=0, dtype=np.float64).astype(np.float32)
        self._name = f"wordllama-{self.dimension}-{hashlib.sha256(weights).hexdigest()[:8]}"
        self._words: RowCache[str] = RowCache(self.dimension, _WORDS_KEPT)

    @property
    def name(self) -> str:
        """`wordllama-256-` and the first 8 hex digits of the weights' SHA-256."""
        return self._name

    @property
    def dimension(self) -> int:
        """256."""
        return int(self._tokens.shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (n, 256), unit length, zero for a text without tokens.

        A row does not depend on the other texts of the call.
        """
        return unit_rows(self._token_means(checked(texts)))

    def words(self, words: Sequence[str]) -> Vectors:
        """One row per word out of context, shape (n, 256): mean of its tokens minus the mean over
        the vocabulary, unit length, zero for a word without tokens. Cached."""
        items = checked(words)

        def compute(positions: list[int]) -> Vectors:
            means = self._token_means([items[position] for position in positions])
            known = means.any(axis=1)
            means[known] -= self._mean
            return unit_rows(means)

        return self._words.lookup(items, compute)

    def _token_means(self, texts: list[str]) -> Vectors:
        result = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            encodings = self._tokenizer.encode_batch_fast(
                texts[start : start + _TEXTS_AT_ONCE], add_special_tokens=False
            )
            for row, encoding in zip(result[start:], encodings, strict=False):
                if encoding.ids:
                    _write_mean(self._tokens, encoding.ids, row)
        return result


def _write_mean(tokens: Vectors, ids: list[int], out: Vectors) -> None:
    """Write the mean of the ids' vectors to `out`.

    One text at a time: a gather of a whole batch (35 MB) costs ten times more in page faults.
    """
    for start in range(0, len(ids), _TOKENS_AT_ONCE):
        out += np.add.reduce(tokens.take(ids[start : start + _TOKENS_AT_ONCE], axis=0), axis=0)
    out /= len(ids)


def _package_folder(package: str) -> Path:
    """Folder of an installed top-level package, found without running any of its code."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingDependencyError(
            f"the package {package!r} with the static embedder's weights is not installed: "
            f"pip install {package}"
        )
    return Path(spec.submodule_search_locations[0])


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise MissingDependencyError(
            f"{path} is missing; the static embedder was written for wordllama 0.4.0.post1: "
            "pip install 'wordllama==0.4.0.post1'"
        )
    return path.read_bytes()


def _token_vectors(weights: bytes) -> Vectors:
    from safetensors.numpy import load

    table: NDArray[Any] = load(weights)["embedding.weight"]
    return np.ascontiguousarray(table, dtype=np.float32)


def _tokenizer(serialised: bytes) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(serialised)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
