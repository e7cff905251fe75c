"""The static embedder against WordLlama's files read by hand."""

import hashlib
import importlib.util
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from memgene.embed import static as module
from memgene.embed.protocol import WordVectors
from memgene.embed.static import StaticEmbedder


@pytest.fixture(scope="module")
def folder() -> Path:
    spec = importlib.util.find_spec("wordllama")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0])


@pytest.fixture(scope="module")
def table(folder: Path) -> np.ndarray:
    """Token vectors, parsed from the safetensors layout: length, JSON header, raw numbers."""
    raw = (folder / "weights/l2_supercat_256.safetensors").read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    entry = json.loads(raw[8 : 8 + size])["embedding.weight"]
    assert entry["dtype"] == "F16"
    numbers = np.frombuffer(raw[8 + size :], dtype="<f2")
    return numbers.reshape(entry["shape"]).astype(np.float64)


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize(
    "text", ["kettle", "The ferry leaves at nine.", "Köln, 九時 🎈", "ferry " * 9000]
)
def test_a_text_is_the_normalised_mean_of_its_token_vectors(
    static: StaticEmbedder, table: np.ndarray, tokenizer: Tokenizer, text: str
) -> None:
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    np.testing.assert_allclose(static.embed([text])[0], unit(table[ids].mean(axis=0)), atol=1e-5)


def test_a_word_is_centred_on_the_vocabulary(
    static: StaticEmbedder, table: np.ndarray, tokenizer: Tokenizer
) -> None:
    rows = static.words(["kettle", "adoption", "kettle"])
    for row, word in zip(rows, ["kettle", "adoption", "kettle"], strict=True):
        ids = tokenizer.encode(word, add_special_tokens=False).ids
        expected = unit(table[ids].mean(axis=0) - table.mean(axis=0))
        np.testing.assert_allclose(row, expected, atol=2e-6)


def test_a_word_without_tokens_is_zero_and_no_words_are_no_rows(static: StaticEmbedder) -> None:
    assert not static.words([""]).any()
    assert static.words([]).shape == (0, 256)


def test_near_words_are_nearer_than_far_ones(static: StaticEmbedder) -> None:
    doctor, physician, gravel = static.words(["doctor", "physician", "gravel"])
    assert doctor @ physician > doctor @ gravel + 0.2


def test_it_offers_word_vectors(static: StaticEmbedder) -> None:
    assert isinstance(static, WordVectors)


def test_the_name_identifies_the_weights(static: StaticEmbedder, folder: Path) -> None:
    raw = (folder / "weights/l2_supercat_256.safetensors").read_bytes()
    assert static.name == f"wordllama-256-{hashlib.sha256(raw).hexdigest()[:8]}"


def test_absent_files_say_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "_package_folder", lambda _: tmp_path)
    with pytest.raises(ImportError, match="pip install 'wordllama=="):
        StaticEmbedder()


def test_an_absent_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ImportError, match="pip install wordllama"):
        StaticEmbedder()
