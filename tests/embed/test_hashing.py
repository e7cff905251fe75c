"""The hashing embedder, worked out with hashlib."""

import hashlib

import numpy as np
import pytest

from memgene.core.errors import InputError
from memgene.embed.hashing import HashingEmbedder


def slot(word: str, dimension: int = 64) -> int:
    return int(hashlib.sha256(word.encode()).hexdigest()[:16], 16) % dimension


def test_each_word_adds_one_to_its_slot() -> None:
    expected = np.zeros(64)
    for word in ["tea", "for", "two", "two"]:
        expected[slot(word)] += 1
    expected /= np.linalg.norm(expected)
    np.testing.assert_allclose(
        HashingEmbedder().embed(["Tea for two, TWO!"])[0], expected, atol=1e-6
    )


def test_order_and_punctuation_do_not_count() -> None:
    first, second = HashingEmbedder().embed(["tea for two", "two: for tea?"])
    np.testing.assert_array_equal(first, second)


def test_the_dimension_is_free_and_named() -> None:
    embedder = HashingEmbedder(8)
    assert (embedder.dimension, embedder.name) == (8, "hashing-8")
    assert np.argmax(embedder.embed(["tea"])[0]) == slot("tea", 8)


def test_a_dimension_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1"):
        HashingEmbedder(0)
