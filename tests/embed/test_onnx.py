"""The ONNX graph against BERT written out in numpy, and how the embedder keeps it."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memgene.core.errors import DataError, InputError, MissingDependencyError, NotFoundError
from memgene.embed import minilm_files, onnx_cache
from memgene.embed.bert_graph import BertShape, bert_graph
from memgene.embed.minilm_files import MiniLmFiles, find_minilm
from memgene.embed.onnx import OnnxEmbedder

Weights = dict[str, np.ndarray]
ERF = np.vectorize(math.erf)


def layer_norm(x: np.ndarray, w: Weights, prefix: str) -> np.ndarray:
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    return scaled * w[f"{prefix}.weight"] + w[f"{prefix}.bias"]


def linear(x: np.ndarray, w: Weights, prefix: str) -> np.ndarray:
    return x @ w[f"{prefix}.weight"].T + w[f"{prefix}.bias"]


def bert_sentence(w: Weights, ids: list[int], layers: int, heads: int) -> np.ndarray:
    """One unpadded sentence in float64: encoder, mean over its tokens, unit length."""
    e = "embeddings"
    x = w[f"{e}.word_embeddings.weight"][ids].astype(np.float64)
    x = x + w[f"{e}.position_embeddings.weight"][: len(ids)]
    x = layer_norm(x + w[f"{e}.token_type_embeddings.weight"][0], w, f"{e}.LayerNorm")
    size = x.shape[1] // heads
    for n in range(layers):
        p = f"encoder.layer.{n}"
        q, k, v = (linear(x, w, f"{p}.attention.self.{r}") for r in ("query", "key", "value"))
        mixed = []
        for h in range(heads):
            part = slice(h * size, (h + 1) * size)
            scores = q[:, part] @ k[:, part].T / math.sqrt(size)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            mixed.append(weights / weights.sum(-1, keepdims=True) @ v[:, part])
        attended = linear(np.concatenate(mixed, axis=1), w, f"{p}.attention.output.dense")
        x = layer_norm(x + attended, w, f"{p}.attention.output.LayerNorm")
        inner = linear(x, w, f"{p}.intermediate.dense")
        inner = 0.5 * inner * (1 + ERF(inner / math.sqrt(2)))
        x = layer_norm(x + linear(inner, w, f"{p}.output.dense"), w, f"{p}.output.LayerNorm")
    mean = x.mean(axis=0)
    return mean / np.linalg.norm(mean)


def random_weights(rng: np.random.Generator, layers: int = 2, hidden: int = 12) -> Weights:
    def tensor(*shape: int) -> np.ndarray:
        return rng.normal(0, 0.4, shape).astype(np.float32)

    w = {
        "embeddings.word_embeddings.weight": tensor(30, hidden),
        "embeddings.position_embeddings.weight": tensor(16, hidden),
        "embeddings.token_type_embeddings.weight": tensor(2, hidden),
    }
    norms, linears = ["embeddings.LayerNorm"], {}
    for n in range(layers):
        p = f"encoder.layer.{n}"
        norms += [f"{p}.attention.output.LayerNorm", f"{p}.output.LayerNorm"]
        roles = ("self.query", "self.key", "self.value", "output.dense")
        linears |= {f"{p}.attention.{role}": (hidden, hidden) for role in roles}
        linears |= {f"{p}.intermediate.dense": (20, hidden), f"{p}.output.dense": (hidden, 20)}
    for prefix in norms:
        w |= {f"{prefix}.weight": tensor(hidden), f"{prefix}.bias": tensor(hidden)}
    for prefix, shape in linears.items():
        w |= {f"{prefix}.weight": tensor(*shape), f"{prefix}.bias": tensor(shape[0])}
    return w


def run(graph: bytes, ids: list[list[int]]) -> np.ndarray:
    ort = pytest.importorskip("onnxruntime")
    session = ort.InferenceSession(graph, providers=["CPUExecutionProvider"])
    longest = max(map(len, ids))
    tokens = np.array([row + [9] * (longest - len(row)) for row in ids], dtype=np.int64)
    mask = np.array([[1] * len(row) + [0] * (longest - len(row)) for row in ids], dtype=np.int64)
    result: np.ndarray = session.run(None, {"input_ids": tokens, "attention_mask": mask})[0]
    return result


def test_the_graph_is_bert_whatever_stands_at_the_padding() -> None:
    pytest.importorskip("onnx")
    weights = random_weights(np.random.default_rng(0))
    ids = [[1, 4, 7, 2], [1, 29, 2], [1, 5, 5, 8, 11, 3, 2]]
    vectors = run(bert_graph(weights, BertShape(layers=2, heads=3)), ids)
    expected = [bert_sentence(weights, row, layers=2, heads=3) for row in ids]
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_a_graph_is_the_same_bytes_each_time() -> None:
    pytest.importorskip("onnx")
    weights = random_weights(np.random.default_rng(1))
    shape = BertShape(layers=2, heads=3)
    assert bert_graph(weights, shape) == bert_graph(weights, shape)


def test_a_missing_tensor_is_named() -> None:
    pytest.importorskip("onnx")
    weights = random_weights(np.random.default_rng(2))
    del weights["encoder.layer.1.output.dense.bias"]
    with pytest.raises(DataError, match=r"'encoder\.layer\.1\.output\.dense\.bias'"):
        bert_graph(weights, BertShape(layers=2, heads=3))


def test_minilm_itself_agrees_with_numpy(minilm: Callable[[str], OnnxEmbedder]) -> None:
    from safetensors.numpy import load
    from tokenizers import Tokenizer

    files = find_minilm()
    weights = load(files.read("model.safetensors"))
    tokenizer = Tokenizer.from_buffer(files.read("tokenizer.json"))
    tokenizer.no_padding()
    texts = ["The ferry leaves at nine.", "Who moved the kettle, and when?"]
    expected = [bert_sentence(weights, tokenizer.encode(t).ids, 6, 12) for t in texts]
    np.testing.assert_allclose(minilm("f32").embed(texts), expected, atol=1e-4)


def test_int8_is_near_float32_and_has_another_name(minilm: Callable[[str], OnnxEmbedder]) -> None:
    texts = ["The ferry leaves at nine.", "Who moved the kettle, and when?"]
    full, small = minilm("f32"), minilm("int8")
    cosine = (full.embed(texts) * small.embed(texts)).sum(axis=1)
    assert np.all(cosine > 0.97)
    assert np.all(cosine < 0.99999)
    assert (full.name, small.name) == ("minilm-l6-v2-onnx-f32", "minilm-l6-v2-onnx-int8")


def test_paraphrases_are_near(minilm: Callable[[str], OnnxEmbedder]) -> None:
    car, auto, soup = minilm("f32").embed(
        ["He bought a car.", "He purchased an automobile.", "Soup needs salt."]
    )
    assert car @ auto > car @ soup + 0.5


def test_texts_are_cut_at_256_tokens(minilm: Callable[[str], OnnxEmbedder]) -> None:
    first, longer = minilm("f32").embed(["kettle " * 254, "kettle " * 254 + "ferry " * 50])
    np.testing.assert_allclose(first, longer, atol=1e-6)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MiniLmFiles:
    """Files that build in no time: the graph's content does not matter to the cache."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    monkeypatch.setattr(onnx_cache, "load_weights", lambda _: {})
    monkeypatch.setattr(onnx_cache, "bert_graph", lambda _: b"graph")
    return MiniLmFiles(folder)


