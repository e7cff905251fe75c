"""A genome's id: the same for ever for what it names, another for anything that behaves otherwise
(docs/decisions/012)."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from memgene.genome import GenomeBundle
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.stages.stage import Stage

KNOWN = {
    "format-1-config": "2fa486b8d48e",
    "format-1-program": "93722f2ce7de",
    "format-1-memory": "3916f3e3d75a",
}
"""Ids of stored genomes, as the versions that stored them gave them."""


@pytest.mark.parametrize("name", KNOWN)
def test_ids_of_genomes_of_earlier_versions_stand(fixtures: Path, name: str) -> None:
    assert GenomeBundle.load(fixtures / name).id == KNOWN[name]


def hashed(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:12]


def id_of(**changes: object) -> str:
    return GenomeBundle(RetrievalConfig(**changes), "static", "config").id  # type: ignore[arg-type]


def test_levers_at_their_defaults_are_no_part_of_the_id() -> None:
    assert id_of() == hashed("{}", "static")
    assert id_of(window=2) == hashed('{"window": 2}', "static")
    assert id_of(window=2, decomposition=False, rerank="off") == id_of(window=2)
    assert id_of(per_type={"when": {"window": 2}}) == hashed(
        '{"per_type.when.window": 2}', "static"
    )
    assert len({id_of(), id_of(window=2), id_of(decomposition=True), id_of(rerank="llm")}) == 4


def test_a_stage_counts_by_its_code_and_strength(full: GenomeBundle) -> None:
    def with_longer(source: str, strength: float) -> str:
        config = full.config.with_stage(Stage("longer", source), strength)
        return replace(full, config=config).id

    source = next(p for p in full.config.stages if p.name == "longer").stage.source
    assert with_longer(source, 0.5) == full.id
    assert len({full.id, with_longer(source, 0.6), with_longer(source + "\n", 0.5)}) == 3


def test_what_a_genome_scored_and_where_it_came_from_is_no_part_of_the_id(
    full: GenomeBundle,
) -> None:
    bare = replace(full, scores={}, parents=(), provenance={}, fingerprints={}, strategy="config")
    assert bare.id == full.id
    assert bare.content != full.content
