"""The genome that a joint evolution changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memgene.core import RunError
from memgene.engine.learned import LearnedMemory
from memgene.evolution.coevolve.steps import Phase
from memgene.evolution.joint.genome import Genome, uses_bank
from memgene.evolution.rundir import RunFolder
from memgene.programs.program import Program
from memgene.programs.seeds import seed
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.observing import features_of
from memgene.retrieval.router.router import Router

VIEWS = ("lexical", "dense")
BARE = Genome(None, RetrievalConfig(), LearnedMemory.empty())
ROUTED = RetrievalConfig(fusion="weighted_sum", router=Router.fresh(VIEWS, features_of(VIEWS)))


def test_only_programs_that_name_the_bank_use_it() -> None:
    assert BARE.uses_bank
    assert uses_bank(seed("bank"))
    assert not uses_bank(seed("vector-search"))
    assert not uses_bank(Program('"""toolkit.bank"""\nNOTE = "toolkit.bank"\n'))


def test_every_part_counts_in_its_digest() -> None:
    found = {
        BARE.digest,
        replace(BARE, program=seed("bank")).digest,
        replace(BARE, config=RetrievalConfig(context_k=3)).digest,
        replace(BARE, config=ROUTED).digest,
    }
    assert len(found) == 4


def test_it_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    genome = Genome(seed("bank"), ROUTED, LearnedMemory.empty(), (Phase.ROUTER,))
    with RunFolder.open(tmp_path / "run", {}, {}) as run:
        part = run.part("passes/01-router")
        part.save_files("001", genome.files())
        assert Genome.load(part, "001", (Phase.ROUTER,)) == genome
        part.save_files("002", BARE.files())
        assert Genome.load(part, "002") == BARE
        with pytest.raises(RunError, match=r"gone, though the journal names it"):
            Genome.load(part, "003")
