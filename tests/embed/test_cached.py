"""The cache embeds a text once, keeps a bounded number, and changes no vector."""

import threading
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.core.errors import InputError
from memgene.embed.cached import CachedEmbedder
from memgene.embed.hashing import HashingEmbedder
from memgene.embed.protocol import Vectors


class Recorder(HashingEmbedder):
    """Remembers which texts it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.extend(texts)
        return super().embed(texts)


def test_each_distinct_text_is_embedded_once() -> None:
    inner = Recorder()
    cached = CachedEmbedder(inner)
    cached.embed(["tea", "milk", "tea"])
    cached.embed(["milk", "sugar"])
    assert inner.asked == ["tea", "milk", "sugar"]


def test_the_least_recently_used_text_is_forgotten() -> None:
    inner = Recorder()
    cached = CachedEmbedder(inner, max_items=2)
    cached.embed(["tea"])
    cached.embed(["milk"])
    cached.embed(["tea"])  # now milk is the older one
    cached.embed(["sugar"])
    inner.asked.clear()
    cached.embed(["tea"])
    cached.embed(["milk"])
    assert inner.asked == ["milk"]


def test_the_caller_may_change_what_it_got() -> None:
    cached = CachedEmbedder(HashingEmbedder())
    first = cached.embed(["tea"])
    kept = first.copy()
    first[:] = 7
    np.testing.assert_array_equal(cached.embed(["tea"]), kept)


def test_it_bears_the_name_of_what_it_wraps() -> None:
    cached = CachedEmbedder(HashingEmbedder(16))
    assert (cached.name, cached.dimension) == ("hashing-16", 16)


@given(
    calls=st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), max_size=8),
    size=st.integers(1, 9),
)
def test_the_vectors_are_those_of_the_wrapped_embedder(calls: list[list[str]], size: int) -> None:
    plain, cached = HashingEmbedder(), CachedEmbedder(HashingEmbedder(), max_items=size)
    for texts in calls:
        np.testing.assert_array_equal(cached.embed(texts), plain.embed(texts))


def test_the_cache_grows_past_its_first_allocation() -> None:
    texts = [f"word{i}" for i in range(1000)]
    inner = Recorder()
    cached = CachedEmbedder(inner, max_items=700)
    expected = HashingEmbedder().embed(texts)
    np.testing.assert_array_equal(cached.embed(texts), expected)
    inner.asked.clear()
    np.testing.assert_array_equal(cached.embed(texts[300:]), expected[300:])
    assert inner.asked == []


def test_a_cache_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1"):
        CachedEmbedder(HashingEmbedder(), max_items=0)


def test_many_threads_share_a_small_cache() -> None:
    cached = CachedEmbedder(HashingEmbedder(), max_items=5)
    texts = [f"word{i}" for i in range(20)]
    expected = HashingEmbedder().embed(texts)
    wrong: list[int] = []

    def work(start: int) -> None:
        for step in range(100):
            i = (start + step) % 20
            if not np.array_equal(cached.embed([texts[i]])[0], expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
