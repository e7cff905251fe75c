"""The sentence-transformers embedder over a double that speaks the package's interface."""

import sys
from types import ModuleType

import numpy as np
import pytest

from memgene.core.errors import DataError, MissingDependencyError
from memgene.embed.sentence_transformers import SentenceTransformersEmbedder


class Model:
    """Encodes a text as (length, vowels), not normalised."""

    size: int | None = 2

    def __init__(self, name: str, device: str | None = None) -> None:
        self.loaded = (name, device)
        self.encoded: list[str] = []

    def get_sentence_embedding_dimension(self) -> int | None:
        return self.size

    def encode(
        self, texts: list[str], *, batch_size: int, convert_to_numpy: bool, show_progress_bar: bool
    ) -> np.ndarray:
        assert batch_size == 4
        assert convert_to_numpy
        assert not show_progress_bar
        self.encoded += texts
        return np.array([[len(t), sum(c in "aeiou" for c in t)] for t in texts], dtype=np.float32)


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = Model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    return module


@pytest.mark.usefixtures("package")
def test_rows_are_normalised_and_blank_texts_are_zero() -> None:
    embedder = SentenceTransformersEmbedder("tiny", batch_size=4, device="cpu")
    # "abcd": 4 letters, 1 vowel; "eat": 3 letters, 2 vowels
    expected = [[4 / 17**0.5, 1 / 17**0.5], [0, 0], [3 / 13**0.5, 2 / 13**0.5]]
    np.testing.assert_allclose(embedder.embed(["abcd", " ", "eat"]), expected, rtol=1e-6)
    assert embedder.embed([]).shape == (0, 2)
    assert embedder.name == "sentence-transformers/tiny"


@pytest.mark.usefixtures("package")
def test_the_name_of_the_size_method_since_version_5_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Model, "get_embedding_dimension", lambda self: 2, raising=False)
    monkeypatch.delattr(Model, "get_sentence_embedding_dimension")
    assert SentenceTransformersEmbedder("tiny").dimension == 2


@pytest.mark.usefixtures("package")
def test_a_model_without_a_size_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Model, "size", None)
    with pytest.raises(DataError, match="'tiny' does not say"):
        SentenceTransformersEmbedder("tiny")


def test_without_the_package_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingDependencyError, match=r"memgene\[sentence-transformers\]"):
        SentenceTransformersEmbedder("tiny")
