"""MiniLM's ONNX graph as a file: built once, then read by every process."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

from memgene.core.errors import MissingDependencyError
from memgene.embed.bert_graph import GRAPH_VERSION, bert_graph
from memgene.embed.minilm_files import WEIGHTS, MiniLmFiles
from memgene.settings.paths import user_cache_dir

Precision = Literal["f32", "int8"]


def cached_graph(files: MiniLmFiles, precision: Precision, cache_dir: Path | None) -> Path:
    """Path of the graph, built first if it is not there (a few seconds, 90 or 56 MB).

    Two processes may build it at once; each writes its own file and renames it, so that nobody
    ever reads half a graph.

    Raises:
        MissingDependencyError: it must be built and `onnx` is not installed.
    """
    folder = cache_dir if cache_dir is not None else user_cache_dir()
    path = folder / f"minilm-l6-v2-{precision}-{files.checksum()}-g{GRAPH_VERSION}.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".building-") as scratch:
            built = Path(scratch) / path.name
            _build(files, precision, built)
            os.replace(built, path)
    return path


def load_weights(files: MiniLmFiles) -> dict[str, NDArray[Any]]:
    """The model's tensors by name."""
    from safetensors.numpy import load

    tensors: dict[str, NDArray[Any]] = load(files.read(WEIGHTS))
    return tensors


def _build(files: MiniLmFiles, precision: Precision, target: Path) -> None:
    graph = bert_graph(load_weights(files))
    if precision == "f32":
        target.write_bytes(graph)
    else:
        _quantise(graph, target)


def _quantise(graph: bytes, target: Path) -> None:
    """Weights of the linear layers to int8, one scale a column; embeddings stay float32."""
    try:
        import onnx
        from onnxruntime.quantization import QuantType, quantize_dynamic
    except ImportError as error:
        raise MissingDependencyError(
            "quantising the MiniLM graph needs onnx and onnxruntime: pip install 'memgene[onnx]'"
        ) from error
    model = onnx.load_from_string(graph)
    # Says that shapes need no inference first, which silences a warning about exactly that.
    onnx.helper.set_model_props(model, {"onnx.quant.pre_process": "onnxruntime.quant"})
    quantize_dynamic(
        model,
        str(target),
        op_types_to_quantize=["MatMul"],
        weight_type=QuantType.QInt8,
        per_channel=True,
        extra_options={"MatMulConstBOnly": True},
    )
