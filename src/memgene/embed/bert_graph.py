"""MiniLM-L6 as an ONNX graph, built from its weights.

BERT encoder (Devlin et al. 2019, post-layer-norm, exact GELU), mean over the attention mask and
L2 normalisation (Reimers & Gurevych 2019) in one graph:
`input_ids (B, S) int64, attention_mask (B, S) int64 → embedding (B, hidden) float32`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgene.core.errors import DataError, MissingDependencyError

GRAPH_VERSION = 1  # raise it when the graph changes: cached graphs of other versions are not read
_OPSET = 17  # the first with LayerNormalization
_IR_VERSION = 8  # the one that belongs to opset 17, readable by every onnxruntime we admit
_MASKED = -1e9


@dataclass(frozen=True)
class BertShape:
    """What the weights alone do not say."""

    layers: int = 6
    heads: int = 12
    epsilon: float = 1e-12


def bert_graph(weights: Mapping[str, NDArray[Any]], shape: BertShape | None = None) -> bytes:
    """The serialised ONNX model.

    Args:
        weights: tensors under their Hugging Face BERT names, linear weights as (out, in).
        shape: MiniLM-L6 by default.

    Raises:
        DataError: a tensor is missing.
        MissingDependencyError: `onnx` is not installed.
    """
    builder = _Builder(weights, shape or BertShape())
    return builder.build()


class _Builder:
    """Collects nodes and constants; every method gives the name of the value it made."""

    def __init__(self, weights: Mapping[str, NDArray[Any]], shape: BertShape) -> None:
        try:
            import onnx
        except ImportError as error:
            raise MissingDependencyError(
                "building the MiniLM graph needs onnx: pip install 'memgene[onnx]'"
            ) from error
        self._onnx = onnx
        self._weights = weights
        self._shape = shape
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._hidden = int(self._weight("embeddings.word_embeddings.weight").shape[1])

    def build(self) -> bytes:
        helper, kind = self._onnx.helper, self._onnx.TensorProto
        hidden = self._embeddings()
        mask = self._op("Cast", "attention_mask", to=kind.FLOAT)
        bias = self._attention_bias(mask)
        for layer in range(self._shape.layers):
            hidden = self._layer(hidden, bias, f"encoder.layer.{layer}")
        self._pool(hidden, mask)
        graph = helper.make_graph(
            self._nodes,
            "minilm",
            [
                helper.make_tensor_value_info(name, kind.INT64, ["batch", "sequence"])
                for name in ("input_ids", "attention_mask")
            ],
            [helper.make_tensor_value_info("embedding", kind.FLOAT, ["batch", self._hidden])],
            list(self._constants.values()),
        )
        opset = [helper.make_opsetid("", _OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=_IR_VERSION)
        serialised: bytes = model.SerializeToString(deterministic=True)
        return serialised

    def _embeddings(self) -> str:
        words = self._constant("words", self._weight("embeddings.word_embeddings.weight"))
        # One segment only, so its vector belongs to every position.
        positions = self._weight("embeddings.position_embeddings.weight")
        positions = positions + self._weight("embeddings.token_type_embeddings.weight")[0]
        table = self._constant("positions", positions.astype(np.float32))
        length = self._op("Shape", "input_ids", start=1, end=2)
        taken = self._op("Slice", table, self._ints(0), length, self._ints(0))
        summed = self._op("Add", self._op("Gather", words, "input_ids"), taken)
        return self._layer_norm(summed, "embeddings.LayerNorm")

    def _attention_bias(self, mask: str) -> str:
        """0 where a token may be seen and a large negative number at padding, (B, 1, 1, S)."""
        hidden = self._op("Sub", self._float(1.0), mask)
        bias = self._op("Mul", hidden, self._float(_MASKED))
        return self._op("Unsqueeze", bias, self._ints(1, 2))

    def _layer(self, hidden: str, bias: str, prefix: str) -> str:
        attended = self._linear(
            self._attention(hidden, bias, f"{prefix}.attention.self"),
            f"{prefix}.attention.output.dense",
        )
        hidden = self._layer_norm(
            self._op("Add", hidden, attended), f"{prefix}.attention.output.LayerNorm"
        )
        inner = self._gelu(self._linear(hidden, f"{prefix}.intermediate.dense"))
        outer = self._linear(inner, f"{prefix}.output.dense")
        return self._layer_norm(self._op("Add", hidden, outer), f"{prefix}.output.LayerNorm")

    def _attention(self, hidden: str, bias: str, prefix: str) -> str:
        heads = self._shape.heads
        split = self._ints(0, 0, heads, self._hidden // heads)

        def of(role: str, order: list[int]) -> str:
            value = self._op("Reshape", self._linear(hidden, f"{prefix}.{role}"), split)
            return self._op("Transpose", value, perm=order)

        query, value = of("query", [0, 2, 1, 3]), of("value", [0, 2, 1, 3])
        scores = self._op("MatMul", query, of("key", [0, 2, 3, 1]))
        scale = self._float(1 / math.sqrt(self._hidden // heads))
        scores = self._op("Add", self._op("Mul", scores, scale), bias)
        mixed = self._op("MatMul", self._op("Softmax", scores, axis=-1), value)
        merged = self._op("Transpose", mixed, perm=[0, 2, 1, 3])
        return self._op("Reshape", merged, self._ints(0, 0, self._hidden))

    def _gelu(self, value: str) -> str:
        """x · (1 + erf(x / √2)) / 2."""
        erf = self._op("Erf", self._op("Div", value, self._float(math.sqrt(2))))
        doubled = self._op("Mul", value, self._op("Add", erf, self._float(1.0)))
        return self._op("Mul", doubled, self._float(0.5))

    def _pool(self, hidden: str, mask: str) -> None:
        """Mean over the mask, then unit length."""
        column = self._op("Unsqueeze", mask, self._ints(2))
        summed = self._op("ReduceSum", self._op("Mul", hidden, column), self._ints(1), keepdims=0)
        mean = self._op("Div", summed, self._op("ReduceSum", mask, self._ints(1), keepdims=1))
        norm = self._op("ReduceL2", mean, axes=[1], keepdims=1)
        self._nodes.append(self._onnx.helper.make_node("Div", [mean, norm], ["embedding"]))

    def _linear(self, value: str, prefix: str) -> str:
        weight = np.ascontiguousarray(self._weight(f"{prefix}.weight").T)
        product = self._op("MatMul", value, self._constant(f"{prefix}.weight", weight))
        bias = self._constant(f"{prefix}.bias", self._weight(f"{prefix}.bias"))
        return self._op("Add", product, bias)

    def _layer_norm(self, value: str, prefix: str) -> str:
        scale = self._constant(f"{prefix}.weight", self._weight(f"{prefix}.weight"))
        shift = self._constant(f"{prefix}.bias", self._weight(f"{prefix}.bias"))
        return self._op(
            "LayerNormalization", value, scale, shift, axis=-1, epsilon=self._shape.epsilon
        )

    def _op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        output = f"{kind.lower()}_{len(self._nodes)}"
        node = self._onnx.helper.make_node(kind, list(inputs), [output], **attributes)
        self._nodes.append(node)
        return output

    def _weight(self, name: str) -> NDArray[Any]:
        if name not in self._weights:
            raise DataError(f"the weights hold no tensor {name!r}: is this a BERT model?")
        return self._weights[name]

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        if name not in self._constants:
            self._constants[name] = self._onnx.numpy_helper.from_array(value, name)
        return name

    def _float(self, value: float) -> str:
        return self._constant(f"float_{value}", np.asarray(value, dtype=np.float32))

    def _ints(self, *values: int) -> str:
        name = "ints_" + "_".join(map(str, values))
        return self._constant(name, np.asarray(values, dtype=np.int64))
