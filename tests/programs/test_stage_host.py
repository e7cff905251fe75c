"""Stages run in a sandbox: what they may, what ends them, and that one failure harms no other."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from memgene.programs.stage_host import SandboxedStages
from memgene.retrieval.stages.host import StageError, StageHost
from memgene.retrieval.stages.stage import Stage
from memgene.sandbox import Limits

QUICK = Limits(call_seconds=0.5, memory_bytes=128 << 20)


def rescorer(body: str, name: str = "mine", head: str = "") -> Stage:
    lines = "\n".join("    " + line for line in body.splitlines())
    source = f'{head}\nKIND = "rescorer"\nABOUT = "a test"\ndef scores(query, hits):\n{lines}\n'
    return Stage(name, source)


FINE = rescorer("return [len(query) + float(hit['n']) for hit in hits]", "fine")
PARAMS: dict[str, Any] = {"query": "abc", "hits": [{"n": 1}, {"n": 2}]}


@pytest.fixture(scope="module")
def host() -> Iterator[SandboxedStages]:
    with SandboxedStages(limits=QUICK) as made:
        yield made


def test_a_stage_gives_what_its_function_returns(host: SandboxedStages) -> None:
    assert isinstance(host, StageHost)
    assert host.call(FINE, "scores", PARAMS) == [4.0, 5.0]


def test_nothing_is_started_before_the_first_call() -> None:
    idle = SandboxedStages()
    assert not idle.running
    assert idle.level is None
    idle.close()
    with pytest.raises(StageError, match="closed"):
        idle.call(FINE, "scores", PARAMS)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return [open('/etc/passwd').read()]", "NameError"),
        ("import os\nreturn os.listdir('/')", "cannot import 'os'"),
        ("import socket\nreturn [socket.socket()]", "cannot import 'socket'"),
        ("import sqlite3\nreturn []", "keeps nothing between calls"),
        ("while True: pass", "more than 0.5 s"),
        ("return [float('nan')]", "not JSON"),
        ("return [1.0] * 1_000_000", "too large"),
        ("return [len('x' * (1 << 30))]", "memory"),
        ("raise SystemExit(3)", "SystemExit"),
        ("raise ValueError('no idea')", "ValueError: no idea"),
        ("return [object()]", "not JSON"),
        ("return recurse()", "NameError"),
    ],
)
def test_what_a_stage_must_not_is_a_failure_that_names_it(
    host: SandboxedStages, body: str, said: str
) -> None:
    with pytest.raises(StageError, match="stage bad") as failed:
        host.call(rescorer(body, "bad"), "scores", PARAMS)
    assert said in str(failed.value)
    assert host.call(FINE, "scores", PARAMS) == [4.0, 5.0], "the next stage is not harmed"


def test_files_and_sockets_are_shut_also_from_behind_the_imports(host: SandboxedStages) -> None:
    """The import list is for good messages; what holds is the process."""
    loader = "[c for c in object.__subclasses__() if c.__name__ == 'BuiltinImporter'][0]"
    for use in (
        "posix.open('/etc/passwd', 0)",
        "posix.fork()",
        f"{loader}.load_module('_socket').socket()",
    ):
        body = f"posix = {loader}.load_module('posix')\nreturn [{use}]"
        with pytest.raises(StageError, match="stage bad, scores: PermissionError"):
            host.call(rescorer(body, "bad"), "scores", PARAMS)
    assert host.call(FINE, "scores", PARAMS) == [4.0, 5.0]


def test_a_missing_function_is_told_with_its_signature(host: SandboxedStages) -> None:
    empty = Stage("empty", 'KIND = "rescorer"\nABOUT = "nothing"\n')
    with pytest.raises(StageError, match=r"empty must define def scores\(query, hits\)"):
        host.call(empty, "scores", PARAMS)


def test_a_function_that_may_be_missing_gives_none(host: SandboxedStages) -> None:
    plain = Stage(
        "plain", 'KIND = "answer"\nABOUT = "a"\ndef instruction(question):\n    return ""'
    )
    params = {"question": "q", "context": "c", "answer": "a"}
    assert host.call(plain, "accept", params) is None


def test_a_method_that_the_kind_has_not_is_refused(host: SandboxedStages) -> None:
    with pytest.raises(StageError, match="is a rescorer, it has no function keep"):
        host.call(FINE, "keep", PARAMS)


def test_nothing_is_kept_from_call_to_call_and_chance_repeats_itself(
    host: SandboxedStages,
) -> None:
    counting = rescorer("seen.append(1)\nreturn [len(seen)]", "counting", "seen = []")
    drawing = rescorer(
        "return [random.random(), float(np.random.rand()), datetime.now().timestamp()]",
        "drawing",
        "import random\nimport numpy as np\nfrom datetime import datetime",
    )
    assert [host.call(counting, "scores", PARAMS) for _ in range(2)] == [[1], [1]]
    first, second = (host.call(drawing, "scores", PARAMS) for _ in range(2))
    assert first == second
    with SandboxedStages() as other:
        assert other.call(drawing, "scores", PARAMS) == first


def test_two_sources_of_one_name_are_two_stages(host: SandboxedStages) -> None:
    assert host.call(rescorer("return [1]"), "scores", PARAMS) == [1]
    assert host.call(rescorer("return [2]"), "scores", PARAMS) == [2]


def test_threads_share_the_worker(host: SandboxedStages) -> None:
    found: list[Any] = []
    calls = [
        threading.Thread(target=lambda: found.append(host.call(FINE, "scores", PARAMS)))
        for _ in range(8)
    ]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    assert found == [[4.0, 5.0]] * 8


def test_a_worker_is_replaced_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memgene.programs.stage_host.CALLS_OF_A_WORKER", 2)
    with SandboxedStages() as host:
        for _ in range(5):
            assert host.call(FINE, "scores", PARAMS) == [4.0, 5.0]


def test_closing_ends_the_processes() -> None:
    host = SandboxedStages()
    host.call(FINE, "scores", PARAMS)
    assert host._sandbox is not None
    pid = host._sandbox.zygote_pid
    host.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
