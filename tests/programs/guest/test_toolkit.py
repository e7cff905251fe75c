"""What a program is handed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memgene.embed.hashing import HashingEmbedder
from memgene.programs.guest.toolkit import MAX_LINE, MAX_LINES, Logger, Toolkit, decoded, encoded
from memgene.testing.programs import program_text

Load = Callable[..., Any]


class Echo:
    """A host that keeps what it was asked; `llm` says "reply"."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []

    def call(self, name: str, params: Any) -> Any:
        self.asked.append((name, params))
        return "reply" if name == "llm" else encoded(HashingEmbedder().embed(params["texts"]))


def completed(messages: Any, **options: Any) -> Any:
    host = Echo()
    assert Toolkit(host, {}).llm_completion(messages, **options) == "reply"
    return host.asked[0][1]


USER = {"role": "user", "content": "hello"}


@pytest.mark.parametrize(
    ("given_", "sent"),
    [
        ("hello", [USER]),
        (USER, [USER]),
        ([USER], [USER]),
        (["hello"], [USER]),
        ([{"content": "hello"}], [USER]),
        ([{"role": "tool", "content": "hello"}], [USER]),
        ([{"role": "system", "content": None}], [{"role": "system", "content": ""}]),
        (
            [{"role": "user", "content": [{"type": "text", "text": "hel"}, "lo"]}],
            [{"role": "user", "content": "hel\nlo"}],
        ),
    ],
)
def test_messages_in_the_forms_that_programs_use(given_: Any, sent: Any) -> None:
    assert completed(given_) == {"messages": sent}


def test_options_that_count_are_passed_on_and_others_are_not() -> None:
    schema = {"type": "object"}
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    params = completed(
        "hello", temperature=0, max_tokens=50, stop=["\n"], response_format=form, top_p=0.9, n=2
    )
    del params["messages"]
    assert params == {"temperature": 0, "max_tokens": 50, "stop": ["\n"], "schema": schema}
    assert completed("hello", max_completion_tokens=9)["max_tokens"] == 9
    assert completed("hello", response_format={"type": "json_object"}).keys() == {"messages"}


def test_vectors_come_in_batches_and_in_order() -> None:
    host, texts = Echo(), [f"text {i}" for i in range(1100)]
    rows = Toolkit(host, {}).embed(texts)
    assert [len(params["texts"]) for _, params in host.asked] == [512, 512, 76]
    np.testing.assert_array_equal(rows, HashingEmbedder().embed(texts))
    assert Toolkit(host, {}).embed([]).shape == (0, HashingEmbedder().dimension)


def test_long_texts_make_more_batches() -> None:
    host = Echo()
    Toolkit(host, {}).embed(["x" * 400_000] * 5)
    assert [len(params["texts"]) for _, params in host.asked] == [2, 2, 1]


@given(
    arrays(
        np.float32,
        st.tuples(st.integers(0, 4), st.integers(0, 5)),
        elements=st.floats(width=32, allow_nan=False),
    )
)
def test_rows_survive_json_to_the_last_bit(rows: Any) -> None:
    import json

    back = decoded(json.loads(json.dumps(encoded(rows))))
    assert back.dtype == np.float32
    assert back.flags.writeable
    np.testing.assert_array_equal(back, rows)


def said(*messages: Sequence[Any]) -> list[str]:
    logger = Logger()
    for message in messages:
        logger.debug(*message)
    return logger.drained()


def test_the_logger_keeps_lines_of_every_level() -> None:
    logger = Logger()
    logger.debug("a")
    logger.info("b %s", 1)
    logger.warning({"c": 2})
    logger.error("d %d", "no number")
    logger.log("e", exc_info=True)
    assert logger.logs == ["a", "b 1", "{'c': 2}", "d %d no number", "e"]
    assert logger.drained() == ["a", "b 1", "{'c': 2}", "d %d no number", "e"]
    assert logger.drained() == []


def test_the_logger_is_bounded() -> None:
    assert said(("x" * 1000,)) == ["x" * MAX_LINE + "…"]
    assert said(*[(str(i),) for i in range(300)]) == [str(i) for i in range(100, 300)]
    assert MAX_LINES == 200
    assert said(("half \ud800",)) == ["half \\ud800"]


def test_lines_said_before_a_failure_come_with_the_next_reply(load: Load) -> None:
    write = "toolkit = self.toolkit\ntoolkit.logger.debug(raw_text)\nint(raw_text)"
    guest = load(program_text(write=write))
    assert guest.write("1") == ["1"]
    with pytest.raises(ValueError, match="two"):
        guest.write("two")
    assert guest.write("3") == ["two", "3"]


def test_import_chromadb_gives_the_toolkits_client(load: Load) -> None:
    read = """
        import chromadb
        mine = chromadb.EphemeralClient().get_or_create_collection("notes")
        mine.add(ids=["a", "b"], documents=["a red boat", "a blue car"])
        theirs = self.toolkit.chroma.get_collection("notes")
        found = theirs.query(query_texts=["red boat"], n_results=1)
        return found["documents"][0][0]
    """
    assert load(program_text(read=read)).read() == "a red boat"


def test_what_a_program_reads_is_said_with_its_type(load: Load) -> None:
    for body, text, kind in (
        ("return 'x'", "x", "str"),
        ("return ['x']", None, "list"),
        ("pass", None, "NoneType"),
    ):
        guest = load(program_text(read=body))
        reply = guest.methods["read"]({"query": {"query_text": "q"}})
        assert reply == {"text": text, "type": kind, "logs": []}
