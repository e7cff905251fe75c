"""The cache of replies: keys, one file for threads and processes, one call for equal requests."""

from __future__ import annotations

import hashlib
import multiprocessing
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memgene.core import (
    BudgetExhaustedError,
    FixedClock,
    MemgeneError,
    ModelError,
    StoredConfigError,
)
from memgene.llm import ChatMessage, Finish, Reply, Request
from memgene.llm.cache import ReplyCache
from memgene.llm.flights import Flights
from memgene.llm.request_key import request_key

REQUEST = Request((ChatMessage("user", "Hi"),), {"type": "object", "properties": {"a": {}}})
REPLY = Reply("Hello \U0001f44b", Finish.STOP, 12, 3, 0.25)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "llm.sqlite"


# -- keys


def test_a_key_is_the_same_in_every_process() -> None:
    canonical = (
        '{"format":1,"identity":"m","max_tokens":1024,"messages":[["user","Hi"]],'
        '"schema":"{\\"type\\": \\"object\\", \\"properties\\": {\\"a\\": {}}}",'
        '"seed":0,"stop":[],"temperature":0.0}'
    )
    assert request_key("m", REQUEST) == hashlib.sha256(canonical.encode()).hexdigest()


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, messages=(ChatMessage("system", "Hi"),)),
        replace(REQUEST, messages=(ChatMessage("user", "H"), ChatMessage("user", "i"))),
        replace(REQUEST, schema=None),
        replace(REQUEST, schema={"properties": {"a": {}}, "type": "object"}),
        replace(REQUEST, temperature=0.1),
        replace(REQUEST, max_tokens=1),
        replace(REQUEST, seed=None),
        replace(REQUEST, stop=("x",)),
    ],
)
def test_whatever_a_request_says_makes_another_key(other: Request) -> None:
    assert request_key("m", other) != request_key("m", REQUEST)


def test_the_model_makes_another_key_and_an_equal_number_does_not() -> None:
    assert request_key("n", REQUEST) != request_key("m", REQUEST)
    assert request_key("m", replace(REQUEST, temperature=0)) == request_key("m", REQUEST)


def test_a_lone_surrogate_can_be_asked() -> None:
    odd = replace(REQUEST, messages=(ChatMessage("user", "\ud800"),))
    assert len(request_key("m", odd)) == 64


# -- one file


def test_what_was_put_comes_back_marked_as_cached_also_after_reopening(path: Path) -> None:
    first = ReplyCache(path)
    assert first.get("k") is None
    first.put("k", REPLY)
    assert first.get("k") == replace(REPLY, cached=True)
    first.close()
    again = ReplyCache(path)
    assert again.get("k") == replace(REPLY, cached=True)
    again.close()


def test_the_first_reply_under_a_key_stays(path: Path) -> None:
    cache = ReplyCache(path)
    cache.put("k", REPLY)
    cache.put("k", replace(REPLY, text="other"))
    found = cache.get("k")
    cache.close()
    assert found == replace(REPLY, cached=True)


def test_a_reply_that_was_cut_at_its_limit_is_kept_an_interrupted_one_is_not(path: Path) -> None:
    cache = ReplyCache(path)
    cache.put("cut", replace(REPLY, finish=Finish.LENGTH))
    cache.put("interrupted", replace(REPLY, finish=Finish.OTHER))
    found = cache.get("cut"), cache.get("interrupted")
    cache.close()
    assert found == (replace(REPLY, finish=Finish.LENGTH, cached=True), None)


def test_the_file_is_its_owners_alone_and_says_when_replies_came(path: Path) -> None:
    cache = ReplyCache(path, clock=FixedClock(datetime(2024, 5, 6, 7, 8, tzinfo=UTC)))
    cache.put("k", REPLY)
    cache.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with sqlite3.connect(path) as connection:
        created = connection.execute("SELECT created FROM replies").fetchone()[0]
    connection.close()
    assert created == "2024-05-06T07:08:00+00:00"


def test_off_keeps_nothing() -> None:
    cache = ReplyCache.named("off")
    cache.put("k", REPLY)
    assert (cache.on, cache.get("k"), len(cache)) == (False, None, 0)
    cache.close()


# -- files that cannot be used: an error that names the file and the remedy, nothing lost


def _corrupt_pages(path: Path) -> None:
    cache = ReplyCache(path)
    for number in range(300):
        cache.put(f"{number:064}", replace(REPLY, text="x" * 500))
    cache.close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)


def _newer(path: Path) -> None:
    cache = ReplyCache(path)
    cache.put("k", REPLY)
    cache.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def _other_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()


