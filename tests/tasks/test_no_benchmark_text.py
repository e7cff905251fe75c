"""No benchmark text in the package, its documentation or its demo data, BFCL's in the demo apart.

LoCoMo's licence forbids it, and a memory that has seen the questions proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from memgene.tasks.registry import benchmarks, load_task
from memgene.tasks.task import Task

ROOT = Path(__file__).parents[2]
DEMO = Path("src/memgene/tasks/demo/data")
LONG = 25


def plain(text: str) -> str:
    return " ".join(text.casefold().split())


def texts() -> dict[Path, str]:
    """Every text file that is shipped or read by people, by its path in the project."""
    found = {}
    places = [ROOT / "README.md", *(ROOT / "src").rglob("*"), *(ROOT / "docs").rglob("*")]
    for path in sorted(places):
        inside = path.relative_to(ROOT)
        hidden = any(part.startswith((".", "__pycache__")) for part in inside.parts)
        if path.is_file() and not hidden:
            found[inside] = plain(path.read_bytes().decode("utf-8", errors="replace"))
    return found


def told(task: Task) -> list[str]:
    """Question texts, and answers that are too long to be there by chance."""
    answers = (a for q in task.questions for a in q.gold.answers)
    return [*(q.question.text for q in task.questions), *(a for a in answers if len(a) > LONG)]


def leaks(needles: Iterable[str], haystack: Mapping[Path, str]) -> list[tuple[str, str]]:
    """Where which of the texts stands."""
    whole = "\n".join(haystack.values())
    there = [needle for needle in needles if plain(needle) in whole]
    return [(n, str(p)) for n in there for p, text in haystack.items() if plain(n) in text]


@pytest.fixture
def official(real_data):
    def load(name):
        info = next(info for info in benchmarks() if info.name == name)
        if not info.available(real_data):
            pytest.skip(f"MEMGENE_DATA has no {info.filename}")
        return load_task(name, real_data)

    return load


def test_the_search_finds_what_is_there():
    found = texts()
    assert DEMO / "questions.jsonl" in found
    assert Path("docs/index.md") in found
    here = Path("src/memgene/tasks/demo/task.py")
    words = "Thirteen groups:  eight dated\nconversations of two people"
    assert leaks([words, "words that stand nowhere"], found) == [(words, str(here))]


def test_locomo_stands_nowhere(official):
    assert leaks(told(official("locomo")), texts()) == []


def test_bfcl_stands_in_the_demo_data_only(official):
    needles = told(official("bfcl-memory"))
    found = texts()
    demo = {path: text for path, text in found.items() if DEMO in path.parents}
    assert leaks(needles, {path: found[path] for path in found.keys() - demo.keys()}) == []
    assert leaks(needles, demo)
