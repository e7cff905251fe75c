"""What every embedder promises, whichever it is."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memgene.core.errors import InputError
from memgene.embed.cached import CachedEmbedder
from memgene.embed.hashing import HashingEmbedder
from memgene.embed.protocol import Embedder

TEXTS = [
    "The ferry leaves at nine.",
    "kettle",
    "",
    "Ein Zug fährt nach Köln",
    "渡し船は九時に出ます",
    "🎈🎈",
    "The ferry leaves at nine. " * 30,
]


@pytest.fixture(params=["hashing", "static", "cached", "minilm-f32", "minilm-int8"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    match request.param:
        case "hashing":
            return HashingEmbedder()
        case "static":
            return request.getfixturevalue("static")  # type: ignore[no-any-return]
        case "cached":
            return CachedEmbedder(HashingEmbedder(), max_items=3)
        case name:
            return request.getfixturevalue("minilm")(name.removeprefix("minilm-"))  # type: ignore[no-any-return]


def assert_unit_or_zero(vectors: np.ndarray) -> None:
    norms = np.linalg.norm(vectors, axis=1)
    assert np.all((norms == 0) | (np.abs(norms - 1) < 1e-5)), norms


def test_rows_are_float32_and_unit_length_or_zero(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert vectors.dtype == np.float32
    assert_unit_or_zero(vectors)


def test_no_text_gives_no_row(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimension)


def test_a_text_without_tokens_is_zero(embedder: Embedder) -> None:
    assert not embedder.embed([""]).any()


def test_equal_texts_give_equal_rows_whatever_their_company(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    backwards = embedder.embed(TEXTS[::-1])[::-1]
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    np.testing.assert_allclose(together, backwards, atol=1e-6)
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_different_texts_differ(embedder: Embedder) -> None:
    first, second = embedder.embed(["a red kettle", "nine ferries"])
    assert first @ second < 0.9


def test_threads_do_not_disturb_each_other(embedder: Embedder) -> None:
    short = TEXTS[:-1]
    expected = embedder.embed(short)
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(lambda _: embedder.embed(short), range(8)):
            np.testing.assert_allclose(vectors, expected, atol=1e-6)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts=st.lists(st.text(max_size=40), max_size=4))
def test_any_unicode_is_a_text(embedder: Embedder, texts: list[str]) -> None:
    vectors = embedder.embed(texts)
    assert vectors.shape == (len(texts), embedder.dimension)
    assert_unit_or_zero(vectors)


def test_one_string_is_not_a_sequence_of_texts(embedder: Embedder) -> None:
    with pytest.raises(InputError, match=r"pass \[text\]"):
        embedder.embed("a kettle")


def test_a_lone_surrogate_is_refused_and_located(embedder: Embedder) -> None:
    with pytest.raises(InputError, match="text 1 holds a lone surrogate at character 2"):
        embedder.embed(["fine", "ab\ud800"])


def test_what_is_not_text_is_refused(embedder: Embedder) -> None:
    with pytest.raises(InputError, match="text 0 is a int"):
        embedder.embed([7])  # type: ignore[list-item]


def test_the_name_is_not_empty_and_stable(embedder: Embedder) -> None:
    assert embedder.name
    assert embedder.name == embedder.name
