"""A program whose context is made of its bank's lines yields hits, with the messages they stand
for; any other one yields text alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memgene.core import Episode, Filled, Hit, Message
from memgene.embed.hashing import HashingEmbedder
from memgene.harness.bank import BankHarnessFactory
from memgene.harness.episode_lines import EpisodeLines
from memgene.harness.program import ProgramHarness, ProgramHarnessFactory
from memgene.programs.modules import Recipe, compose
from memgene.programs.program import Program
from memgene.programs.runtime import ProgramRuntime
from memgene.programs.seeds import seed
from memgene.retrieval.config import RetrievalConfig
from memgene.testing import tiny_task

EPISODES = [e for e in tiny_task().episodes if e.group == "bakery"]
QUERY = Filled(
    {"query_text": "what to look for"}, {"query_text": "Which tools does the bakery have?"}
)
ITEM = Filled({"summary": "in short"}, {"summary": "a bakery"})


@pytest.fixture(scope="module")
def runtime() -> Iterator[ProgramRuntime]:
    with ProgramRuntime(embedder=HashingEmbedder(64), seed=0) as made:
        yield made


def written(program: Program, runtime: ProgramRuntime) -> ProgramHarness:
    harness = ProgramHarnessFactory(program, runtime)()
    for episode in EPISODES:
        harness.write(ITEM, episode)
    return harness


def test_the_bank_inside_a_program_yields_what_the_bank_outside_does(
    runtime: ProgramRuntime,
) -> None:
    bank = BankHarnessFactory(RetrievalConfig(), HashingEmbedder(64))()
    for episode in EPISODES:
        bank.write(Filled({}, {}), episode)
    mine, theirs = written(seed("bank"), runtime).read(QUERY), bank.read(QUERY)
    assert mine.hits is not None
    assert theirs.hits is not None
    assert mine.text == theirs.text
    assert mine.shown == theirs.shown
    told = [(h.rendered, h.refs, h.source, h.score) for h in mine.hits]
    assert told == [(h.rendered, h.refs, h.source, h.score) for h in theirs.hits[: len(told)]]


def test_lines_of_ones_own_in_the_banks_order_are_hits_too(runtime: ProgramRuntime) -> None:
    found = written(compose(Recipe(signals="bank", limit=5)), runtime).read(QUERY)
    assert found.hits is not None
    assert 0 < found.shown <= 5
    assert all(hit.refs for hit in found.hits[: found.shown])


def test_a_text_of_ones_own_is_no_ranking(runtime: ProgramRuntime) -> None:
    assert written(seed("vector-search"), runtime).read(QUERY).hits is None
    headed = seed("bank").source.replace("return text", 'return "From memory:\\n" + text')
    assert written(Program(headed), runtime).read(QUERY).hits is None


def test_a_line_that_two_messages_have_stands_for_both() -> None:
    lines = EpisodeLines()
    same = [Message("Hello", speaker="Ann", id=name) for name in ("m1", "m2")]
    lines.add(Episode("e1", tuple(same), "g"))
    known = lines.referred(Hit("u", "Hello", 0.5, rendered="Ann: Hello"))
    assert (known.source, known.refs) == ("e1", ("m1", "m2"))
    other = Hit("v", "Bye", 0.5, rendered="Ann: Bye", source="s")
    assert lines.referred(other) == other