def test_the_graph_is_built_once(
    tiny: MiniLmFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = onnx_cache.cached_graph(tiny, "f32", tmp_path / "cache")
    monkeypatch.setattr(onnx_cache, "bert_graph", lambda _: pytest.fail("built twice"))
    assert onnx_cache.cached_graph(tiny, "f32", tmp_path / "cache") == first
    assert first.read_bytes() == b"graph"
    assert [p.name for p in first.parent.iterdir()] == [first.name]


def test_other_weights_have_another_graph(tiny: MiniLmFiles, tmp_path: Path) -> None:
    first = onnx_cache.cached_graph(tiny, "f32", tmp_path)
    (tiny.path / "model.safetensors").write_bytes(b"others")
    assert onnx_cache.cached_graph(tiny, "f32", tmp_path) != first


def test_a_failed_build_leaves_no_file(
    tiny: MiniLmFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Any) -> bytes:
        raise DataError("no")

    monkeypatch.setattr(onnx_cache, "bert_graph", fail)
    with pytest.raises(DataError):
        onnx_cache.cached_graph(tiny, "f32", tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_folder_and_a_zip_of_it_have_one_checksum(tiny: MiniLmFiles, tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "model.zip", "w") as archive:
        archive.writestr("model.safetensors", b"weights")
    zipped = MiniLmFiles(tmp_path / "model.zip")
    assert zipped.checksum() == tiny.checksum()
    assert zipped.read("model.safetensors") == b"weights"


def test_a_folder_without_the_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"holds no tokenizer\.json"):
        OnnxEmbedder(model=tmp_path)


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(InputError, match="f32 or int8"):
        OnnxEmbedder("f16")  # type: ignore[arg-type]


def test_without_the_weights_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm_files.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r"memgene\[onnx\]"):
        OnnxEmbedder()
