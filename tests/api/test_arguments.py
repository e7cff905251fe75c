"""Arguments of a wrong type or value are refused by name, and nothing else happens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memgene import Memory, RetrievalConfig
from memgene.api import reembed
from memgene.core import BankError, InputError

Call = Callable[[Any], object]
ID = "0123456789"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: m.search(None), "query must be text"),
        (lambda m: m.search(""), "query is blank"),
        (lambda m: m.search(" \n"), "query is blank"),
        (lambda m: m.search("x", limit="3"), "limit must be a whole number, got '3'"),
        (lambda m: m.search("x", limit=2.5), "limit must be a whole number"),
        (lambda m: m.search("x", limit=True), "limit must be a whole number"),
        (lambda m: m.search("x", limit=None), "limit must be a whole number"),
        (lambda m: m.search("x", limit=0), "limit must be at least 1"),
        (lambda m: m.search("x", limit=1 << 70), "limit must be below"),
        (lambda m: m.search("x", filters=[1]), "filters must be a mapping"),
        (lambda m: m.search("x", filters={1: 2}), "filters has the key 1"),
        (lambda m: m.search("x", filters={"metadata": [1]}), "metadata.* must be a mapping"),
        (lambda m: m.search("x", filters={"metadata": {1: 2}}), "metadata.* has the key 1"),
        (lambda m: m.search("x", user_id=5), "user_id"),
        (lambda m: m.get(None), "id must be text"),
        (lambda m: m.get(""), "id is blank"),
        (lambda m: m.get_all(limit="1"), "limit"),
        (lambda m: m.get_all(after="x"), "after must be a whole number"),
        (lambda m: m.get_all(after=-1), "after must be at least 0"),
        (lambda m: m.get_all(filters="x"), "filters"),
        (lambda m: m.history(None), "id must be text"),
        (lambda m: m.update(None, text="x"), "id must be text"),
        (lambda m: m.update(ID, text=5), "text must be text"),
        (lambda m: m.update(ID, text=" "), "text is blank"),
        (lambda m: m.update(ID, metadata=[1]), "metadata must be a mapping"),
        (lambda m: m.delete(None), "id must be an id or several"),
        (lambda m: m.delete([ID, 5]), "id must be text, got 5"),
        (lambda m: m.delete([]), "id holds no id"),
        (lambda m: m.feedback(None, 1), "hits_or_ids"),
        (lambda m: m.feedback([None], 1), "hits_or_ids"),
        (lambda m: m.feedback(ID, "1"), "reward"),
        (lambda m: m.feedback(ID, None), "reward"),
        (lambda m: m.feedback(ID, 1, 5), "query"),
        (lambda m: m.feedback(ID, 1, answer=5), "answer"),
        (lambda m: m.learn(most=0), "most must be at least 1"),
        (lambda m: m.learn(most="2"), "most must be a whole number"),
        (lambda m: m.learn(user_id=5), "user_id"),
        (lambda m: m.undo("nonsense"), "kind must be one of feedback, learn"),
        (lambda m: m.undo(all=True, to=1), "not both"),
        (lambda m: m.undo(to=-1), "to must be at least 0"),
        (lambda m: m.lessons(0), "limit must be at least 1"),
        (lambda m: m.add("new", source=5), "source must be text"),
        (lambda m: m.add("new", source=""), "source is blank"),
        (lambda m: m.add("new", metadata=[1]), "metadata must be a mapping"),
        (lambda m: m.add("new", metadata={1: 2}), "metadata has the key 1"),
        (lambda m: m.add("new", event_time=5), "event_time"),
        (lambda m: m.add(None), "NoneType"),
        (lambda m: m.export(None), "path or an open text file"),
        (lambda m: m.export(""), "blank"),
        (lambda m: m.import_(5), "path or an open text file"),
    ],
)
def test_an_argument_that_cannot_be_used_is_named(memory: Memory, call: Call, words: str) -> None:
    memory.add("there before")
    version = memory.stats().version
    with pytest.raises(InputError, match=words):
        call(memory)
    assert memory.stats().version == version


def test_a_whole_number_of_another_library_is_one(memory: Memory) -> None:
    memory.add([{"content": "tea"}, {"content": "more tea"}])
    assert len(memory.search("tea", limit=np.int64(1))) == 1  # type: ignore[arg-type]
    assert len(memory.get_all(limit=np.int64(1))) == 1  # type: ignore[arg-type]
    (hit,) = memory.search("more", limit=1)
    assert memory.feedback(hit, np.float32(1))[0].utility == pytest.approx(0.65)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", [None, "", " ", 5, "a\0b", Path("a\0b")])
def test_a_bank_needs_a_place(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for make in (Memory, reembed):
        with pytest.raises(InputError, match="path"):
            make(path)
    assert list(tmp_path.iterdir()) == []


def test_a_place_the_system_does_not_know_is_a_bank_error(tmp_path: Path) -> None:
    with pytest.raises(BankError, match="cannot be opened"):
        Memory(tmp_path / ("x" * 300))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"genome": 5}, "genome must be a path"),
        ({"config": {"context_k": 3}}, "config must be a RetrievalConfig"),
        ({"embedder": 5}, "embedder must be text"),
        ({"embedder": ""}, "embedder is blank"),
        ({"embedder": "telepathy"}, "telepathy"),
    ],
)
def test_what_a_memory_works_with_is_checked_before_a_file_is_made(
    path: Path, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        Memory(path, **given)
    assert not path.exists()


def test_a_configuration_takes_levers_only() -> None:
    with pytest.raises(TypeError, match="foo"):
        RetrievalConfig(foo=1)  # type: ignore[call-arg]
