"""A genome with a program serves a memory: its program reads what the bank holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from memgene import Memory, RetrievalConfig
from memgene.api.served_program import READERS
from memgene.bank import SqliteBank
from memgene.core import BankError, Episode, InputError, Message, NotFoundError, ReplyError
from memgene.genome import GenomeBundle
from memgene.programs.seeds import seed
from memgene.sandbox import GuestError
from memgene.testing.programs import program_text

COUNTED = 'return f"{len(self.texts)}: " + " | ".join(self.texts)'
"""Reads how often it was written to, and what."""
Open = Callable[..., Memory]


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever isolation this machine has; no settings from outside."""
    for name in ("CONFIG", "EMBEDDER", "AGENT", "SANDBOX_CHROMA"):
        monkeypatch.delenv(f"MEMGENE_{name}", raising=False)
    monkeypatch.setenv("MEMGENE_SANDBOX_LEVEL", "rlimits")


@pytest.fixture
def opened(path: Path) -> Iterator[Open]:
    """Memories with a program, closed at the end; the same file each time."""
    with ExitStack() as stack:

        def make(source: str = "", **parts: str) -> Memory:
            program = source or program_text(**{"read": COUNTED, **parts})
            genome = GenomeBundle(RetrievalConfig(), "hashing", "program", program=program)
            return stack.enter_context(Memory(path, genome=genome))

        yield make


class TestSearching:
    def test_gives_what_the_program_reads_as_one_result(self, opened: Open) -> None:
        memory = opened()
        memory.add("The boat is red.")
        found = memory.search("boat")
        (hit,) = found
        assert found.context == hit.text == "1: The boat is red."
        assert list(hit.why.views) == ["program"]
        assert (hit.source, hit.query, found.degraded) == (None, "boat", ())
        with pytest.raises(NotFoundError):
            memory.get(hit.id)

    def test_gives_the_memories_where_the_program_shows_those_of_its_bank(
        self, opened: Open
    ) -> None:
        memory = opened(seed("bank").source)
        when = datetime(2024, 5, 2, 9)
        receipt = memory.add(
            [{"role": "Ann", "content": "The boat is red."}, {"role": "Ben", "content": "Rain."}],
            event_time=when,
            metadata={"topic": "boats"},
        )
        found = memory.search("Which colour is the boat?")
        first = found[0]
        assert (first.id, first.text) == (receipt.ids[0], "The boat is red.")
        assert first.metadata == {"topic": "boats"}
        assert first.line in found.context.splitlines()
        assert first.why.views["program"].rank == 1
        assert memory.get(first.id).text == first.text
        assert len(memory.search("boat or rain", limit=1)) == 1

    def test_gives_nothing_where_the_program_reads_nothing(self, opened: Open) -> None:
        memory = opened(read='return ""')
        memory.add("The boat is red.")
        assert (len(memory.search("boat")), memory.search("boat").context) == (0, "")

    def test_takes_no_filters_but_the_owner(self, opened: Open) -> None:
        memory = opened()
        memory.add("The boat is red.", user_id="ann")
        assert "red" in memory.search("boat", filters={"user_id": "ann"}).context
        with pytest.raises(InputError, match="searches by its program, which cannot leave out"):
            memory.search("boat", filters={"type": "semantic"})


