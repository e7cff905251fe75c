"""`command:…`: any program, prompt on stdin, reply on stdout."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memgene.core import ConfigError, ModelError
from memgene.llm.command import CommandLLM
from memgene.llm.protocol import ChatMessage, Finish, Request

HELLO = Request((ChatMessage("user", "Hello?"),))


Script = Callable[..., str]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """A command that runs the given Python code."""

    def make(code: str, *arguments: str) -> str:
        path = tmp_path / "program.py"
        path.write_text(code, encoding="utf-8")
        return shlex.join([sys.executable, "-S", str(path), *arguments])

    return make


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


def test_the_prompt_goes_in_and_the_reply_comes_out(script: Script) -> None:
    command = script("import sys; print(sys.argv[1] + sys.stdin.read().upper())", "a b: ")
    llm = CommandLLM(command)
    reply = llm.complete(
        Request((ChatMessage("system", "Be short."), ChatMessage("user", "Hello? é")))
    )
    assert reply.text == "a b: BE SHORT.\n\nHELLO? É"
    assert reply.finish is Finish.STOP
    assert (reply.tokens_in, reply.tokens_out) == (5, 6)  # 20 and 24 characters, 4 to a token
    assert reply.seconds > 0
    assert (llm.constrains, llm.concurrency) == (False, 1)


def test_turns_are_named_and_a_schema_is_told(script: Script) -> None:
    llm = CommandLLM(script("import sys; print(sys.stdin.read())"))
    request = Request(
        (ChatMessage("user", "One?"), ChatMessage("assistant", "1"), ChatMessage("user", "Two?")),
        schema={"type": "object"},
    )
    assert llm.complete(request).text == (
        "User:\nOne?\n\nAssistant:\n1\n\nUser:\nTwo?\n\n"
        "Reply with one JSON value that fits this JSON schema, and nothing else:\n\n"
        '{\n  "type": "object"\n}'
    )


def test_a_failed_program_is_told_with_the_end_of_what_it_said(script: Script) -> None:
    noise = "import sys; sys.stderr.write('x' * 5000 + 'no credit left'); sys.exit(3)"
    with pytest.raises(ModelError, match=r"exit code 3; it said: x+no credit left$") as caught:
        CommandLLM(script(noise)).complete(HELLO)
    assert len(str(caught.value)) < 1000


def test_a_program_that_a_signal_ended_is_told(script: Script) -> None:
    with pytest.raises(ModelError, match="exit code -9"):
        CommandLLM(script("import os; os.kill(os.getpid(), 9)")).complete(HELLO)


@pytest.mark.parametrize("code", ["", "print('  ')"])
def test_nothing_is_no_reply(script: Script, code: str) -> None:
    with pytest.raises(ModelError, match="printed nothing"):
        CommandLLM(script(code)).complete(HELLO)


def test_a_reply_must_be_text(script: Script) -> None:
    with pytest.raises(ModelError, match="not UTF-8"):
        CommandLLM(script("import sys; sys.stdout.buffer.write(b'\\xff')")).complete(HELLO)


def test_a_program_need_not_read_its_prompt(script: Script) -> None:
    big = Request((ChatMessage("user", "x" * 1_000_000),))
    assert CommandLLM(script("print('deaf')")).complete(big).text == "deaf"


def test_too_long_kills_the_program_and_all_it_started(script: Script, tmp_path: Path) -> None:
    code = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
time.sleep(60)
"""
    with pytest.raises(ModelError, match="no reply within 1 s, killed"):
        CommandLLM(script(code), timeout=1.0).complete(HELLO)
    child = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 5
    while runs(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not runs(child)


def test_what_a_program_leaves_behind_does_not_keep_the_caller(script: Script) -> None:
    """A child that holds stdout open would make the reply endless."""
    code = """
import subprocess, sys
subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
print("done")
"""
    with pytest.raises(ModelError, match="no reply within 1 s, killed"):
        CommandLLM(script(code), timeout=1.0).complete(HELLO)


def test_an_interrupt_kills_the_program(script: Script, tmp_path: Path) -> None:
    code = f"""
import os, time
open({str(tmp_path / "writing")!r}, "w").write(str(os.getpid()))
os.rename({str(tmp_path / "writing")!r}, {str(tmp_path / "pid")!r})
time.sleep(60)
"""

    def interrupt() -> None:
        while not (tmp_path / "pid").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        CommandLLM(script(code)).complete(HELLO)
    thread.join()
    assert not runs(int((tmp_path / "pid").read_text()))


def test_no_more_programs_at_once_than_allowed(script: Script, tmp_path: Path) -> None:
    code = f"""
import os, time
mark = {str(tmp_path)!r} + "/run-" + str(os.getpid())
open(mark, "w").close()
time.sleep(0.1)
print(sum(name.startswith("run-") for name in os.listdir({str(tmp_path)!r})))
os.unlink(mark)
"""
    llm = CommandLLM(script(code), concurrency=1)
    seen: list[str] = []
    threads = [
        threading.Thread(target=lambda: seen.append(llm.complete(HELLO).text)) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["1", "1", "1"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("no-such-program-here -x", "'no-such-program-here' is not found"),
        ("sh -c 'unfinished", "No closing quotation"),
        ("  ", "no program"),
    ],
)
def test_an_unusable_command_is_a_setting_to_change(command: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        CommandLLM(command)


def test_a_program_that_vanished_is_a_model_error(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho hi\n")
    program.chmod(0o755)
    llm = CommandLLM(str(program))
    program.unlink()
    with pytest.raises(ModelError, match="cannot be started"):
        llm.complete(HELLO)


def test_name_and_identity_are_the_command_line() -> None:
    assert (
        CommandLLM("sh -c true").name == CommandLLM("sh -c true").identity == "command:sh -c true"
    )
