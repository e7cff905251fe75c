"""A genome with every part, and what older versions stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memgene.bank.protocol import Value
from memgene.engine.learned import LearnedMemory
from memgene.genome import GenomeBundle, Score
from memgene.programs.seeds import seed
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.observing import features_of
from memgene.retrieval.router.router import Router
from memgene.retrieval.stages.stage import Stage

STAGE = '''"""Prefers long hits."""

KIND = "rescorer"
ABOUT = "long hits first"
TREATS = ["missed"]


def scores(query, hits):
    return [float(len(hit["text"])) for hit in hits]
'''
Trap = Callable[[str], str]


@pytest.fixture
def fixtures() -> Path:
    """Bundles as versions with format 1 wrote them."""
    return Path(__file__).parent / "fixtures"


@pytest.fixture
def full() -> GenomeBundle:
    """A genome with a program, a router, two stages, an answer style and learning."""
    routes = ("dense", "sparse")
    fresh = Router.fresh(routes, features_of(routes))
    router = replace(fresh, arrays={**fresh.arrays, "head_bias": np.array([0.5, -0.5])})
    config = (
        RetrievalConfig(fusion="q_rrf", self_routing="rules", router=router, answer_style="list")
        .with_stage(Stage("longer", STAGE.replace("missed", "ranked_low")), 0.5)
        .with_stage(Stage("echo", STAGE.replace('TREATS = ["missed"]\n', "")), 0.0)
    )
    return GenomeBundle(
        config=config,
        embedder="hashing",
        strategy="joint",
        parents=("0123456789ab",),
        scores={"test/token_f1": Score(0.25, 0.125, 0.375, 40)},
        fingerprints={"demo": "déf"},
        provenance={"seed": 3, "strict": False, "threshold": 0.005},
        program=seed("bank").source,
        memory=LearnedMemory(values=(Value("u1", "", 0.75, 3),)),
    )


@pytest.fixture
def trapped(full: GenomeBundle, tmp_path: Path) -> tuple[GenomeBundle, Path]:
    """A genome whose program and stages leave a mark when they are imported, and that mark."""
    mark = tmp_path / "ran"
    trap = f"\nopen({str(mark)!r}, 'w').close()\n"
    stages = [Stage(placed.name, placed.stage.source + trap) for placed in full.config.stages]
    config = full.config
    for stage in stages:
        config = config.with_stage(stage, 1.0)
    return replace(full, config=config, program=(full.program or "") + trap), mark
