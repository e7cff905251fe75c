"""A program's bank runs the stages of its configuration in the program's own worker."""

from __future__ import annotations

import pytest

from memgene.embed.hashing import HashingEmbedder
from memgene.programs.program import Program
from memgene.programs.runtime import ProgramRuntime
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.stages.stage import Stage
from memgene.sandbox import FailureKind, GuestError
from memgene.testing.programs import program_text

PROGRAM = Program(
    program_text(
        init="self.bank = toolkit.bank",
        write="self.bank.add(raw_text)",
        read='return " | ".join(hit.text for hit in self.bank.search(query.query_text))',
    )
)
TEXTS = ("a red boat", "a boat", "a boat on the lake")


def config(body: str) -> RetrievalConfig:
    source = f'KIND = "filter"\nABOUT = "a test"\ndef keep(query, hits):\n    {body}\n'
    return RetrievalConfig.minimal().with_stage(Stage("mine", source), 1)


def read_with(body: str) -> str:
    with ProgramRuntime(embedder=HashingEmbedder(), config=config(body)) as runtime:
        running = runtime.start(PROGRAM)
        try:
            for text in TEXTS:
                running.write({"summary": ""}, text)
            return running.read({"query_text": "boat"}).text
        finally:
            running.close()


def test_a_stage_chooses_what_the_program_finds() -> None:
    shortest = "return [min(range(len(hits)), key=lambda at: len(hits[at]['text']))]"
    assert read_with(shortest) == "a boat"


def test_a_stage_that_raises_is_left_out() -> None:
    assert sorted(read_with("raise ValueError('no')").split(" | ")) == sorted(TEXTS)


def test_a_stage_that_ends_the_process_ends_the_program() -> None:
    with pytest.raises(GuestError) as failed:
        read_with("raise SystemExit")
    assert failed.value.kind is FailureKind.ENDED
