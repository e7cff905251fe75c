"""chromadb itself at work in a locked-down worker; skipped where it is not installed."""

from __future__ import annotations

import importlib.util
import json
import random
from collections.abc import Iterator

import pytest

from memgene.core import MissingDependencyError
from memgene.embed.hashing import HashingEmbedder
from memgene.programs.program import Program
from memgene.programs.runtime import ProgramRuntime
from memgene.sandbox import GuestError, Level
from memgene.testing.programs import program_text

QUERY = {"query_text": "a boat"}
NOTES = """
    notes = self.toolkit.chroma.get_or_create_collection(
        "notes", metadata={"hnsw:space": "cosine"}
    )
"""
WRITE = (
    NOTES
    + """
    first = notes.count()
    lines = raw_text.split("\\n")
    notes.add(
        ids=[str(first + i) for i in range(len(lines))],
        documents=lines,
        metadatas=[{"number": first + i, "odd": bool(i % 2)} for i in range(len(lines))],
    )
"""
)


@pytest.fixture(scope="module")
def runtime() -> Iterator[ProgramRuntime]:
    if importlib.util.find_spec("chromadb") is None:
        pytest.skip("chromadb is not installed")
    with ProgramRuntime(
        embedder=HashingEmbedder(), chroma="chromadb", require=Level.RLIMITS
    ) as made:
        yield made


def read(runtime: ProgramRuntime, body: str, *written: str) -> str:
    """What a program with this `read` reads after these writes."""
    running = runtime.start(Program(program_text(write=WRITE, read=body)))
    try:
        for text in written:
            running.write({}, text)
        return running.read(QUERY).text
    finally:
        running.close()


def test_collections_are_written_filtered_changed_and_asked(runtime: ProgramRuntime) -> None:
    body = (
        NOTES
        + """
    import json
    near = notes.query(query_texts=[query.query_text], n_results=1)
    odd = notes.query(query_texts=[query.query_text], n_results=5, where={"odd": True})
    notes.delete(ids=["0"])
    notes.upsert(ids=["9"], documents=["a red door"])
    held = notes.get(where_document={"$contains": "door"})
    return json.dumps([near["documents"][0], near["distances"][0], odd["ids"][0], held["ids"]])
"""
    )
    near, distances, odd, held = json.loads(read(runtime, body, "a boat\na car\na plane\na door"))
    assert near == ["a boat"]
    assert distances == pytest.approx([0], abs=1e-6)
    assert sorted(odd) == ["1", "3"]
    assert sorted(held) == ["3", "9"]


def test_enough_records_for_an_index_are_found_again(runtime: ProgramRuntime) -> None:
    body = (
        NOTES
        + """
    found = notes.query(query_texts=[query.query_text], n_results=3)
    return f"{notes.count()} {found['documents'][0][0]} {abs(found['distances'][0][0]):.3f}"
"""
    )
    drawn = random.Random(1)
    lines = [" ".join(f"word{drawn.randrange(999)}" for _ in range(6)) for _ in range(1200)]
    parts = ["\n".join(lines[at : at + 400]) for at in (0, 400, 800)]
    assert read(runtime, body, *parts[:2], "a boat", parts[2]) == "1201 a boat 0.000"


def test_every_client_that_a_program_makes_is_the_toolkits(runtime: ProgramRuntime) -> None:
    body = """
    import chromadb
    from chromadb.config import Settings
    from chromadb.utils import embedding_functions
    own = embedding_functions.DefaultEmbeddingFunction()
    for client in (chromadb.Client(), chromadb.EphemeralClient(Settings()),
                   chromadb.PersistentClient("/tmp/notes")):
        assert client is self.toolkit.chroma
    made = client.get_or_create_collection("notes", embedding_function=own)
    again = client.get_collection("notes", embedding_function=own)
    again.add(ids=["a"], documents=["a boat"])
    try:
        client.get_collection("nothing")
    except chromadb.errors.NotFoundError:
        return made.query(query_texts=["a boat"])["documents"][0][0]
"""
    assert read(runtime, body) == "a boat"


def test_servers_are_out_of_reach(runtime: ProgramRuntime) -> None:
    with pytest.raises(GuestError, match="a memory program has no network"):
        read(runtime, "    import chromadb\n    chromadb.HttpClient()")


def test_a_worker_of_it_is_as_locked_as_any(runtime: ProgramRuntime) -> None:
    if runtime.level is not Level.FULL:
        pytest.skip("this machine has no full isolation")
    body = """
    import statistics
    os, socket = statistics.sys.modules["os"], statistics.sys.modules["socket"]
    found = []
    self.toolkit.chroma.heartbeat()
    for attempt in (lambda: os.listdir("/"), lambda: os.fork(), lambda: socket.socket(),
                    lambda: os.open("/etc/passwd", 0)):
        try:
            attempt()
        except PermissionError:
            found.append("denied")
    return ",".join(found)
"""
    assert read(runtime, body) == "denied,denied,denied,denied"


def test_memories_share_nothing(runtime: ProgramRuntime) -> None:
    body = NOTES + "    return str(notes.count())"
    assert read(runtime, body, "a boat") == "1"
    assert read(runtime, body) == "0"


def test_where_it_is_not_installed_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'memgene\[chroma\]'"):
        ProgramRuntime(chroma="chromadb")