class TestTheProgramsMemory:
    def test_is_written_episode_by_episode_as_the_bank_was(self, opened: Open) -> None:
        memory = opened()
        talk = [{"role": "Ann", "content": "Hello."}, {"role": "Ben", "content": "Hi."}]
        memory.add(talk, source="talk", event_time=datetime(2024, 5, 2))
        memory.add("The boat is red.")
        assert memory.search("x").context == (
            "2: [2 May 2024]\nAnn: Hello.\nBen: Hi. | The boat is red."
        )

    def test_goes_on_from_what_it_was_written_before(self, opened: Open) -> None:
        memory = opened(
            init="self.texts = []\nself.n = 0",
            write="self.n += 1",
            read="""
            self.texts.append("read")
            return f"{self.n} written, {len(self.texts)} read"
        """,
        )
        memory.add("One.")
        assert memory.search("x").context == "1 written, 1 read"
        memory.add("Two.")
        assert memory.search("x").context == "2 written, 2 read"

    def test_is_the_same_after_a_restart(self, opened: Open) -> None:
        first = opened()
        first.add([{"role": "Ann", "content": "One."}], source="talk")
        first.search("x")
        first.add([{"role": "Ann", "content": "Two."}], source="talk")
        lived = first.search("x")
        first.close()
        again = opened().search("x")
        assert again.model_dump() == lived.model_dump()
        assert again.context == lived.context == "2: Ann: One. | Ann: Two."

    def test_forgets_what_is_deleted(self, opened: Open) -> None:
        memory = opened()
        memory.add("One.")
        two = memory.add("Two.").ids[0]
        assert memory.search("x").context == "2: One. | Two."
        memory.delete(two)
        assert memory.search("x").context == "1: One."
        memory.delete_all(all=True)
        assert memory.search("x").context == "0: "

    def test_follows_what_is_changed(self, opened: Open) -> None:
        memory = opened()
        one = memory.add("One.").ids[0]
        memory.search("x")
        memory.update(one, "Eins.", {"language": "German"})
        assert memory.search("x").context == "1: Eins."

    def test_is_made_of_a_file_that_knew_no_program(self, opened: Open, path: Path) -> None:
        with Memory(path, embedder="hashing") as plain:
            plain.add([{"role": "Ann", "content": "Hello."}, {"role": "Ben", "content": "Hi."}])
        assert opened().search("x").context == "1: Ann: Hello.\nBen: Hi."

    def test_travels_with_an_export(self, opened: Open, tmp_path: Path) -> None:
        memory = opened()
        memory.add([{"role": "Ann", "content": "One."}], source="talk")
        memory.add([{"role": "Ann", "content": "Two."}], source="talk")
        memory.export(tmp_path / "all.jsonl")
        with Memory(genome=memory.genome) as other:
            other.import_(tmp_path / "all.jsonl")
            assert other.search("x").context == memory.search("x").context

    def test_is_what_the_bank_holds_whatever_was_done_to_it(self, opened: Open) -> None:
        memory, draw = opened(), Random(7)
        for number in range(60):
            ids = [record.id for record in memory.get_all(user_id="ann")]
            match draw.choice(["add", "add", "talk", "delete", "update", "search"]):
                case "add":
                    memory.add(f"Said {number}.", user_id="ann")
                case "talk":
                    said = [{"role": "Ann", "content": f"Turn {n}."} for n in (number, number + 1)]
                    memory.add(said, user_id="ann", run_id=f"r{number % 3}")
                case "delete" if ids:
                    memory.delete(draw.choice(ids))
                case "update" if ids:
                    memory.update(draw.choice(ids), f"Changed {number}.")
                case _:
                    memory.search("x", user_id="ann")
        lived = memory.search("x", user_id="ann").context
        assert lived.count("|") > 10
        assert opened().search("x", user_id="ann").context == lived

    def test_is_not_looked_through_again_for_what_others_do(
        self, opened: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        memory = opened()
        one = memory.add("One.", user_id="ann").ids[0]
        memory.search("x", user_id="ann")
        scanned: list[Any] = []
        scan = SqliteBank.scan

        def counted(*about: Any) -> Any:
            scanned.append(about)
            return scan(*about)

        monkeypatch.setattr(SqliteBank, "scan", counted)
        memory.add("Ben's.", user_id="ben")
        assert memory.search("x", user_id="ann").context == "1: One."
        assert scanned == []
        memory.update(one, "Eins.")
        assert memory.search("x", user_id="ann").context == "1: Eins."
        assert len(scanned) == 1


class TestOwners:
    def test_have_programs_of_their_own(self, opened: Open) -> None:
        memory = opened()
        memory.add("Ann's.", user_id="ann")
        memory.add("Ben's.", user_id="ben")
        memory.add("Nobody's.")
        found = {user: memory.search("x", user_id=user).context for user in ("ann", "ben", None)}
        assert found == {"ann": "1: Ann's.", "ben": "1: Ben's.", None: "1: Nobody's."}

    def test_see_of_runs_and_agents_what_any_search_sees(self, opened: Open) -> None:
        memory = opened()
        memory.add("Base.", user_id="ann")
        memory.add("First run.", user_id="ann", run_id="1")
        memory.add("Second run.", user_id="ann", run_id="2")
        assert memory.search("x", user_id="ann", run_id="1").context == "2: Base. | First run."
        assert memory.search("x", user_id="ann").context == "3: Base. | First run. | Second run."
        assert memory.search("x", user_id="ann", agent_id="a").context == "0: "

    def test_may_be_more_than_programs_are_kept(self, opened: Open) -> None:
        memory = opened()
        users = [f"u{number}" for number in range(READERS + 2)]
        for user in users:
            memory.add(f"Of {user}.", user_id=user)
        for user in (*users, *users):
            assert memory.search("x", user_id=user).context == f"1: Of {user}."

    def test_may_ask_at_once(self, opened: Open) -> None:
        memory = opened()

        def work(number: int) -> str:
            user = f"u{number % (READERS + 1)}"
            memory.add("Said.", user_id=user)
            return memory.search("x", user_id=user).context

        with ThreadPoolExecutor(4) as pool:
            assert set(pool.map(work, range(24))) == {"1: Said."}


class TestFailures:
    def test_of_a_write_cost_that_episode_and_are_told(self, opened: Open) -> None:
        memory = opened(
            write="""
            if "bad" in raw_text:
                raise ValueError("cannot hold this")
            self.texts.append(raw_text)
        """
        )
        memory.add("good")
        memory.add("bad")
        found = memory.search("x")
        assert found.context == "1: good"
        (told,) = found.degraded
        assert told.startswith("the program failed on 1 of 2 episodes")
        assert "cannot hold this" in told

    def test_of_a_read_are_errors_of_the_search(self, opened: Open) -> None:
        memory = opened(
            read="""
            if "bad" in query.query_text:
                raise ValueError("cannot read this")
            return "fine"
        """
        )
        memory.add("One.")
        with pytest.raises(GuestError, match=r"^read: .*cannot read this"):
            memory.search("bad")
        assert memory.search("good").context == "fine"

    def test_that_end_the_program_leave_the_memory(self, opened: Open) -> None:
        memory = opened(
            read="""
            if "end" in query.query_text:
                raise SystemExit(3)
            return f"{len(self.texts)} texts"
        """
        )
        memory.add("One.")
        with pytest.raises(GuestError):
            memory.search("end")
        assert memory.search("good").context == "1 texts"

    def test_of_loading_are_told_at_the_first_search(self, opened: Open) -> None:
        memory = opened("import socket\n" + program_text())
        memory.add("One.")
        with pytest.raises(GuestError, match=r"^load: "):
            memory.search("x")
        assert memory.get_all()[0].text == "One."

    def test_of_an_agent_count_as_the_programs(
        self, opened: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from memgene.agents.offline import OfflineAgent

        whole = OfflineAgent.extract

        def extract(self: OfflineAgent, episode: Episode, *about: Any) -> Any:
            if "odd" in episode.text:
                raise ReplyError("no item in it")
            return whole(self, episode, *about)

        monkeypatch.setattr(OfflineAgent, "extract", extract)
        memory = opened()
        memory.add("odd")
        memory.add("even")
        found = memory.search("x")
        assert found.context == "1: even"
        assert "no item in it" in found.degraded[0]

    def test_of_a_closed_memory_are_its_own(self, opened: Open) -> None:
        memory = opened()
        memory.add("One.")
        memory.search("x")
        memory.close()
        with pytest.raises(BankError):
            memory.search("x")


class TestWhatAProgramCannotDo:
    def test_learning_is_refused_and_says_why(self, opened: Open) -> None:
        memory = opened()
        one = memory.add("One.").ids[0]
        for refused in (lambda: memory.feedback(one, 1.0), memory.learn):
            with pytest.raises(InputError, match="knows no values of memories"):
                refused()
        assert memory.lessons().results == ()

    def test_facts_are_looked_after_as_ever(self, opened: Open) -> None:
        memory = opened()
        one = memory.add(Episode("e", (Message("One."),), "e")).ids[0]
        assert memory.get(one).text == "One."
        assert memory.history(one)[0].event == "add"
        assert memory.verify().ok
        assert memory.consolidate().units == 1
