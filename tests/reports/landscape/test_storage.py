"""How a program stores what it knows, told from its code."""

from __future__ import annotations

import pytest

from memgene.programs.examples import example
from memgene.programs.seeds import seed
from memgene.programs.syntax import UnparsableError
from memgene.reports.landscape_storage import Resource, Storage, resources_of, storage_of


@pytest.mark.parametrize(
    ("name", "storage"),
    [
        ("bank", Storage.BANK),
        ("empty", Storage.PLAIN),
        ("experience-learner", Storage.PLAIN),
        ("hybrid", Storage.SQL_VECTOR),
        ("llm-summarizer", Storage.LLM),
        ("vector-search", Storage.VECTOR),
        ("vector-search-published", Storage.VECTOR),
    ],
)
def test_every_seed(name: str, storage: Storage) -> None:
    assert storage_of(seed(name).source) is storage


def test_the_published_shapes() -> None:
    assert storage_of(example("action-cache").source) is Storage.SQL_LLM
    assert storage_of(example("multi-signal").source) is Storage.SQL_VECTOR


def program(*lines: str, argument: str = "toolkit") -> str:
    """A program whose constructor has these lines."""
    body = "\n        ".join(lines or ("pass",))
    return f"class KnowledgeBase:\n    def __init__(self, {argument}):\n        {body}\n"


USED = {
    Resource.BANK: "toolkit.bank.add(text)",
    Resource.VECTORS: "toolkit.chroma.get_or_create_collection('c')",
    Resource.SQL: "toolkit.db.execute('CREATE TABLE t (x)')",
    Resource.LLM: "toolkit.llm_completion('hello')",
}


@pytest.mark.parametrize(
    ("used", "storage"),
    [
        ({Resource.VECTORS, Resource.LLM}, Storage.VECTOR_LLM),
        ({Resource.VECTORS}, Storage.VECTOR),
        ({Resource.SQL, Resource.VECTORS}, Storage.SQL_VECTOR),
        ({Resource.SQL, Resource.VECTORS, Resource.LLM}, Storage.SQL_VECTOR),
        ({Resource.SQL}, Storage.SQL),
        ({Resource.SQL, Resource.LLM}, Storage.SQL_LLM),
        ({Resource.LLM}, Storage.LLM),
        ({Resource.BANK}, Storage.BANK),
        ({Resource.BANK, Resource.SQL, Resource.VECTORS, Resource.LLM}, Storage.BANK),
        (set(), Storage.PLAIN),
    ],
)
def test_every_combination_has_one_name(used: set[Resource], storage: Storage) -> None:
    source = program(*(USED[kind] for kind in Resource if kind in used))
    assert resources_of(source) == used
    assert storage_of(source) is storage


@pytest.mark.parametrize(
    "lines",
    [
        ("self.toolkit = toolkit", "self.toolkit.db.execute('x')"),
        ("self.kit = toolkit", "database = self.kit.db", "rows = database", "rows.execute('x')"),
        ("self.db: object = toolkit.db", "self.db.execute('x')"),
        ("fill(toolkit.db)",),
        ("import sqlite3", "self.rows = sqlite3.connect(':memory:')"),
    ],
)
def test_a_resource_is_known_under_every_name(lines: tuple[str, ...]) -> None:
    assert resources_of(program(*lines)) == {Resource.SQL}


def test_the_toolkit_may_be_called_otherwise() -> None:
    assert resources_of(program("kit.embed(['a'])", argument="kit")) == {Resource.VECTORS}


@pytest.mark.parametrize(
    "lines",
    [
        ("self.db = toolkit.db",),  # kept, never asked
        ("self.rows = {}", "self.rows.db = 1", "other.db.execute('x')"),
        ("import sqlite3", "self.error = sqlite3.OperationalError"),
        ("toolkit.logger.debug('toolkit.db.execute')",),
    ],
)
def test_what_is_not_worked_with_does_not_count(lines: tuple[str, ...]) -> None:
    assert resources_of(program(*lines)) == frozenset()


def test_what_is_no_python_is_told() -> None:
    with pytest.raises(UnparsableError):
        storage_of("class")
