"""No prompt, and nothing else in the package, holds a benchmark's question.

Beside this file lie hashes of every question of the benchmarks (no text), so that the search also
works where their data is not: every run of words in the package that is as long as some question
is hashed and looked up.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from memgene.tasks.registry import benchmarks, load_task

ROOT = Path(__file__).parents[3]
HASHES = Path(__file__).with_name("benchmark_questions.txt")
DEMO = ROOT / "src/memgene/tasks/demo/data"  # BFCL's own questions, under its licence
SHORTEST = 5  # shorter runs of words are anybody's


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def digest(run: Iterable[str]) -> str:
    return hashlib.sha256(" ".join(run).encode()).hexdigest()[:12]


def known() -> dict[int, set[str]]:
    """Hashes by number of words."""
    found: dict[int, set[str]] = {}
    for line in HASHES.read_text().splitlines():
        length, name = line.split()
        found.setdefault(int(length), set()).add(name)
    return found


def questions_in(text: str, hashes: dict[int, set[str]]) -> list[str]:
    run = words(text)
    return [
        " ".join(run[at : at + length])
        for length, names in hashes.items()
        for at in range(len(run) - length + 1)
        if digest(run[at : at + length]) in names
    ]


def test_the_search_finds_a_question_inside_other_words() -> None:
    hashes = {6: {digest(words("Where did the old boat go?"))}}
    assert questions_in('Say "Where did the OLD boat go?" now', hashes) == [
        "where did the old boat go"
    ]
    assert questions_in("Where did the new boat go?", hashes) == []


@pytest.mark.parametrize(
    "folder",
    ["llm/prompts", "agents", "evolution", "tasks/judges", "engine", "programs", "testing"],
)
def test_no_words_for_models_hold_a_benchmark_question(folder: str) -> None:
    hashes = known()
    assert sum(map(len, hashes.values())) > 1500
    found = {
        path.name: leaked
        for path in sorted((ROOT / "src/memgene" / folder).rglob("*.py"))
        if (leaked := questions_in(path.read_text(), hashes))
    }
    assert found == {}


def test_the_hashes_are_those_of_the_benchmarks() -> None:
    data = os.environ.get("MEMGENE_DATA")
    if not data:
        pytest.skip("MEMGENE_DATA names no benchmark data")
    made = set()
    for info in benchmarks():
        if info.available(Path(data)):
            for question in load_task(info.name, Path(data)).questions:
                run = words(question.question.text)
                if len(run) >= SHORTEST:
                    made.add(f"{len(run)} {digest(run)}")
    assert made == set(HASHES.read_text().splitlines())