def _unknown_finish(path: Path) -> None:
    cache = ReplyCache(path)
    cache.put("k", REPLY)
    cache.close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE replies SET finish = 'lost'")
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("spoil", "what", "deletable"),
    [
        (_corrupt_pages, "is damaged", True),
        (_unknown_finish, "is damaged", True),
        (lambda p: p.write_text("not a database at all"), "is not a cache of replies", False),
        (_other_database, "is not a cache of replies", False),
        (_newer, "has format 99, newer than", False),
        (lambda p: p.mkdir(), "cannot be opened", False),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_remedy(
    tmp_path: Path, spoil: Callable[[Path], object], what: str, deletable: bool
) -> None:
    path = tmp_path / "llm.sqlite"
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    cache = ReplyCache(path)
    with pytest.raises(StoredConfigError, match=what) as caught:
        cache.get("k")
    cache.close()
    assert str(path) in str(caught.value)
    assert 'set [llm] cache to another file or to "off"' in str(caught.value)
    assert ("delete it" in str(caught.value)) is deletable
    assert before == (path.read_bytes() if path.is_file() else None)


def test_a_closed_cache_is_not_opened_again(path: Path) -> None:
    cache = ReplyCache(path)
    cache.put("k", REPLY)
    cache.close()
    with pytest.raises(StoredConfigError, match="is closed"):
        cache.get("k")


# -- threads and processes


_HAMMER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from memgene.llm import Reply
from memgene.llm.cache import ReplyCache

cache = ReplyCache(Path(sys.argv[1]))

def work(thread):
    for number in range(60):
        key = f"shared{number}" if number % 2 else f"own{sys.argv[2]}-{thread}-{number}"
        cache.put(key, Reply(key))
        assert cache.get(key).text == key

with ThreadPoolExecutor(8) as pool:
    list(pool.map(work, range(8)))
cache.close()
"""


def test_four_processes_of_eight_threads_share_one_new_file(path: Path) -> None:
    """Each thread puts and gets 60 replies, half of them under keys all processes use."""
    command = [sys.executable, "-W", "error", "-c", _HAMMER, str(path)]
    processes = [subprocess.Popen([*command, str(n)]) for n in range(4)]
    assert [process.wait(60) for process in processes] == [0, 0, 0, 0]
    cache = ReplyCache(path)
    stored = len(cache)
    cache.close()
    assert stored == 30 + 4 * 8 * 30


def _in_child(cache: ReplyCache) -> None:
    assert cache.get("parent") is not None
    cache.put("child", REPLY)
    cache.flights.join("busy", lambda: REPLY)  # the parent's flight is not the child's
    cache.close()


def test_a_forked_child_opens_the_file_for_itself(path: Path) -> None:
    cache = ReplyCache(path)
    cache.put("parent", REPLY)

    def fork() -> Reply:
        child = multiprocessing.get_context("fork").Process(target=_in_child, args=(cache,))
        child.start()
        child.join(20)
        assert child.exitcode == 0
        return REPLY

    cache.flights.join("busy", fork)
    assert cache.get("child") is not None
    cache.close()


# -- equal calls at the same time


class Script:
    """A call that lasts until `waiters` others wait for it; counts how often it is made."""

    def __init__(self, flights: Flights, waiters: int, *outcomes: Reply | BaseException) -> None:
        self.flights = flights
        self.waiters = waiters
        self.outcomes = list(outcomes)
        self.begun = threading.Event()
        self.made = 0

    def __call__(self) -> Reply:
        self.made += 1
        self.begun.set()
        while self.made == 1 and self.flights.waiting("k") < self.waiters:
            time.sleep(0.001)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def _joined(waiters: int, *outcomes: Reply | BaseException) -> tuple[list[object], int]:
    """What one owner and those who wait for it get, the owner first; and the calls made."""
    flights = Flights()
    call = Script(flights, waiters, *outcomes)

    def join() -> Reply | BaseException:
        try:
            return flights.join("k", call)
        except MemgeneError as error:
            return error

    with ThreadPoolExecutor(waiters + 1) as pool:
        owner = pool.submit(join)
        assert call.begun.wait(20)
        others = [pool.submit(join) for _ in range(waiters)]
        return [owner.result(), *(o.result() for o in others)], call.made


def test_equal_calls_under_way_are_one_and_the_others_count_as_cached() -> None:
    got, made = _joined(8, REPLY)
    assert got == [REPLY, *[replace(REPLY, cached=True)] * 8]
    assert made == 1


def test_waiters_get_the_models_error_each_as_its_own() -> None:
    got, made = _joined(4, ModelError("down"))
    assert [(type(e), str(e)) for e in got] == [(ModelError, "down")] * 5
    assert (len({id(e) for e in got}), made) == (5, 1)


def test_when_the_owner_is_stopped_by_its_budget_a_waiter_makes_the_call() -> None:
    got, made = _joined(4, BudgetExhaustedError("mine"), *[REPLY] * 4)
    assert isinstance(got[0], BudgetExhaustedError)
    assert all(isinstance(reply, Reply) for reply in got[1:])
    assert made == 1 + got.count(REPLY) >= 2


def test_different_calls_do_not_wait_for_each_other() -> None:
    flights = Flights()
    inner = replace(REPLY, text="inner")
    assert flights.join("a", lambda: flights.join("b", lambda: inner)) == inner
