"""Programs in workers: writes, reads, and every way in which they fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import pytest

from memgene.core import BudgetExhaustedError, ConfigError, ModelError
from memgene.embed.hashing import HashingEmbedder
from memgene.embed.protocol import Vectors
from memgene.programs.program import Program
from memgene.programs.reply import Recalled
from memgene.programs.runtime import ProgramRuntime, RunningProgram
from memgene.retrieval.config import RetrievalConfig
from memgene.sandbox import FailureKind, GuestError
from memgene.testing import ScriptedLLM
from memgene.testing.programs import program_text

Start = Callable[..., RunningProgram]
QUERY = {"query_text": "which boat"}
ASKS = "return self.toolkit.llm_completion(query.query_text)"


@pytest.fixture
def start(runtime: ProgramRuntime) -> Iterator[Start]:
    started: list[RunningProgram] = []

    def made(source: str | None = None, **parts: str) -> RunningProgram:
        started.append(runtime.start(Program(source or program_text(**parts))))
        return started[-1]

    yield made
    for program in started:
        program.close()


def failure(act: Callable[[], Any]) -> GuestError:
    with pytest.raises(GuestError) as caught:
        act()
    return caught.value


def test_what_was_written_is_read(start: Start) -> None:
    program = start()
    assert program.write({"summary": "s"}, "Ann: I bought a boat.\nBob: Nice.") == ()
    assert program.read(QUERY) == Recalled("Ann: I bought a boat.", ())


def test_an_empty_memory_is_read(start: Start) -> None:
    assert start().read(QUERY) == Recalled("", ())


def test_every_start_is_a_fresh_memory(start: Start) -> None:
    first, second = start(), start()
    first.write({}, "a boat")
    assert first.read(QUERY).text == "a boat"
    assert second.read(QUERY).text == ""


def test_the_contract_is_known_before_the_first_call(start: Start) -> None:
    contract = start(always_on="Dates matter.").contract
    assert [(f.name, f.type, f.description) for f in contract.item_schema.fields] == [
        ("summary", "str", "what happened")
    ]
    assert contract.instructions.always_on == "Dates matter."
    assert contract.query_json["required"] == ["query_text"]


def test_what_is_logged_comes_with_the_call(start: Start) -> None:
    program = start(write="self.toolkit.logger.debug('w')", read="print('r')\nreturn ''")
    assert program.write({}, "") == ("w",)
    assert program.read(QUERY) == Recalled("", ("r",))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"head": "import os"}, "ImportError: a memory program cannot import 'os'"),
        ({"item": "x: dict"}, "ProgramError: KnowledgeItem.x is of type dict"),
        ({"init": "1 / 0"}, "ZeroDivisionError: division by zero"),
        ({"init": "}"}, "SyntaxError: "),
    ],
)
def test_a_program_that_cannot_be_loaded(start: Start, parts: dict[str, str], said: str) -> None:
    error = failure(lambda: start(**parts))
    assert (error.where, error.kind) == ("load", FailureKind.RAISED)
    assert error.message.startswith(said)


def test_an_exception_keeps_the_program_and_shows_its_line(start: Start) -> None:
    program = start(read="return self.texts[7]")
    error = failure(lambda: program.read(QUERY))
    assert (error.where, error.kind, error.fatal) == ("read", FailureKind.RAISED, False)
    assert error.message == "IndexError: list index out of range"
    assert "return self.texts[7]" in error.detail
    assert program.alive
    assert program.write({}, "x") == ()


def test_values_that_do_not_fit_are_named(start: Start) -> None:
    program = start()
    assert "Query needs query_text" in failure(lambda: program.read({})).message
    assert (
        "KnowledgeItem.summary must be str"
        in failure(lambda: program.write({"summary": 3}, "")).message
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 'x' * 101", "returned 101 characters, the limit is 100"),
        ("return ['x']", "must return a str, it returned list"),
        ("pass", "must return a str, it returned NoneType"),
        ("return chr(0xD800)", "surrogates not allowed"),
    ],
)
def test_what_is_read_must_be_a_short_text(start: Start, body: str, said: str) -> None:
    program = start(read=body)
    error = failure(lambda: program.read(QUERY))
    assert (error.where, error.kind) == ("read", FailureKind.OUTPUT)
    assert said in error.message
    assert program.alive


def test_a_text_of_exactly_the_limit_is_kept_whole(start: Start) -> None:
    assert start(read="return 'x' * 100").read(QUERY).text == "x" * 100


def test_each_call_may_ask_the_model_once(start: Start) -> None:
    program = start(read=ASKS, write="self.toolkit.llm_completion('a')")
    program.write({}, "")
    assert program.read(QUERY).text == "WHICH BOAT"
    assert program.read(QUERY).text == "WHICH BOAT"


def test_a_second_question_in_a_call_fails_it_even_if_caught(start: Start) -> None:
    body = "ask = self.toolkit.llm_completion\nask('a')\ntry:\n    ask('b')\nexcept Exception: pass"
    program = start(read=body + "\nreturn 'x'")
    error = failure(lambda: program.read(QUERY))
    assert (error.where, error.kind) == ("read", FailureKind.BUDGET)
    assert program.alive


def test_an_endless_loop_is_ended_and_nothing_is_called_after_it(start: Start) -> None:
    program = start(write="while True: pass")
    first = failure(lambda: program.write({}, ""))
    assert (first.where, first.kind, first.fatal) == ("write", FailureKind.TIME, True)
    assert not program.alive
    assert failure(lambda: program.read(QUERY)).kind is FailureKind.GONE


def test_leaving_the_process_is_an_end(start: Start) -> None:
    program = start(read="raise SystemExit")
    assert failure(lambda: program.read(QUERY)).kind is FailureKind.ENDED


def test_vectors_are_the_embedders(start: Start) -> None:
    init = "self.notes = toolkit.chroma.get_or_create_collection('notes')"
    write = "self.notes.add(ids=[str(self.notes.count())], documents=[raw_text])"
    read = """
        found = self.notes.query(query_texts=[query.query_text], n_results=1)
        return f"{found['documents'][0][0]} {found['distances'][0][0]:.4f}"
    """
    program = start(init=init, write=write, read=read)
    texts = ["a red boat", "a blue car"]
    for text in texts:
        program.write({}, text)
    rows = HashingEmbedder().embed([*texts, QUERY["query_text"]])
    distance = ((rows[0] - rows[2]) ** 2).sum()
    assert program.read(QUERY).text == f"a red boat {distance:.4f}"


def test_sets_random_numbers_and_clocks_are_the_same_in_every_worker(start: Start) -> None:
    body = """
        import random, datetime, numpy
        words = [str(w) for w in {f"word {i}" for i in range(20)}][:3]
        drawn = [random.random(), numpy.random.rand(), numpy.random.default_rng().random()]
        return str([words, [round(n, 3) for n in drawn], datetime.date.today().year])
    """
    assert start(read=body).read(QUERY) == start(read=body).read(QUERY)


def test_programs_run_side_by_side(start: Start) -> None:
    programs = [start() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda p: [p.write({}, "a boat") for _ in range(5)], programs))
        found = list(pool.map(lambda p: p.read(QUERY).text, programs))
    assert found == ["\n".join(["a boat"] * 5)] * 4


def test_a_failing_model_is_not_the_programs_fault() -> None:
    failing = ScriptedLLM([ModelError("down"), ModelError("down")])
    caught = (
        "try:\n    return self.toolkit.llm_completion('a')\nexcept Exception as e: return str(e)"
    )
    with ProgramRuntime(llm=failing) as runtime:
        raising = runtime.start(Program(program_text(read=ASKS)))
        with pytest.raises(ModelError, match="down"):
            raising.read(QUERY)
        falling_back = runtime.start(Program(program_text(read=caught)))
        assert "down" in falling_back.read(QUERY).text


def test_a_budget_that_is_used_up_ends_the_work() -> None:
    with ProgramRuntime(llm=ScriptedLLM([BudgetExhaustedError("no calls left")])) as runtime:
        program = runtime.start(Program(program_text(read=ASKS)))
        with pytest.raises(BudgetExhaustedError, match="no calls left"):
            program.read(QUERY)
        assert not program.alive


def test_the_bank_remembers_episodes(start: Start) -> None:
    read = "return self.toolkit.bank.context(query.query_text, limit=1, characters=100)"
    program = start(write="self.toolkit.bank.add_episode(raw_text)", read=read)
    program.write({}, "[8 May 2023]\nAnn: I bought a boat.\nBob: My car is blue.")
    assert program.read(QUERY).text == "[8 May 2023] Ann: I bought a boat."


def test_the_bank_reads_with_the_configuration_of_the_run() -> None:
    body = "return str(len(self.toolkit.bank.search(query.query_text, limit=50)))"
    write = "for i in range(5): self.toolkit.bank.add(f'boat number {i}')"
    source = Program(program_text(write=write, read=body))
    for config, found in ((None, "5"), (RetrievalConfig.minimal().changed(lexical_k=2), "2")):
        with ProgramRuntime(embedder=HashingEmbedder(), config=config) as runtime:
            program = runtime.start(source)
            program.write({}, "")
            assert program.read(QUERY).text == found
    with pytest.raises(ConfigError, match="has no language model"):
        ProgramRuntime(config=RetrievalConfig(extraction="facts"))


def test_without_models_the_error_says_what_is_missing() -> None:
    vectors = """
        notes = self.toolkit.chroma.get_or_create_collection("notes")
        notes.add(ids=["a"], documents=["b"])
        notes.query(query_texts=["b"])
    """
    with ProgramRuntime() as runtime:
        program = runtime.start(Program(program_text(read=ASKS, write=vectors)))
        assert "no language model" in failure(lambda: program.read(QUERY)).message
        assert "no embedder" in failure(lambda: program.write({}, "")).message


def test_another_model_can_answer_one_program() -> None:
    with ProgramRuntime() as runtime:
        assert not runtime.has_llm
        program = runtime.start(Program(program_text(read=ASKS)), llm=ScriptedLLM(["a reply"]))
        assert program.read(QUERY).text == "a reply"


def test_a_text_is_embedded_once_for_all_programs() -> None:
    class Counting(HashingEmbedder):
        seen: ClassVar[list[str]] = []

        def embed(self, texts: Sequence[str]) -> Vectors:
            self.seen.extend(texts)
            return super().embed(texts)

    read = """
        notes = self.toolkit.chroma.get_or_create_collection("notes")
        notes.add(ids=["a"], documents=["a boat"])
        return notes.query(query_texts=[query.query_text])["documents"][0][0]
    """
    with ProgramRuntime(embedder=Counting()) as runtime:
        for _ in range(2):
            assert runtime.start(Program(program_text(read=read))).read(QUERY).text == "a boat"
    assert sorted(Counting.seen) == ["a boat", "which boat"]


def test_an_embedder_that_knows_words_gives_the_word_vectors_too() -> None:
    class Static(HashingEmbedder):
        def words(self, words: Sequence[str]) -> Vectors:
            return self.embed(words)

    source = Program(program_text(read="return str(self.toolkit.words(['boat']).shape[0])"))
    with ProgramRuntime(embedder=Static()) as runtime:
        assert runtime.start(source).read(QUERY).text == "1"
    with ProgramRuntime(embedder=HashingEmbedder()) as runtime:
        program = runtime.start(source)
        assert "no word vectors" in failure(lambda: program.read(QUERY)).message
