"""Recording calls, and `replay:FILE`."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from memgene.core import ConfigError, ModelError
from memgene.llm.protocol import ChatMessage, Finish, Reply, Request
from memgene.llm.recorder import Recorder
from memgene.llm.replay import ReplayLLM
from memgene.testing import ScriptedLLM

CUT = Reply("cut sh", Finish.LENGTH, tokens_in=3, tokens_out=2, seconds=0.25)


def asked(text: str, **options: object) -> Request:
    return Request((ChatMessage("system", "Be short."), ChatMessage("user", text)), **options)  # type: ignore[arg-type]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Three calls, of which two ask the same."""
    path = tmp_path / "deep" / "calls.jsonl"
    recorder = Recorder(ScriptedLLM(["first", CUT, "second"]), path)
    for text in ("a", "b", "a"):
        recorder.complete(asked(text))
    return path


def test_recorded_replies_come_back(file: Path) -> None:
    replay = ReplayLLM(str(file))
    assert replay.complete(asked("b")) == CUT
    assert [replay.complete(asked("a")).text for _ in range(3)] == ["first", "second", "second"]


def test_a_record_is_a_readable_line(file: Path) -> None:
    lines = file.read_text().splitlines()
    assert len(lines) == 3
    record = json.loads(lines[1])
    assert record["model"] == "scripted"
    assert record["messages"] == [["system", "Be short."], ["user", "b"]]
    assert record["reply"] == {
        "text": "cut sh",
        "finish": "length",
        "tokens_in": 3,
        "tokens_out": 2,
        "seconds": 0.25,
    }


def test_the_recorder_is_its_model(tmp_path: Path) -> None:
    inner = ScriptedLLM([ModelError("down"), "up"], name="n", constrains=True, concurrency=5)
    recorder = Recorder(inner, tmp_path / "f")
    assert (recorder.name, recorder.identity) == ("n", "n")
    assert (recorder.constrains, recorder.concurrency) == (True, 5)
    with pytest.raises(ModelError, match="down"):
        recorder.complete(asked("a"))
    assert (tmp_path / "f").read_text() == ""


def test_a_schema_does_not_count(tmp_path: Path) -> None:
    """A model that is held to a schema is sent it, another one is not; the messages are equal."""
    recorder = Recorder(ScriptedLLM(["{}"]), tmp_path / "f")
    recorder.complete(asked("a", schema={"type": "object"}))
    assert ReplayLLM(str(tmp_path / "f")).complete(asked("a")).text == "{}"


def test_what_was_not_recorded_is_shown_beside_the_nearest(tmp_path: Path) -> None:
    recorder = Recorder(ScriptedLLM(["x", "y"]), tmp_path / "f")
    recorder.complete(asked("The red house is old.\nWho lives there?", seed=3))
    recorder.complete(asked("Nothing alike whatsoever"))
    replay = ReplayLLM(str(tmp_path / "f"))
    replay.complete(asked("Nothing alike whatsoever"))
    with pytest.raises(ModelError) as caught:
        replay.complete(asked("The blue house is old.\nWho lives there?", seed=4))
    said = str(caught.value)
    assert "call 2 was never recorded (2 records)" in said
    for line in ("-seed: 3", "+seed: 4", "-The red house is old.", "+The blue house is old."):
        assert f"\n{line}" in said
    assert "alike" not in said


def test_a_long_difference_is_cut(tmp_path: Path) -> None:
    Recorder(ScriptedLLM(["x"]), tmp_path / "f").complete(asked("same"))
    with pytest.raises(ModelError, match=r"… \d+ more lines$"):
        ReplayLLM(str(tmp_path / "f")).complete(asked("\n".join(map(str, range(500)))))


def test_an_empty_record_says_so(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    with pytest.raises(ModelError, match="The file is empty"):
        ReplayLLM(str(tmp_path / "f")).complete(asked("a"))


@pytest.mark.parametrize(
    "change", [{"temperature": 0.1}, {"max_tokens": 7}, {"seed": 1}, {"stop": ("x",)}]
)
def test_another_parameter_is_another_request(file: Path, change: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="never recorded"):
        ReplayLLM(str(file)).complete(asked("a", **change))


def test_half_a_line_of_a_killed_process_is_dropped_by_reader_and_writer(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"format": 1, "ke')
    assert ReplayLLM(str(file)).complete(asked("b")) == CUT
    Recorder(ScriptedLLM(["new"]), file).complete(asked("c"))
    assert file.read_bytes().startswith(whole + b'{"format":1')
    assert ReplayLLM(str(file)).complete(asked("c")).text == "new"


def test_threads_and_recorders_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "f"

    def record(name: int) -> None:
        recorder = Recorder(ScriptedLLM(lambda request: "r" * 5000), path)
        for number in range(10):
            recorder.complete(asked(f"{name}-{number}"))

    threads = [threading.Thread(target=record, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    replay = ReplayLLM(str(path))
    for name in range(4):
        for number in range(10):
            assert len(replay.complete(asked(f"{name}-{number}")).text) == 5000


def test_damage_is_named_with_its_line(file: Path, tmp_path: Path) -> None:
    lines = file.read_text().splitlines(keepends=True)
    for damage in ("{\n", "[]\n", '{"format": 2}\n', lines[1].replace('"length"', '"tired"')):
        file.write_text(lines[0] + damage + lines[2])
        with pytest.raises(ConfigError, match=r"calls\.jsonl, line 2: not a record"):
            ReplayLLM(str(file))
    with pytest.raises(ConfigError, match="cannot be read"):
        ReplayLLM(str(tmp_path / "absent"))
    with pytest.raises(ConfigError, match="cannot record into"):
        Recorder(ScriptedLLM([]), tmp_path)


def test_it_is_known_by_what_the_file_holds(file: Path, tmp_path: Path) -> None:
    replay = ReplayLLM(str(file))
    copy = tmp_path / "copy"
    copy.write_bytes(file.read_bytes())
    assert replay.name == f"replay:{file}"
    assert replay.identity == ReplayLLM(str(copy)).identity
    Recorder(ScriptedLLM(["new"]), copy).complete(asked("c"))
    assert replay.identity != ReplayLLM(str(copy)).identity
    assert replay.constrains is False
