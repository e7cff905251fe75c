"""`files:DIR`: numbered prompts written, replies awaited."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memgene.core import ConfigError, ModelError
from memgene.llm.files import FilesLLM
from memgene.llm.protocol import ChatMessage, Request

LONG_AGO = 1_000_000_000


def asked(text: str, **options: object) -> Request:
    return Request((ChatMessage("user", text),), **options)  # type: ignore[arg-type]


class Answering:
    """Answers in the name of whoever watches the folder: writes the reply that is waited for."""

    def __init__(self, say: Callable[[str], str] = lambda prompt: f"re: {prompt}") -> None:
        self.lines: list[str] = []
        self._say = say

    def __call__(self, line: str) -> None:
        self.lines.append(line)
        path = Path(line.removeprefix("files: waiting for "))
        prompt = path.with_name(path.name.replace(".reply.", ".prompt."))
        reply(path, self._say(prompt.read_text(encoding="utf-8").strip()))


def reply(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    os.utime(path, (LONG_AGO, LONG_AGO))


def silent(line: str) -> None:
    """Nobody answers."""


def test_prompts_are_numbered_and_their_replies_used(tmp_path: Path) -> None:
    folder, watcher = tmp_path / "talk", Answering()
    llm = FilesLLM(str(folder), waiting=watcher)
    first = llm.complete(asked("one", schema={"type": "object"}, max_tokens=9))
    second = llm.complete(asked("two"))
    assert first.text.startswith("re: one\n\nReply with one JSON value")
    assert second.text == "re: two"
    assert (second.tokens_in, second.tokens_out) == (1, 2)  # 4 and 7 characters
    assert watcher.lines == [f"files: waiting for {folder}/000{n}.reply.md" for n in (1, 2)]
    assert sorted(p.name for p in folder.iterdir()) == [
        "0001.prompt.md",
        "0001.reply.md",
        "0001.request.json",
        "0002.prompt.md",
        "0002.reply.md",
        "0002.request.json",
    ]
    beside = json.loads((folder / "0001.request.json").read_text())
    assert beside["schema"] == {"type": "object"}
    assert (beside["max_tokens"], beside["temperature"], beside["seed"]) == (9, 0.0, 0)


def test_the_same_request_has_the_same_number_after_a_restart(tmp_path: Path) -> None:
    one = FilesLLM(str(tmp_path), waiting=Answering())
    texts = [one.complete(asked(t)).text for t in ("a", "b")]
    later = FilesLLM(str(tmp_path), waiting=silent, timeout=0.0, settle=0.0)
    assert [later.complete(asked(t)).text for t in ("a", "b")] == texts
    with pytest.raises(ModelError, match=r"no 0003\.reply\.md within 0 s; its prompt stays"):
        later.complete(asked("a", seed=1))
    reply(tmp_path / "0003.reply.md", "late")
    again = FilesLLM(str(tmp_path), waiting=silent, timeout=0.0)
    assert again.complete(asked("a", seed=1)).text == "late"
    assert len(list(tmp_path.glob("*.prompt.md"))) == 3


def test_a_number_whose_prompt_was_never_written_gets_it(tmp_path: Path) -> None:
    FilesLLM(str(tmp_path), waiting=Answering()).complete(asked("a"))
    (tmp_path / "0001.prompt.md").unlink()
    FilesLLM(str(tmp_path), waiting=silent).complete(asked("a"))
    assert (tmp_path / "0001.prompt.md").read_text() == "a\n"


@pytest.mark.parametrize("ending", ["md", "txt", "json"])
def test_a_reply_may_have_one_of_three_endings(tmp_path: Path, ending: str) -> None:
    (tmp_path / "0001.reply.md").mkdir()  # not a file, so not a reply
    (tmp_path / "0001.reply.md").rmdir()
    reply(tmp_path / f"0001.reply.{ending}", "\n{}\n")
    assert FilesLLM(str(tmp_path), waiting=silent).complete(asked("a")).text == "{}"


def test_a_reply_that_is_being_written_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody writes a word whenever the waiting sleeps: blanks first, then bit by bit."""
    path = tmp_path / "0001.reply.md"
    words = [" ", "\n", "half ", "of ", "a ", "reply"]
    left = list(words)

    def write(seconds: float) -> None:
        if left:
            with path.open("a") as file:
                file.write(left.pop(0))

    monkeypatch.setattr("memgene.llm.files.time.sleep", write)
    llm = FilesLLM(str(tmp_path), waiting=silent, settle=60.0)
    assert llm.complete(asked("a")).text == "half of a reply"
    assert left == []


