"""Composed programs at work in the sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest

from memgene.embed.hashing import HashingEmbedder
from memgene.programs.modules import CHOICES, Recipe, compose, random_recipe
from memgene.programs.runtime import ProgramRuntime, RunningProgram

FIRST = "[8 May 2023, 1:56 pm]\nAnna: I planted a plum tree.\nBob: Where did you get it?"
SECOND = "[2 June 2024]\nAnna: The plum tree bears fruit.\nBob: I sail to Malta in June."
Open = Callable[..., RunningProgram]


@pytest.fixture(scope="module")
def runtime() -> Iterator[ProgramRuntime]:
    with ProgramRuntime(embedder=HashingEmbedder()) as made:
        yield made


@pytest.fixture
def open_program(runtime: ProgramRuntime) -> Iterator[Open]:
    """Starts a program from levers, with texts written to it."""
    started: list[RunningProgram] = []

    def start(recipe: Recipe, *texts: str) -> RunningProgram:
        running = runtime.start(compose(recipe))
        started.append(running)
        for text in texts:
            write(running, text)
        return running

    yield start
    for running in started:
        running.close()


def write(running: RunningProgram, text: str, facts: tuple[str, ...] = ()) -> None:
    fields = {f.name for f in running.contract.item_schema.fields}
    values = {"summary": "s", "key_facts": list(facts)}
    running.write({name: values[name] for name in fields}, text)


def read(running: RunningProgram, query: str) -> str:
    return running.read({"query_text": query}).text


@pytest.mark.parametrize("seed", range(40))
def test_what_was_written_is_found_within_the_limit(seed: int, open_program: Open) -> None:
    running = open_program(random_recipe(Random(seed)))
    if running.contract.instructions.query:
        assert read(running, "plum tree") == "Nothing is stored yet."
    for text in (FIRST, SECOND, "x" * 8000, "", "\n\n"):
        write(running, text)
    assert "plum tree" in read(running, "Who planted a plum tree?")
    for query in ("", "'\"(*)", "Malta " * 400):
        assert len(read(running, query)) <= 3000


@pytest.mark.parametrize("storage", [s for s in CHOICES["storage"] if s != "bank"])
@pytest.mark.parametrize("order", CHOICES["order"])
def test_a_text_longer_than_a_read_is_shown_in_part(
    storage: str, order: str, open_program: Open
) -> None:
    recipe = Recipe(storage=storage, order=order)
    running = open_program(recipe, "[8 May 2023]\n" + "plum tree " * 900)
    assert 400 < len(read(running, "plum tree")) <= 3000


def test_lines_carry_the_date_of_their_text(open_program: Open) -> None:
    running = open_program(Recipe(signals="words"), FIRST, SECOND)
    assert read(running, "Malta") == "[2 June 2024] Bob: I sail to Malta in June."


def test_pieces_of_several_lines_stand_under_their_date(open_program: Open) -> None:
    running = open_program(Recipe(storage="pairs", signals="words"), SECOND)
    assert read(running, "Malta") == SECOND


def test_sentences_keep_their_speaker(open_program: Open) -> None:
    running = open_program(Recipe(storage="sentences", signals="words"), "Anna: I rest. I sail.")
    assert read(running, "sail") == "Anna: I sail."


def test_facts_are_stored_in_place_of_lines_or_beside_them(open_program: Open) -> None:
    for storage, expected in (
        ("facts", "Anna owns a plum tree."),
        ("lines+facts", "Anna: I planted a plum tree.\nAnna owns a plum tree."),
    ):
        running = open_program(Recipe(storage=storage, signals="words", order="time"))
        write(running, "Anna: I planted a plum tree.", ("Anna owns a plum tree.",))
        assert read(running, "plum") == expected


def test_a_text_without_facts_is_kept_as_its_lines(open_program: Open) -> None:
    running = open_program(Recipe(storage="facts", signals="words"), "Anna: I sail.\nBob: Why?")
    assert read(running, "sail") == "Anna: I sail."


@pytest.mark.parametrize("signal", ["words", "overlap"])
def test_with_reach_a_line_is_found_by_the_one_before(signal: str, open_program: Open) -> None:
    text = "Bob: Which boat do you like?\nAnna: The red one."
    near = open_program(Recipe(signals=signal), text)
    wide = open_program(Recipe(signals=signal, words_reach="before"), text)
    assert read(near, "boat") == "Bob: Which boat do you like?"
    assert read(wide, "boat") == text


def test_ranks_or_scores_are_fused(open_program: Open) -> None:
    texts = [FIRST, SECOND]
    for fusion in ("rrf", "sum"):
        running = open_program(Recipe(fusion=fusion), *texts)
        first = read(running, "Malta in June").splitlines()[0]
        assert first == "[2 June 2024] Bob: I sail to Malta in June."


def test_a_named_speaker_comes_first(open_program: Open) -> None:
    text = "Anna: sea sea sea\nBob: sea"
    plain = open_program(Recipe(signals="words"), text)
    person = open_program(Recipe(signals="words", person=0.4), text + "\nEve: sea and sand and sun")
    assert read(plain, "What of the sea?").startswith("Anna")
    assert read(person, "What does Eve say of the sea?").startswith("Eve")


def test_a_named_date_comes_first(open_program: Open) -> None:
    early, late = "[8 May 2023]\nAnna: sea", "[2 June 2024]\nAnna: sea"
    running = open_program(Recipe(signals="words", date=0.4), early, late)
    assert read(running, "sea in 2023").startswith("[8 May 2023]")
    assert read(running, "sea in June 2024").startswith("[2 June 2024]")


def test_of_equal_pieces_the_later_comes_first(open_program: Open) -> None:
    texts = ("Anna: sea", "Anna: sea")
    running = open_program(
        Recipe(signals="words", recent=0.2),
        *(f"[{n} May 2023]\n{t}" for n, t in enumerate(texts, 1)),
    )
    assert read(running, "sea").startswith("[2 May 2023]")


def test_pieces_beside_good_ones_gain(open_program: Open) -> None:
    texts = ("Anna: boat", "Bob: boat\nAnna: boat boat\nBob: boat")
    plain = open_program(Recipe(signals="overlap"), *texts)
    beside = open_program(Recipe(signals="overlap", beside=0.5), *texts, "Eve: cat dog")
    assert read(plain, "boat").splitlines()[0] == "Anna: boat"
    assert read(beside, "boat").splitlines()[0] == "Anna: boat boat"


def test_the_text_of_the_best_piece_gains(open_program: Open) -> None:
    texts = ("Anna: boat", "Bob: boat\nBob: red boat", "Eve: a dog")
    plain = open_program(Recipe(signals="overlap"), *texts)
    same = open_program(Recipe(signals="overlap", same_text=0.4), *texts)
    assert read(plain, "red boat").splitlines() == ["Bob: red boat", "Anna: boat", "Bob: boat"]
    assert read(same, "red boat").splitlines() == ["Bob: red boat", "Bob: boat", "Anna: boat"]


def test_neighbours_are_shown_and_stay_inside_their_text(open_program: Open) -> None:
    texts = ("Anna: one\nBob: two\nAnna: three", "Anna: four")
    for neighbours, expected in (
        ("none", "Anna: three"),
        ("after", "Anna: three"),
        ("around", "Anna: three\nBob: two"),
    ):
        running = open_program(Recipe(signals="words", neighbours=neighbours), *texts)
        assert read(running, "three") == expected


def test_so_many_pieces_are_ranked_and_so_many_of_each_text(open_program: Open) -> None:
    text = "\n".join(f"Anna: boat {number}" for number in range(30))
    for levers, expected in (({"limit": 5}, 5), ({"limit": 10}, 10), ({"per_source": 2}, 3)):
        running = open_program(Recipe(signals="words", **levers), text, "Bob: boat")  # type: ignore[arg-type]
        assert len(read(running, "boat").splitlines()) == expected


def test_shown_by_rank_by_time_or_by_text(open_program: Open) -> None:
    texts = ("[1 May 2023]\nAnna: boat\nBob: cat", "[2 May 2023]\nEve: red boat\nEve: boat trip")
    shown = {
        "rank": [
            "[2 May 2023] Eve: red boat",
            "[1 May 2023] Anna: boat",
            "[2 May 2023] Eve: boat trip",
        ],
        "time": [
            "[1 May 2023] Anna: boat",
            "[2 May 2023] Eve: red boat",
            "[2 May 2023] Eve: boat trip",
        ],
        "grouped": [
            "[2 May 2023]",
            "Eve: red boat",
            "Eve: boat trip",
            "[1 May 2023]",
            "Anna: boat",
        ],
    }
    for order, expected in shown.items():
        running = open_program(Recipe(signals="words", order=order), *texts)
        assert read(running, "red boat").splitlines() == expected


def test_repeated_pieces_are_shown_once(open_program: Open) -> None:
    texts = ("Anna: Boat  trip", "anna: boat trip")
    assert (
        read(open_program(Recipe(signals="words", dedupe=True), *texts), "boat")
        == "Anna: Boat  trip"
    )
    assert len(read(open_program(Recipe(signals="words"), *texts), "boat").splitlines()) == 2


def test_the_same_writes_give_the_same_reads(open_program: Open) -> None:
    recipe = random_recipe(Random(4))
    one, other = (open_program(recipe, FIRST, SECOND) for _ in range(2))
    assert read(one, "plum tree in 2023") == read(other, "plum tree in 2023")
