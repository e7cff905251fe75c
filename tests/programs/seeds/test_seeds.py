"""Seed programs as they run in the sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memgene.core import ConfigError
from memgene.embed.hashing import HashingEmbedder
from memgene.programs.gates import check_static
from memgene.programs.modules import SEED_RECIPES, compose
from memgene.programs.runtime import ProgramRuntime, RunningProgram
from memgene.programs.seeds import seed, seed_names
from memgene.testing import ScriptedLLM

PUBLISHED = ("vector-search", "llm-summarizer", "experience-learner")
DIALOGUE = "[8 May 2023, 1:56 pm]\nAnna: I planted a plum tree.\nBob: We sailed to Malta."
NOTHING = "Nothing is stored yet."


@pytest.fixture(scope="module")
def llm() -> ScriptedLLM:
    return ScriptedLLM(lambda request: f"<{request.messages[-1].content}>")


@pytest.fixture(scope="module")
def runtime(llm: ScriptedLLM) -> Iterator[ProgramRuntime]:
    with ProgramRuntime(llm=llm, embedder=HashingEmbedder(), words=None) as made:
        yield made


@pytest.fixture
def run(runtime: ProgramRuntime, request: pytest.FixtureRequest) -> Iterator[RunningProgram]:
    """The seed that the test is marked with."""
    running = runtime.start(seed(request.param))
    yield running
    running.close()


def running(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("run", [name], indirect=True)


def write(run: RunningProgram, *texts: str) -> None:
    for text in texts:
        run.write({"summary": "s"}, text)


def read(run: RunningProgram, query: str) -> str:
    return run.read({"query_text": query}).text


def test_there_are_seven() -> None:
    assert seed_names() == (
        "bank",
        "empty",
        "experience-learner",
        "hybrid",
        "llm-summarizer",
        "vector-search",
        "vector-search-published",
    )


def test_another_name_is_an_error_that_lists_them() -> None:
    with pytest.raises(ConfigError, match="choose one of bank, empty"):
        seed("vector_search")


@pytest.mark.parametrize("name", seed_names())
def test_every_seed_passes_the_static_gate(name: str) -> None:
    assert check_static(seed(name).source) == ()


def test_the_published_ones_have_the_same_instructions(runtime: ProgramRuntime) -> None:
    told = set()
    for name in (*PUBLISHED, "vector-search-published"):
        run = runtime.start(seed(name))
        told.add(run.contract.instructions)
        run.close()
    assert len(told) == 1


@pytest.mark.parametrize("name", [n for n in seed_names() if n not in ("empty", "bank")])
def test_an_empty_memory_says_so(runtime: ProgramRuntime, name: str) -> None:
    run = runtime.start(seed(name))
    assert read(run, "plum tree") == NOTHING
    run.close()


@running("empty")
def test_the_empty_seed_remembers_nothing(run: RunningProgram) -> None:
    write(run, DIALOGUE)
    assert read(run, "plum tree") == "Nothing is stored."


@running("vector-search")
def test_short_paragraphs_share_a_chunk(run: RunningProgram) -> None:
    paragraphs = [f"plum {number}" for number in range(7)]
    write(run, "\n\n".join(paragraphs))
    # seven chunks would not all be shown
    assert read(run, "plum").split("\n\n") == paragraphs


@running("vector-search")
def test_a_conversation_of_single_lines_is_cut_at_its_lines(run: RunningProgram) -> None:
    lines = [f"Anna: line {number} " + "w" * 180 for number in range(9)]
    write(run, "\n".join(lines))
    chunks = read(run, "line").split("\n\n")
    # two lines of 194 characters fit into 500
    assert sorted(chunks) == sorted("\n".join(lines[i : i + 2]) for i in range(0, 9, 2))


@running("vector-search")
def test_a_line_longer_than_a_chunk_is_cut_between_words(run: RunningProgram) -> None:
    write(run, " ".join(["abcdefghi"] * 120))
    chunks = read(run, "abcdefghi").split("\n\n")
    assert [len(chunk) for chunk in chunks] == [499, 499, 199]
    assert {word for chunk in chunks for word in chunk.split()} == {"abcdefghi"}


@running("vector-search")
def test_the_five_nearest_chunks_are_shown(run: RunningProgram) -> None:
    write(run, *(f"plum {number} " + "tree " * 90 for number in range(7)))
    assert len(read(run, "plum tree").split("\n\n")) == 5


@running("vector-search-published")
def test_as_published_a_text_without_blank_lines_stays_whole(run: RunningProgram) -> None:
    text = "\n".join(f"Anna: line {number} " + "w" * 180 for number in range(20))
    write(run, text)
    assert read(run, "line") == text[:3000]


@running("llm-summarizer")
def test_the_summarizer_shows_its_texts_to_the_model(run: RunningProgram) -> None:
    write(run, DIALOGUE, "Eve: I paint.")
    reply = read(run, "Who sails?")
    assert reply.startswith("<")
    assert "Query: Who sails?" in reply
    assert f"{DIALOGUE}\n\nEve: I paint." in reply


def test_without_a_model_the_summarizer_shows_its_texts() -> None:
    with ProgramRuntime() as runtime:
        run = runtime.start(seed("llm-summarizer"))
        write(run, DIALOGUE, "x" * 4000)
        assert read(run, "Who sails?") == f"{DIALOGUE}\n\n{'x' * 4000}"[:3000]
        run.close()


@running("experience-learner")
def test_lessons_and_facts_have_five_hundred_characters_each(run: RunningProgram) -> None:
    run.write({"lesson_learned": "Look first.", "fact_to_remember": "f" * 700}, DIALOGUE)
    run.write({"lesson_learned": "l" * 700, "fact_to_remember": "late"}, DIALOGUE)
    lessons = ("Look first.\n" + "l" * 700)[:500]
    assert read(run, "anything") == f"Lessons:\n{lessons}\n\nFacts:\n{'f' * 500}"


@running("hybrid")
def test_the_hybrid_keeps_the_date_on_each_line(run: RunningProgram) -> None:
    write(run, DIALOGUE, "[9 May 2023]\nAnna: The boat sank.")
    lines = read(run, "plum tree").splitlines()
    assert lines[0] == "[8 May 2023] Anna: I planted a plum tree."
    assert "[9 May 2023] Anna: The boat sank." in lines


@running("hybrid")
def test_the_hybrid_fits_a_read_by_whole_lines(run: RunningProgram) -> None:
    lines = [f"Anna: plum {number} " + "tree " * 20 for number in range(60)]
    write(run, "\n".join(lines))
    text = read(run, "plum tree")
    assert 2800 < len(text) <= 3000
    assert set(text.splitlines()) <= {line.strip() for line in lines}


@running("bank")
def test_the_bank_finds_what_was_said(run: RunningProgram) -> None:
    assert read(run, "plum tree") == NOTHING
    write(run, DIALOGUE)
    assert "I planted a plum tree." in read(run, "Who planted a plum tree?")


@pytest.mark.parametrize("name", ["hybrid", "bank"])
def test_these_seeds_are_what_their_recipe_composes(name: str) -> None:
    assert seed(name) == compose(SEED_RECIPES[name])
