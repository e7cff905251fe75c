"""The vector store and the bank at work in a locked-down worker, where no file can be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest

from memgene.core import Filled
from memgene.embed.hashing import HashingEmbedder
from memgene.embed.protocol import Vectors
from memgene.harness.bank import BankHarnessFactory
from memgene.harness.program import ProgramHarnessFactory
from memgene.harness.protocol import NO_ITEM, QUERY_TEXT
from memgene.programs.program import Program
from memgene.programs.runtime import ProgramRuntime
from memgene.retrieval.config import RetrievalConfig
from memgene.sandbox import Level
from memgene.testing import tiny_task

CONFIG = RetrievalConfig().changed(soft_k=20, context_chars=3000)
FRAME = """
from dataclasses import dataclass

INSTRUCTION_KNOWLEDGE_ITEM = INSTRUCTION_QUERY = INSTRUCTION_RESPONSE = "-"
ALWAYS_ON_KNOWLEDGE = ""

@dataclass
class KnowledgeItem:
    pass

@dataclass
class Query:
    query_text: str
"""
BANK = (
    FRAME
    + """
class KnowledgeBase:
    def __init__(self, toolkit):
        self.bank = toolkit.bank

    def write(self, item, raw_text):
        self.bank.add_episode(raw_text)

    def read(self, query):
        return self.bank.context(query.query_text)
"""
)
CHROMA = (
    FRAME
    + """
import chromadb

class KnowledgeBase:
    def __init__(self, toolkit):
        chroma = toolkit.chroma
        self.lines = chroma.get_or_create_collection("kb", metadata={"hnsw:space": "cosine"})

    def write(self, item, raw_text):
        for line in raw_text.split("\\n"):
            said = line.startswith("user:")
            self.lines.add(
                ids=[str(self.lines.count())], documents=[line], metadatas=[{"said": said}]
            )

    def read(self, query):
        found = self.lines.query(
            query_texts=[query.query_text], n_results=2, where={"said": True}
        )
        try:
            chromadb.Client().get_collection("nothing")
        except chromadb.errors.NotFoundError:
            return "\\n".join(found["documents"][0])
"""
)


class StaticHashing(HashingEmbedder):
    """One that is static, as far as retrieval can tell."""

    def words(self, words: Sequence[str]) -> Vectors:
        return self.embed(words)


@pytest.fixture(scope="module")
def runtime() -> Iterator[ProgramRuntime]:
    embedder = StaticHashing()
    with ProgramRuntime(
        embedder=embedder, words=embedder, config=CONFIG, require=Level.RLIMITS
    ) as made:
        yield made


def test_a_bank_program_reads_what_the_bank_harness_reads(runtime: ProgramRuntime) -> None:
    task = tiny_task()
    embedder = StaticHashing()
    factory = ProgramHarnessFactory(Program(BANK), runtime)
    with (
        closing(BankHarnessFactory(CONFIG, embedder, embedder)()) as bank,
        closing(factory()) as program,
    ):
        for episode in task.episodes:
            bank.write(Filled(NO_ITEM), episode)
            program.write(Filled(program.item_schema), episode)
        for labelled in task.questions:
            query = Filled(QUERY_TEXT, {"query_text": labelled.question.text})
            assert program.read(query).text == bank.read(query).text
    assert factory.log.violations == []


def test_a_chroma_program_finds_its_lines(runtime: ProgramRuntime) -> None:
    factory = ProgramHarnessFactory(Program(CHROMA), runtime)
    with closing(factory()) as program:
        for episode in tiny_task().episodes:
            program.write(Filled(program.item_schema), episode)
        query = Filled(QUERY_TEXT, {"query_text": "user: It has a scarlet door."})
        assert program.read(query).text.split("\n")[0] == "user: It has a scarlet door."
    assert factory.log.violations == []


SORTS = (
    FRAME
    + """
class KnowledgeBase:
    def __init__(self, toolkit):
        self.db = toolkit.db
        self.db.execute("CREATE TABLE lines (body TEXT)")

    def write(self, item, raw_text):
        rows = (("%06d" % (i * 7919 % 20011) * 50,) for i in range(20_000))
        self.db.executemany("INSERT INTO lines VALUES (?)", rows)

    def read(self, query):
        return self.db.execute("SELECT body FROM lines ORDER BY body").fetchone()[0][:6]
"""
)


def test_a_table_larger_than_sqlites_cache_is_sorted(runtime: ProgramRuntime) -> None:
    factory = ProgramHarnessFactory(Program(SORTS), runtime)
    with closing(factory()) as program:
        program.write(Filled(program.item_schema), tiny_task().episodes[0])
        assert program.read(Filled(QUERY_TEXT, {"query_text": ""})).text == "000000"
    assert factory.log.violations == []
