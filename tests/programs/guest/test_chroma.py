"""What the toolkit's own collections promise beyond chromadb: few embeddings, exactness, order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memgene.programs.guest.chroma import ChromaClient, Collection, chroma_module


class Embedder:
    """Counts the letters a and b, and keeps what it was asked."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        return np.asarray([[t.count("a"), t.count("b")] for t in texts], np.float32)


@pytest.fixture
def embed() -> Embedder:
    return Embedder()


@pytest.fixture
def made(embed: Embedder) -> Collection:
    return ChromaClient(embed).create_collection("notes")


class TestEmbedding:
    def test_all_that_waits_goes_with_the_query_in_one_call(
        self, made: Collection, embed: Embedder
    ) -> None:
        made.add(ids=["1"], documents=["a"])
        made.add(ids=["2", "3"], documents=["b", "ab"])
        assert made.count() == 3
        assert made.get(where_document={"$contains": "b"})["ids"] == ["2", "3"]
        assert embed.calls == []
        assert made.query(query_texts=["bb"], n_results=1)["ids"] == [["2"]]
        assert embed.calls == [["a", "b", "ab", "bb"]]
        made.query(query_texts=["a"])
        assert embed.calls[1:] == [["a"]]

    def test_only_the_last_text_of_a_record_is_embedded(
        self, made: Collection, embed: Embedder
    ) -> None:
        made.add(ids=["1", "2"], documents=["a", "b"])
        made.update(ids=["1"], documents=["aa"])
        made.delete(ids=["2"])
        made.add(ids=["1"], documents=["ignored, the id is there"])
        made.query(query_texts=["a"])
        assert embed.calls == [["aa", "a"]]

    def test_a_changed_document_is_embedded_again(self, made: Collection, embed: Embedder) -> None:
        made.add(ids=["1"], documents=["a"])
        made.query(query_texts=["a"])
        made.update(ids=["1"], metadatas=[{"n": 1}])
        made.query(query_texts=["a"])
        made.update(ids=["1"], documents=["b"])
        assert made.query(query_texts=["b"])["distances"] == [[0]]
        assert embed.calls == [["a", "a"], ["a"], ["b", "b"]]

    def test_nothing_is_embedded_where_nothing_can_be_found(
        self, made: Collection, embed: Embedder
    ) -> None:
        made.query(query_texts=["a"])
        made.add(ids=["1"], documents=["a"], metadatas=[{"n": 1}])
        made.query(query_texts=["a"], where={"n": 2})
        assert embed.calls == []

    def test_what_failed_to_be_embedded_waits_on(self, made: Collection) -> None:
        left = [RuntimeError("no answer")]

        def embed(texts: Sequence[str]) -> NDArray[np.float32]:
            if left:
                raise left.pop()
            return np.ones((len(texts), 1), np.float32)

        made = ChromaClient(embed).create_collection("notes")
        made.add(ids=["1"], documents=["a"])
        with pytest.raises(RuntimeError, match="no answer"):
            made.query(query_texts=["a"])
        assert made.query(query_texts=["a"])["ids"] == [["1"]]

    def test_an_embedding_function_must_give_a_row_a_text(self) -> None:
        client = ChromaClient(lambda texts: np.ones((1, 2), np.float32))
        made = client.create_collection("notes")
        made.add(ids=["1", "2"], documents=["a", "b"])
        with pytest.raises(ValueError, match="3 texts"):
            made.query(query_texts=["a"])

    def test_a_stand_in_for_chromadb_s_own_function_means_the_client_s(
        self, embed: Embedder
    ) -> None:
        client = ChromaClient(embed)
        functions = chroma_module(lambda: client).utils.embedding_functions
        made = client.create_collection(
            "notes", embedding_function=functions.DefaultEmbeddingFunction()
        )
        made.add(ids=["1"], documents=["a"])
        made.peek()
        assert embed.calls == [["a"]]
        with pytest.raises(ValueError, match="leave it out"):
            client.create_collection("other", embedding_function="all-MiniLM")


class TestOrder:
    def test_equal_distances_come_in_insertion_order(self, made: Collection) -> None:
        ids = [f"{n:03}" for n in np.random.default_rng(0).permutation(300)]
        made.add(ids=ids, documents=["ab"] * 300)
        found = made.query(query_texts=["ab"], n_results=7)
        assert found["ids"] == [ids[:7]]
        assert found["distances"] == [[0.0] * 7]

    def test_collections_are_listed_in_the_order_they_were_made(self, embed: Embedder) -> None:
        client = ChromaClient(embed)
        for name in ("z", "kb", "a"):
            client.create_collection(name)
        client.get_collection("kb").modify(name="renamed")
        assert [c.name for c in client.list_collections()] == ["z", "renamed", "a"]
        client.reset()
        assert client.list_collections() == []

    def test_metadata_keep_their_keys_in_order(self, made: Collection) -> None:
        made.add(ids=["1"], documents=["a"], metadatas=[{"z": 1, "a": 2}])
        assert list(made.get()["metadatas"][0]) == ["z", "a"]


vectors = st.lists(st.integers(-4, 4), min_size=3, max_size=3)


