"""Random filters and random histories give what chromadb gives; skipped where it is not installed.

Two ways of chromadb 1.5 are left out on purpose: it truncates a number when it compares it with an
int (a stored 0 equals 0.5), and lists in metadata outlive their records.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memgene.programs.guest.chroma import ChromaClient

pytestmark = pytest.mark.filterwarnings("ignore")  # chromadb's own
FIELDS = ("a", "b", "c")
EFFORT = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

scalars = st.one_of(
    st.integers(-2, 2),
    st.sampled_from([-1.0, 0.0, 1.0, 2.0]),
    st.sampled_from(["", "x", "y", "1", "xy"]),
    st.booleans(),
)
lists = st.one_of(
    st.lists(st.integers(-1, 1), min_size=1, max_size=3),
    st.lists(st.sampled_from(["x", "y"]), min_size=1, max_size=3),
    st.lists(st.booleans(), min_size=1, max_size=2),
    st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=2),
)
plain = st.dictionaries(st.sampled_from(FIELDS), scalars, min_size=1)
metadatas = st.one_of(
    st.none(), st.dictionaries(st.sampled_from(FIELDS), st.one_of(scalars, lists), min_size=1)
)
documents = st.text(alphabet="ab %_*\nÄ", max_size=6)
numbers = st.one_of(st.integers(-2, 2), st.sampled_from([-1.0, 0.0, 1.0]))
one_type = st.one_of(
    st.lists(st.integers(-1, 2), min_size=1, max_size=3),
    st.lists(st.sampled_from(["", "x", "xy"]), min_size=1, max_size=3),
    st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=2),
)
expressions = st.one_of(
    scalars,
    st.builds(lambda o, v: {o: v}, st.sampled_from(["$eq", "$ne"]), scalars),
    st.builds(lambda o, v: {o: v}, st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), numbers),
    st.builds(lambda o, v: {o: v}, st.sampled_from(["$in", "$nin"]), one_type),
    st.builds(lambda o, v: {o: v}, st.sampled_from(["$contains", "$not_contains"]), scalars),
)
leaves = st.builds(lambda field, test: {field: test}, st.sampled_from(FIELDS), expressions)


def joined(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(parts, min_size=2, max_size=3)
    return st.builds(lambda o, v: {o: v}, st.sampled_from(["$and", "$or"]), several)


wheres = st.recursive(leaves, joined, max_leaves=4)
fragments = st.text(alphabet="ab %_*Ä", min_size=1, max_size=3)
where_documents = st.recursive(
    st.builds(
        lambda o, v: {o: v},
        st.sampled_from(["$contains", "$not_contains"]),
        fragments,
    ),
    joined,
    max_leaves=3,
)


@pytest.fixture(scope="module")
def real() -> Any:
    chromadb = pytest.importorskip("chromadb")
    chromadb.api.client.SharedSystemClient.clear_system_cache()
    return chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))


_made = iter(range(10**9))


def pair(real: Any) -> tuple[Any, Any]:
    """A new collection here, and one there."""
    name = f"c{next(_made):04}"
    ours = ChromaClient(lambda texts: np.ones((len(texts), 2), np.float32))
    return ours.create_collection(name), real.create_collection(name, embedding_function=None)


def answer(collection: Any, **filters: Any) -> Any:
    """The ids that pass, or that it was refused."""
    try:
        return collection.get(**filters)["ids"]
    except Exception:  # noqa: BLE001 - whatever each raises counts as a refusal
        return "refused"


@EFFORT
@given(st.lists(metadatas, min_size=1, max_size=6), st.lists(wheres, min_size=1, max_size=8))
def test_where(real: Any, stored: list[Any], filters: list[Any]) -> None:
    ours, theirs = pair(real)
    for collection in (ours, theirs):
        for place, metadata in enumerate(stored):
            collection.add(ids=[str(place)], embeddings=[[1, place]], metadatas=[metadata])
    for where in filters:
        assert answer(ours, where=where) == answer(theirs, where=where), where


@EFFORT
@given(
    st.lists(st.one_of(st.none(), documents), min_size=1, max_size=6),
    st.lists(where_documents, min_size=1, max_size=8),
)
def test_where_document(real: Any, stored: list[Any], filters: list[Any]) -> None:
    ours, theirs = pair(real)
    for collection in (ours, theirs):
        for place, document in enumerate(stored):
            collection.add(ids=[str(place)], embeddings=[[1, place]], documents=[document])
    for where in filters:
        assert answer(ours, where_document=where) == answer(theirs, where_document=where), where


IDS = ("p", "q", "r", "s")
BATCHES = st.lists(st.sampled_from(IDS), min_size=1, max_size=3, unique=True)
vectors = st.tuples(st.integers(-3, 3), st.integers(-3, 3)).map(list)
with_none = st.dictionaries(
    st.sampled_from(FIELDS), st.one_of(scalars, st.none()), min_size=1, max_size=2
)


@st.composite
def operations(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    method = draw(st.sampled_from(["add", "add", "upsert", "update", "delete"]))
    ids = draw(BATCHES)
    if method == "delete":
        filtered: dict[str, Any] = {"where": draw(wheres)}
        return method, filtered if draw(st.booleans()) else {"ids": ids}
    arguments: dict[str, Any] = {"ids": ids}
    values = plain if method == "add" else with_none
    if method != "update" or draw(st.booleans()):
        arguments["embeddings"] = [draw(vectors) for _ in ids]
        if draw(st.booleans()):
            arguments["documents"] = [draw(st.one_of(st.none(), documents)) for _ in ids]
    if draw(st.booleans()):
        arguments["metadatas"] = [draw(st.one_of(st.none(), values)) for _ in ids]
    return method, arguments


@EFFORT
@given(st.lists(operations(), max_size=10), st.lists(vectors, min_size=1, max_size=2))
def test_histories(real: Any, history: list[Any], asked: list[Any]) -> None:
    ours, theirs = pair(real)
    for method, arguments in history:
        for collection in (ours, theirs):
            getattr(collection, method)(**arguments)
        assert ours.count() == theirs.count()
    everything = ["documents", "metadatas", "embeddings"]
    mine, its = (one.get(include=everything) for one in (ours, theirs))
    assert (mine["embeddings"] == its["embeddings"]).all()
    assert [mine[k] for k in ("ids", *everything[:2])] == [its[k] for k in ("ids", *everything[:2])]
    mine, its = (one.query(query_embeddings=asked, n_results=3) for one in (ours, theirs))
    assert mine["distances"] == its["distances"]
