"""Embedders by name, and what importing the room costs."""

import subprocess
import sys

import pytest

from memgene.core.errors import ConfigError
from memgene.embed import WordVectors, load_embedder, word_vectors
from memgene.embed.cached import CachedEmbedder
from memgene.embed.hashing import HashingEmbedder
from memgene.embed.static import StaticEmbedder


def test_the_default_is_static() -> None:
    assert isinstance(load_embedder(), StaticEmbedder)


def test_options_go_to_the_embedder() -> None:
    embedder = load_embedder("hashing", dimension=32)
    assert isinstance(embedder, HashingEmbedder)
    assert embedder.dimension == 32


def test_a_model_on_a_server_is_cached_and_asked_nothing_before_the_first_text() -> None:
    embedder = load_embedder("openai/tiny", base_url="http://127.0.0.1:1/v1", api_key="none")
    assert isinstance(embedder, CachedEmbedder)
    assert "tiny" in embedder.name


def test_word_vectors_are_the_static_ones() -> None:
    vectors = word_vectors()
    assert isinstance(vectors, WordVectors)
    assert vectors.dimension == 256


@pytest.mark.parametrize("name", ["", "wordnet", "openai", "openai/", "sentence-transformers/"])
def test_an_unknown_name_is_answered_with_the_choices(name: str) -> None:
    with pytest.raises(ConfigError, match="static, hashing, minilm, minilm-int8, sentence-"):
        load_embedder(name)


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(ConfigError, match="'hashing': got an unexpected keyword argument 'size'"):
        load_embedder("hashing", size=3)


def test_import_loads_no_heavy_package() -> None:
    code = (
        "import sys, memgene.embed, memgene.embed.static, memgene.embed.onnx, "
        "memgene.embed.openai, memgene.embed.sentence_transformers;"
        "heavy = {'tokenizers', 'safetensors', 'onnxruntime', 'onnx', 'openai', 'torch', "
        "'sentence_transformers', 'wordllama'};"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