@given(
    stored=st.lists(vectors, min_size=1, max_size=40),
    removed=st.sets(st.integers(0, 39)),
    asked=vectors,
    count=st.integers(1, 12),
    space=st.sampled_from(["l2", "cosine", "ip"]),
)
@settings(max_examples=200, deadline=None)
def test_the_nearest_are_found_exactly(
    stored: list[list[int]], removed: set[int], asked: list[int], count: int, space: str
) -> None:
    made = ChromaClient(Embedder()).create_collection("notes", metadata={"hnsw:space": space})
    made.add(ids=[str(n) for n in range(len(stored))], embeddings=stored)
    gone = [str(n) for n in sorted(removed) if n < len(stored)]
    if gone:
        made.delete(ids=gone)

    def distance(vector: list[int]) -> float:
        if space == "l2":
            return float(sum((x - y) ** 2 for x, y in zip(vector, asked, strict=True)))
        product = sum(x * y for x, y in zip(vector, asked, strict=True))
        if space == "ip":
            return 1.0 - product
        length = (sum(x * x for x in vector) * sum(x * x for x in asked)) ** 0.5
        return 1.0 - product / length if length else 1.0

    left = [n for n in range(len(stored)) if str(n) not in gone]
    # Vectors in one direction have one cosine, which float32 sees to 7 digits.
    best = sorted(left, key=lambda n: (round(distance(stored[n]), 5), n))[:count]
    found = made.query(query_embeddings=[asked], n_results=count)
    if space == "cosine":
        assert found["distances"][0] == pytest.approx([distance(stored[n]) for n in best], abs=1e-6)
    else:
        assert found["ids"] == [[str(n) for n in best]]
        assert found["distances"] == [[distance(stored[n]) for n in best]]


def test_many_deletions_leave_the_rest_as_it_was(made: Collection) -> None:
    """More than half of the rows are given up and closed."""
    made.add(ids=[str(n) for n in range(400)], embeddings=[[n, 0] for n in range(400)])
    made.delete(ids=[str(n) for n in range(400) if n % 4])
    made.add(ids=["new"], documents=["aab"])
    assert made.count() == 101
    assert made.get(limit=3)["ids"] == ["0", "4", "8"]
    assert made.get(["8", "new"], include=["embeddings"])["embeddings"].tolist() == [[8, 0], [2, 1]]
    assert made.query(query_embeddings=[[9, 0]], n_results=2)["ids"] == [["8", "12"]]
    assert made.query(query_texts=["aab"], n_results=1)["ids"] == [["new"]]


def test_documents_that_wait_survive_the_closing_of_rows(made: Collection, embed: Embedder) -> None:
    made.add(ids=[str(n) for n in range(200)], documents=["a" * n for n in range(200)])
    made.delete(ids=[str(n) for n in range(150)])
    assert made.query(query_texts=["a" * 160], n_results=1)["ids"] == [["160"]]
    assert len(embed.calls) == 1
    assert len(embed.calls[0]) == 51


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ({"n": 0.5}, []),
        ({"n": {"$lt": 0.5}}, ["zero"]),
        ({"n": {"$gte": 0.5}}, ["one"]),
        ({"many": {"$contains": 1}}, ["one"]),
        ({"many": {"$contains": 1.0}}, []),
    ],
)
def test_fractions_are_compared_as_they_are(
    made: Collection, where: dict[str, Any], ids: list[str]
) -> None:
    """chromadb would truncate the 0.5."""
    made.add(
        ids=["zero", "one"], documents=["a", "b"], metadatas=[{"n": 0}, {"n": 1, "many": [0, 1]}]
    )
    assert made.get(where=where)["ids"] == ids


class TestModule:
    def test_clients_are_the_toolkit_s(self, embed: Embedder) -> None:
        client = ChromaClient(embed)
        chromadb = chroma_module(lambda: client)
        made = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))
        assert made is chromadb.Client() is chromadb.PersistentClient(path="./memory") is client
        with pytest.raises(ValueError, match="no network"):
            chromadb.HttpClient(host="localhost")

    def test_its_exceptions_can_be_caught(self, embed: Embedder) -> None:
        client = ChromaClient(embed)
        chromadb = chroma_module(lambda: client)
        with pytest.raises(chromadb.errors.NotFoundError, match="get_or_create_collection"):
            client.get_collection("none")
        with pytest.raises(ValueError, match="none"):
            client.get_collection("none")

    def test_a_program_s_own_embedding_function(self, embed: Embedder) -> None:
        client = ChromaClient(embed)
        chromadb = chroma_module(lambda: client)

        class Lengths(chromadb.EmbeddingFunction[chromadb.Documents]):  # type: ignore[misc, name-defined]
            def __call__(self, input: Any) -> Any:
                return [[float(len(text))] for text in input]

        made = client.get_or_create_collection("notes", embedding_function=Lengths())
        made.add(ids=["1", "2"], documents=["long text", "text"])
        assert made.query(query_texts=["four"], n_results=1)["distances"] == [[0]]
        assert embed.calls == []


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda c: c.get(where={"a": 1, "b": 2}), r"\$and"),
        (lambda c: c.get(where={"a": {"$gt": 1, "$lt": 3}}), r"range as"),
        (lambda c: c.get(where={"a": {"$gt": "2024"}}), "as a number"),
        (lambda c: c.get(where={}), "leave where out"),
        (lambda c: c.add(ids=[1], documents=["a"]), r"str\(1\)"),
        (lambda c: c.add(ids=["x", "x"], documents=["a", "b"]), "given twice: 'x'"),
        (lambda c: c.add(ids=["x"], documents=["a"], metadatas=[{"k": {}}]), "json.dumps"),
        (lambda c: c.add(ids=["x"], documents=["a"], metadatas=[{}]), "leave metadatas out"),
        (lambda c: c.add(ids=["x"], documents=["a", "b"]), "ids: 1, documents: 2"),
        (lambda c: c.query(query_texts=["a"], n_results=0), "at least 1"),
    ],
)
def test_errors_say_what_to_do(made: Collection, call: Any, advice: str) -> None:
    with pytest.raises((ValueError, TypeError), match=advice):
        call(made)