def test_a_renamed_reply_is_taken_whole(tmp_path: Path) -> None:
    def rename(line: str) -> None:
        reply(tmp_path / "draft", "whole")
        os.replace(tmp_path / "draft", tmp_path / "0001.reply.txt")

    assert FilesLLM(str(tmp_path), waiting=rename).complete(asked("a")).text == "whole"


def test_processes_and_threads_never_share_a_number(tmp_path: Path) -> None:
    """Each of three processes asks six questions in two threads; half of them are common."""
    code = """
import sys, threading
from pathlib import Path
from memgene.llm.prompt_files import PromptFolder
from memgene.llm.protocol import ChatMessage, Request
from memgene.llm.request_key import request_key
folder, me = PromptFolder(Path(sys.argv[1])), sys.argv[2]

def ask(texts):
    for text in texts:
        request = Request((ChatMessage("user", text),))
        number = folder.number(request_key("", request), request, text)
        sys.stdout.write(f"{text} {number}\\n")

parts = [["c1", me + "1", "c2"], [me + "2", "c3", me + "3"]]
threads = [threading.Thread(target=ask, args=(part,)) for part in parts]
[t.start() for t in threads]
[t.join() for t in threads]
"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    running = [
        subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in "xyz"
    ]
    told = "".join(process.communicate()[0] for process in running)
    pairs = [tuple(line.split()) for line in told.splitlines()]
    assert len(pairs) == 18
    numbers = dict(pairs)
    assert len(set(pairs)) == len(numbers) == 12  # the common ones got one number everywhere
    assert sorted(map(int, numbers.values())) == list(range(1, 13))
    for text, number in numbers.items():
        assert (tmp_path / f"{int(number):04d}.prompt.md").read_text() == text
    assert not list(tmp_path.glob(".writing-*"))


def test_an_interrupt_ends_the_waiting(tmp_path: Path) -> None:
    def interrupt(line: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        FilesLLM(str(tmp_path), waiting=interrupt).complete(asked("a"))


def test_what_is_waited_for_is_told_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ModelError):
        FilesLLM(str(tmp_path), timeout=0.0).complete(asked("a"))
    assert capsys.readouterr() == ("", f"files: waiting for {tmp_path}/0001.reply.md\n")


def test_damage_is_named(tmp_path: Path) -> None:
    (tmp_path / "0001.request.json").write_text("{")
    with pytest.raises(ModelError, match=r"0001\.request\.json is damaged"):
        FilesLLM(str(tmp_path)).complete(asked("a"))
    (tmp_path / "0001.request.json").write_text('{"format": 2}')
    with pytest.raises(ModelError, match="format 2, this memgene reads 1"):
        FilesLLM(str(tmp_path)).complete(asked("a"))
    (tmp_path / "0001.request.json").unlink()
    path = tmp_path / "0001.reply.md"
    path.write_bytes(b"\xff")
    os.utime(path, (LONG_AGO, LONG_AGO))
    with pytest.raises(ModelError, match=r"0001\.reply\.md is not UTF-8"):
        FilesLLM(str(tmp_path), waiting=silent).complete(asked("a"))


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    with pytest.raises(ConfigError, match="not a folder"):
        FilesLLM(str(tmp_path / "f"))


def test_it_is_known_by_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    llm = FilesLLM("talk")
    assert llm.name == "files:talk"
    assert llm.identity == f"files:{tmp_path / 'talk'}"
    assert (llm.constrains, llm.concurrency) == (False, 1)
    assert not (tmp_path / "talk").exists()
