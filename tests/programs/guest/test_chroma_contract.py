"""One contract for two clients: the toolkit's own, and chromadb itself where it is installed.

A text's vector counts the words red, green and blue in it, so every distance is worked out by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memgene.programs.guest.chroma import ChromaClient
from memgene.programs.guest.chroma.real import RealChroma

WORDS = ("red", "green", "blue")
pytestmark = pytest.mark.filterwarnings("ignore")  # chromadb's own


def counts(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.asarray([[text.split().count(word) for word in WORDS] for text in texts], np.float32)


@dataclass
class Kit:
    """A client whose collections embed by `counts`."""

    client: Any

    def collection(self, name: str = "things", **options: Any) -> Any:
        return self.client.get_or_create_collection(name, **options)


@pytest.fixture(params=["memgene", "chromadb"])
def kit(request: pytest.FixtureRequest) -> Kit:
    if request.param == "memgene":
        return Kit(ChromaClient(counts))
    chromadb = pytest.importorskip("chromadb")
    # All its clients in memory share one system, and lists in metadata outlive their records there.
    chromadb.api.client.SharedSystemClient.clear_system_cache()
    return Kit(RealChroma(counts))


@pytest.fixture
def colours(kit: Kit) -> Any:
    """Four records; `d` has neither metadata nor a word that the embedding knows."""
    made = kit.collection()
    made.add(
        ids=["a", "b", "c", "d"],
        documents=["red", "red green", "blue blue", "plain words"],
        metadatas=[
            {"n": 1, "s": "x", "ok": True},
            {"n": 2, "f": 1.5, "s": "y", "tags": ["p", "q"]},
            {"n": 3, "s": "x", "ok": False, "tags": ["q"]},
            None,
        ],
    )
    return made


class TestAdd:
    def test_records_come_back_in_insertion_order(self, colours: Any) -> None:
        found = colours.get(ids=["d", "a", "missing"])
        assert found["ids"] == ["a", "d"]
        assert found["documents"] == ["red", "plain words"]
        assert found["metadatas"] == [{"n": 1, "s": "x", "ok": True}, None]
        assert colours.count() == 4

    def test_get_has_these_keys(self, colours: Any) -> None:
        found = colours.get()
        assert type(found) is dict
        assert found["included"] == ["metadatas", "documents"]
        assert found["embeddings"] is None
        assert found["uris"] is None
        assert found["data"] is None
        assert sorted(found) == [
            "data",
            "documents",
            "embeddings",
            "ids",
            "included",
            "metadatas",
            "uris",
        ]

    def test_single_values_stand_for_lists_of_one(self, kit: Kit) -> None:
        made = kit.collection()
        made.add(ids="a", documents="red", metadatas={"n": 1})
        assert made.get("a")["metadatas"] == [{"n": 1}]

    def test_a_known_id_keeps_its_record(self, colours: Any) -> None:
        colours.add(ids=["a", "e"], documents=["green", "green"])
        assert colours.get(["a", "e"])["documents"] == ["red", "green"]
        assert colours.count() == 5

    def test_an_id_twice_in_one_call_is_refused_and_nothing_is_added(self, colours: Any) -> None:
        with pytest.raises(Exception, match="e") as caught:
            colours.add(ids=["e", "f", "e"], documents=["red", "red", "red"])
        assert type(caught.value).__name__ == "DuplicateIDError"
        assert colours.count() == 4

    def test_embeddings_may_be_given_instead_of_documents(self, kit: Kit) -> None:
        made = kit.collection()
        made.add(ids=["a", "b"], embeddings=[[1, 2, 3], [3, 2, 1]])
        made.add(ids="c", embeddings=[0.5, 0, 0])
        made.add(ids=["d"], embeddings=np.ones((1, 3)), documents=["red"])
        found = made.get(include=["embeddings", "documents"])
        assert found["embeddings"].tolist() == [[1, 2, 3], [3, 2, 1], [0.5, 0, 0], [1, 1, 1]]
        assert found["documents"] == [None, None, None, "red"]
        assert made.get()["metadatas"] == [None] * 4

    def test_documents_and_given_embeddings_stand_side_by_side(self, kit: Kit) -> None:
        made = kit.collection()
        made.add(ids=["a"], documents=["red"])
        made.add(ids=["b"], embeddings=[[0, 0, 9]])
        made.add(ids=["c"], documents=["green"])
        found = made.get(include=["embeddings"])["embeddings"]
        assert found.tolist() == [[1, 0, 0], [0, 0, 9], [0, 1, 0]]

    @pytest.mark.parametrize(
        ("arguments", "kind"),
        [
            ({"ids": ["a"]}, ValueError),
            ({"ids": ["a"], "metadatas": [{"n": 1}]}, ValueError),
            ({"ids": [], "documents": []}, ValueError),
            ({"ids": ["a", "b"], "documents": ["red"]}, ValueError),
            ({"ids": ["a"], "documents": ["red"], "metadatas": [{"n": 1}] * 2}, ValueError),
            ({"ids": [1], "documents": ["red"]}, ValueError),
            ({"ids": ["a"], "documents": [1]}, ValueError),
            ({"ids": ["a"], "documents": [None]}, ValueError),
            ({"ids": ["a"], "documents": ["\ud800"]}, UnicodeEncodeError),
            ({"ids": ["a"], "documents": ["red"], "metadatas": [{}]}, ValueError),
            (
                {"ids": ["a"], "documents": ["red"], "metadatas": ["n"]},
                (ValueError, AttributeError),
            ),
            ({"ids": ["a"], "documents": ["red"], "metadatas": [{"n": {"m": 1}}]}, ValueError),
            ({"ids": ["a"], "documents": ["red"], "metadatas": [{"n": []}]}, ValueError),
            ({"ids": ["a"], "documents": ["red"], "metadatas": [{"n": [1, "x"]}]}, ValueError),
            ({"ids": ["a"], "documents": ["red"], "metadatas": [{"n": (1, 2)}]}, ValueError),
            ({"ids": ["a"], "documents": ["red"], "metadatas": [{"n": np.int64(1)}]}, ValueError),
            ({"ids": ["a"], "documents": ["red"], "metadatas": [{"n": None}]}, TypeError),
            ({"ids": ["a"], "documents": ["red"], "metadatas": [{1: "x"}]}, TypeError),
            ({"ids": ["a"], "embeddings": []}, ValueError),
            ({"ids": ["a"], "embeddings": ["red"]}, ValueError),
        ],
    )
    def test_refuses(self, kit: Kit, arguments: dict[str, Any], kind: type[Exception]) -> None:
        made = kit.collection()
        with pytest.raises(kind):
            made.add(**arguments)
        assert made.count() == 0

    @pytest.mark.parametrize(
        "arguments",
        [
            {"ids": [""], "documents": ["red"]},
            {"ids": ["a"], "embeddings": [[1, float("nan"), 1]]},
            {"ids": ["a", "b"], "embeddings": [[1, 2, 3], [1, 2]]},
        ],
    )
    def test_refuses_as_an_invalid_argument(self, kit: Kit, arguments: dict[str, Any]) -> None:
        made = kit.collection()
        with pytest.raises(Exception) as caught:  # noqa: PT011 - the class differs, not its name
            made.add(**arguments)
        assert type(caught.value).__name__ == "InvalidArgumentError"

    def test_refuses_another_dimension(self, kit: Kit) -> None:
        made = kit.collection()
        made.add(ids=["a"], documents=["red"])
        for wrong in (
            lambda: made.add(ids=["b"], embeddings=[[1, 2]]),
            lambda: made.query(query_embeddings=[[1, 2]]),
        ):
            with pytest.raises(Exception, match=r"3.*2"):
                wrong()
        assert made.count() == 1

    def test_numbers_that_json_cannot_hold(self, kit: Kit) -> None:
        made = kit.collection()
        made.add(
            ids=["a"],
            documents=["red"],
            metadatas=[{"big": 2**70, "half": np.float64(0.5), "none": float("nan")}],
        )
        (found,) = made.get()["metadatas"]
        assert found == pytest.approx({"big": 2.0**70, "half": 0.5})

    def test_what_a_program_does_with_a_result_leaves_the_record_alone(self, colours: Any) -> None:
        colours.get("b")["metadatas"][0]["tags"].append("z")
        colours.query(query_texts=["red"], n_results=1)["metadatas"][0][0]["n"] = 99
        assert colours.get(["a", "b"])["metadatas"] == [
            {"n": 1, "s": "x", "ok": True},
            {"n": 2, "f": 1.5, "s": "y", "tags": ["p", "q"]},
        ]


class TestUpdate:
    def test_changes_what_is_given_and_merges_metadata(self, colours: Any) -> None:
        colours.update(ids=["b"], metadatas=[{"n": 5, "f": None, "new": "v"}])
        colours.update(ids="a", documents="green")
        found = colours.get(["a", "b"], include=["metadatas", "documents", "embeddings"])
        assert found["metadatas"] == [
            {"n": 1, "s": "x", "ok": True},
            {"n": 5, "s": "y", "tags": ["p", "q"], "new": "v"},
        ]
        assert found["documents"] == ["green", "red green"]
        assert found["embeddings"].tolist() == [[0, 1, 0], [1, 1, 0]]

    def test_an_embedding_alone_leaves_the_document(self, colours: Any) -> None:
        colours.update(ids=["a"], embeddings=[[7, 7, 7]])
        found = colours.get("a", include=["documents", "embeddings"])
        assert found["documents"] == ["red"]
        assert found["embeddings"].tolist() == [[7, 7, 7]]

    def test_unknown_ids_are_ignored(self, colours: Any) -> None:
        colours.update(ids=["nobody", "a"], documents=["green", "green"])
        assert colours.count() == 4
        assert colours.get("a")["documents"] == ["green"]

    def test_an_update_of_nothing_does_nothing(self, colours: Any) -> None:
        colours.update(ids=["a"])
        colours.update(ids=["a"], metadatas=[None])
        assert colours.get("a")["metadatas"] == [{"n": 1, "s": "x", "ok": True}]

    def test_order_stays(self, colours: Any) -> None:
        colours.update(ids=["a"], documents=["green"])
        assert colours.get()["ids"] == ["a", "b", "c", "d"]


class TestUpsert:
    def test_adds_and_updates(self, colours: Any) -> None:
        colours.upsert(ids=["e", "a"], documents=["blue", "green"], metadatas=[{"n": 9}, {"n": 8}])
        found = colours.get(include=["metadatas", "documents"])
        assert found["ids"] == ["a", "b", "c", "d", "e"]
        assert found["documents"][0] == "green"
        assert found["metadatas"][0] == {"n": 8, "s": "x", "ok": True}
        assert found["metadatas"][4] == {"n": 9}

    def test_none_removes_a_metadata_key(self, colours: Any) -> None:
        colours.upsert(ids=["a"], documents=["red"], metadatas=[{"n": None, "s": None, "w": 1}])
        assert colours.get("a")["metadatas"] == [{"ok": True, "w": 1}]

    def test_needs_something_to_embed(self, colours: Any) -> None:
        with pytest.raises(ValueError, match="documents"):
            colours.upsert(ids=["a"], metadatas=[{"n": 1}])

    def test_an_id_twice_is_refused(self, colours: Any) -> None:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - the class differs, not its name
            colours.upsert(ids=["a", "a"], documents=["1", "2"])
        assert type(caught.value).__name__ == "DuplicateIDError"


class TestDelete:
    def test_by_id_unknown_ones_are_ignored(self, colours: Any) -> None:
        colours.delete(ids=["a", "nobody"])
        colours.delete(ids="d")
        assert colours.get()["ids"] == ["b", "c"]

    def test_by_filter(self, colours: Any) -> None:
        colours.delete(where={"s": "x"})
        assert colours.get()["ids"] == ["b", "d"]
        colours.delete(where_document={"$contains": "plain"})
        assert colours.get()["ids"] == ["b"]

    def test_ids_and_filter_must_both_hold(self, colours: Any) -> None:
        colours.delete(ids=["a", "b"], where={"s": "x"})
        assert colours.get()["ids"] == ["b", "c", "d"]

    def test_a_deleted_id_can_be_added_again_at_the_end(self, colours: Any) -> None:
        colours.delete(ids=["a"])
        colours.add(ids=["a"], documents=["blue"])
        found = colours.get()
        assert found["ids"] == ["b", "c", "d", "a"]
        assert found["metadatas"][3] is None
        assert colours.query(query_texts=["red red"], n_results=1)["ids"] == [["b"]]

    @pytest.mark.parametrize("arguments", [{}, {"ids": []}, {"ids": ["a"], "limit": 1}])
    def test_refuses(self, colours: Any, arguments: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"ids|IDs|limit"):
            colours.delete(**arguments)
        assert colours.count() == 4


class TestQuery:
    def test_squared_distances_by_default(self, colours: Any) -> None:
        found = colours.query(query_texts=["red red"], n_results=10)
        assert found["ids"] == [["a", "b", "d", "c"]]
        assert found["distances"] == [[1, 2, 4, 8]]
        assert found["documents"] == [["red", "red green", "plain words", "blue blue"]]
        assert found["metadatas"][0][2] is None

    def test_query_has_these_keys(self, colours: Any) -> None:
        found = colours.query(query_texts="red", n_results=1)
        assert type(found) is dict
        assert found["included"] == ["metadatas", "documents", "distances"]
        assert isinstance(found["distances"][0][0], float)
        assert sorted(found) == [
            "data",
            "distances",
            "documents",
            "embeddings",
            "ids",
            "included",
            "metadatas",
            "uris",
        ]
        assert found["embeddings"] is None

    def test_one_inner_list_a_query(self, colours: Any) -> None:
        found = colours.query(query_texts=["blue blue blue", "red green green"], n_results=1)
        assert found["ids"] == [["c"], ["b"]]
        assert found["distances"] == [[1], [1]]

    def test_by_embeddings(self, colours: Any) -> None:
        assert colours.query(query_embeddings=[0.0, 0.0, 2.0], n_results=1)["ids"] == [["c"]]
        many = colours.query(query_embeddings=np.asarray([[0, 0, 2], [1, 0, 0]]), n_results=1)
        assert many["ids"] == [["c"], ["a"]]

    def test_an_empty_collection(self, kit: Kit) -> None:
        found = kit.collection().query(query_texts=["red", "blue"], n_results=3)
        assert found["ids"] == [[], []]
        assert found["documents"] == found["metadatas"] == found["distances"] == [[], []]

    def test_filters_come_before_the_count(self, colours: Any) -> None:
        found = colours.query(query_texts=["red"], n_results=1, where={"n": {"$gt": 1}})
        assert found["ids"] == [["b"]]
        found = colours.query(
            query_texts=["red"], n_results=5, where_document={"$contains": "blue"}
        )
        assert found["ids"] == [["c"]]
        found = colours.query(query_texts=["red"], n_results=5, where={"n": 99})
        assert found["ids"] == found["documents"] == found["distances"] == [[]]

    def test_within_ids(self, colours: Any) -> None:
        assert colours.query(query_texts=["red red"], ids=["c", "b"])["ids"] == [["b", "c"]]
        with pytest.raises(Exception) as caught:  # noqa: PT011 - the class differs, not its name
            colours.query(query_texts=["red"], ids=["nobody"])
        assert type(caught.value).__name__ == "InternalError"

    def test_include(self, colours: Any) -> None:
        found = colours.query(query_texts=["red red"], n_results=2, include=["embeddings"])
        assert found["embeddings"][0].tolist() == [[1, 0, 0], [1, 1, 0]]
        assert found["documents"] is found["metadatas"] is found["distances"] is None
        assert colours.query(query_texts=["red red"], n_results=2, include=[])["ids"] == [
            ["a", "b"]
        ]

    @pytest.mark.parametrize(
        ("space", "order", "distances"),
        [
            ("l2", ["a", "b", "z", "n"], [0, 9, 14, 56]),
            ("cosine", ["a", "b", "z", "n"], [0, 1 - 5 / 70**0.5, 1, 2]),
            ("ip", ["a", "b", "z", "n"], [-13, -4, 1, 15]),
        ],
    )
    @pytest.mark.parametrize("how", ["metadata", "configuration"])
    def test_spaces(
        self, kit: Kit, space: str, order: list[str], distances: list[float], how: str
    ) -> None:
        """Query (1, 2, 3): a is it, b = (2, 0, 1), z = 0, n = −a."""
        option = {"hnsw:space": space} if how == "metadata" else {"hnsw": {"space": space}}
        made = kit.collection(**{how: option})
        made.add(
            ids=["a", "b", "z", "n"], embeddings=[[1, 2, 3], [2, 0, 1], [0, 0, 0], [-1, -2, -3]]
        )
        found = made.query(query_embeddings=[[1, 2, 3]], n_results=4)
        assert found["ids"] == [order]
        assert found["distances"][0] == pytest.approx(distances, abs=1e-6)
        assert made.configuration_json["hnsw"]["space"] == space

    @pytest.mark.parametrize(
        ("arguments", "kind"),
        [
            ({}, ValueError),
            ({"query_texts": []}, ValueError),
            ({"query_texts": [1]}, ValueError),
            ({"query_texts": ["red"], "n_results": 0}, TypeError),
            ({"query_texts": ["red"], "n_results": 2.0}, ValueError),
            ({"query_texts": ["red"], "include": ["everything"]}, ValueError),
            ({"query_texts": ["red"], "include": ("documents",)}, ValueError),
            ({"query_texts": ["red"], "where": {}}, ValueError),
        ],
    )
    def test_refuses(self, colours: Any, arguments: dict[str, Any], kind: type[Exception]) -> None:
        with pytest.raises(kind):
            colours.query(**arguments)


class TestGet:
    def test_limit_and_offset(self, colours: Any) -> None:
        assert colours.get(limit=2)["ids"] == ["a", "b"]
        assert colours.get(limit=2, offset=1)["ids"] == ["b", "c"]
        assert colours.get(offset=3)["ids"] == ["d"]
        assert colours.get(limit=0)["ids"] == []
        assert colours.get(where={"s": "x"}, limit=1, offset=1)["ids"] == ["c"]

    def test_peek(self, colours: Any) -> None:
        found = colours.peek(limit=2)
        assert found["ids"] == ["a", "b"]
        assert found["embeddings"].tolist() == [[1, 0, 0], [1, 1, 0]]

    def test_an_empty_collection(self, kit: Kit) -> None:
        made = kit.collection()
        assert made.get()["ids"] == made.get()["documents"] == made.get()["metadatas"] == []
        assert made.peek()["embeddings"].tolist() == []

    @pytest.mark.parametrize(
        ("arguments", "kind"),
        [
            ({"ids": []}, ValueError),
            ({"include": ["distances"]}, ValueError),
            ({"include": "documents"}, ValueError),
            ({"limit": -1}, OverflowError),
        ],
    )
    def test_refuses(self, colours: Any, arguments: dict[str, Any], kind: type[Exception]) -> None:
        with pytest.raises(kind):
            colours.get(**arguments)


class TestWhere:
    @pytest.mark.parametrize(
        ("where", "ids"),
        [
            ({"s": "x"}, "ac"),
            ({"n": 2}, "b"),
            ({"n": 2.0}, "b"),
            ({"ok": True}, "a"),
            ({"ok": 1}, ""),
            ({"n": True}, ""),
            ({"s": {"$eq": "y"}}, "b"),
            ({"s": {"$ne": "x"}}, "bd"),
            ({"n": {"$gt": 1}}, "bc"),
            ({"n": {"$gt": 1.5}}, "bc"),
            ({"f": {"$lt": 2}}, "b"),
            ({"n": {"$lte": 2}}, "ab"),
            ({"s": {"$in": ["x", "z"]}}, "ac"),
            ({"n": {"$nin": [1, 2]}}, "cd"),
            ({"tags": {"$contains": "p"}}, "b"),
            ({"tags": {"$not_contains": "p"}}, "acd"),
            ({"s": {"$contains": "x"}}, ""),
            ({"tags": "p"}, ""),
            ({"$and": [{"s": "x"}, {"n": {"$gte": 2}}]}, "c"),
            ({"$or": [{"s": "y"}, {"n": 3}, {"ok": True}]}, "abc"),
            ({"$and": [{"$or": [{"n": 1}, {"n": 3}]}, {"ok": {"$ne": True}}]}, "c"),
            ({"missing": "x"}, ""),
            ({"missing": {"$ne": "x"}}, "abcd"),
        ],
    )
    def test_passes(self, colours: Any, where: dict[str, Any], ids: str) -> None:
        assert "".join(colours.get(where=where)["ids"]) == ids
        assert sorted(colours.query(query_texts=["red"], where=where)["ids"][0]) == list(ids)

    @pytest.mark.parametrize(
        "where",
        [
            {},
            "x",
            {"n": 1, "s": "x"},
            {"n": None},
            {"s": ["x"]},
            {"n": {"$gt": 1, "$lt": 4}},
            {"n": {"$like": 1}},
            {"s": {"$gt": "a"}},
            {"s": {"$in": []}},
            {"s": {"$in": "x"}},
            {"s": {"$in": ["a", 1]}},
            {"$and": [{"n": 1}]},
            {"$or": {"n": 1}},
            {"$not": {"n": 1}},
            {"$contains": "x"},
        ],
    )
    def test_refuses(self, colours: Any, where: Any) -> None:
        with pytest.raises(ValueError, match=r"where|operator|operand|\$"):
            colours.get(where=where)

    @pytest.mark.parametrize(
        ("where_document", "ids"),
        [
            ({"$contains": "red"}, "ab"),
            ({"$contains": "RED"}, ""),
            ({"$not_contains": "red"}, "cd"),
            ({"$regex": "^red.*n$"}, "b"),
            ({"$not_regex": "bl.e"}, "abd"),
            ({"$and": [{"$contains": "red"}, {"$not_contains": "green"}]}, "a"),
            ({"$or": [{"$contains": "green"}, {"$contains": "blue"}]}, "bc"),
        ],
    )
    def test_documents(self, colours: Any, where_document: dict[str, Any], ids: str) -> None:
        assert "".join(colours.get(where_document=where_document)["ids"]) == ids

    @pytest.mark.parametrize(
        "where_document",
        [{}, "red", {"$like": "red"}, {"$contains": ""}, {"$contains": 1}, {"$and": []}],
    )
    def test_refuses_for_documents(self, colours: Any, where_document: Any) -> None:
        with pytest.raises(ValueError, match="document"):
            colours.get(where_document=where_document)


class TestClient:
    def test_a_collection_is_found_by_name(self, kit: Kit) -> None:
        kit.collection("one", metadata={"about": "x"}).add(ids=["a"], documents=["red"])
        again = kit.collection("one", metadata={"about": "y"})
        assert again.count() == 1
        assert again.metadata == {"about": "x"}
        assert again.name == "one"
        assert kit.client.get_collection("one").count() == 1
        made = kit.client.create_collection("one", get_or_create=True)
        assert made.count() == 1
        assert kit.collection("two").metadata is None

    def test_what_does_not_exist_or_exists_already(self, kit: Kit) -> None:
        kit.collection("one")
        for name, wrong in (
            ("NotFoundError", lambda: kit.client.get_collection("two")),
            ("NotFoundError", lambda: kit.client.delete_collection("two")),
            ("InternalError", lambda: kit.client.create_collection("one")),
        ):
            with pytest.raises(Exception, match=r"one|two") as caught:
                wrong()
            assert type(caught.value).__name__ == name

    def test_a_deleted_collection_is_gone(self, kit: Kit) -> None:
        made = kit.collection("one")
        made.add(ids=["a"], documents=["red"])
        kit.client.delete_collection("one")
        for call in (made.count, lambda: made.add(ids=["b"], documents=["red"])):
            with pytest.raises(Exception, match="does not exist"):
                call()
        assert kit.collection("one").count() == 0

    def test_lists(self, kit: Kit) -> None:
        for name in ("one", "two"):
            kit.collection(name)
        assert sorted(c.name for c in kit.client.list_collections()) == ["one", "two"]
        assert kit.client.count_collections() == 2
        assert len(kit.client.list_collections(limit=1)) == 1

    @pytest.mark.parametrize("name", ["a b", "", "-ab", "a..b", "x" * 513])
    def test_names(self, kit: Kit, name: str) -> None:
        with pytest.raises(Exception, match="name") as caught:
            kit.collection(name)
        assert type(caught.value).__name__ == "InvalidArgumentError"

    @pytest.mark.parametrize(
        "options",
        [
            {"metadata": {"hnsw:space": "far"}},
            {"configuration": {"hnsw": {"space": "far"}}},
            {"metadata": {}},
        ],
    )
    def test_refuses(self, kit: Kit, options: dict[str, Any]) -> None:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - the class differs, not its name
            kit.collection("one", **options)
        assert type(caught.value).__name__ == "InvalidArgumentError"

    def test_modify(self, kit: Kit) -> None:
        made = kit.collection("one", metadata={"a": 1})
        made.modify(name="other", metadata={"b": 2})
        assert (made.name, made.metadata) == ("other", {"b": 2})
        assert kit.client.get_collection("other").metadata == {"b": 2}
        with pytest.raises(ValueError, match="distance"):
            made.modify(metadata={"hnsw:space": "ip"})
        kit.collection("taken")
        with pytest.raises(Exception) as caught:  # noqa: PT011 - the class differs, not its name
            made.modify(name="taken")
        assert type(caught.value).__name__ == "InternalError"

    def test_arguments_by_position(self, kit: Kit) -> None:
        made = kit.collection()
        made.add(["a"], None, [{"n": 1}], ["red"])
        assert made.get(["a"], {"n": 1}, 1, 0)["documents"] == ["red"]
        assert made.query(None, ["red"], None, None, None, 1)["ids"] == [["a"]]

    def test_a_collection_opened_by_name_embeds_as_before(self, kit: Kit) -> None:
        kit.collection("one")
        for made in (kit.client.get_collection("one"), kit.client.list_collections()[0]):
            made.upsert(ids=["a"], documents=["red"])
            assert made.query(query_texts=["red green"])["distances"] == [[1]]
