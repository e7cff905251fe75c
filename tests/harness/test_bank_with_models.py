"""The bank harness and language models: how to answer, what was searched, what was degraded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime

import pytest

from memgene.core import AnswerPlan, ConfigError, Context, Episode, Filled, Message, ModelError
from memgene.embed.hashing import HashingEmbedder
from memgene.engine.models import EngineModels
from memgene.harness.bank import BankHarness, BankHarnessFactory
from memgene.harness.protocol import NO_ITEM, QUERY_TEXT
from memgene.retrieval.config import RetrievalConfig
from memgene.testing import ScriptedLLM

MAY = Episode(
    "may",
    (Message("I bought a boat.", "m1", "Anna"), Message("It sank at the mill.", "m2", "Anna")),
    group="g",
    time=datetime(2024, 5, 8),
)
SPLIT = RetrievalConfig(decomposition=True)


def read(harness: BankHarness, text: str = "Which boat?") -> Context:
    return harness.read(Filled(QUERY_TEXT, {"query_text": text}))


def factory(config: RetrievalConfig, llm: ScriptedLLM | None = None) -> BankHarnessFactory:
    return BankHarnessFactory(config, HashingEmbedder(), models=EngineModels(rewrite=llm))


@pytest.fixture
def plain() -> Iterator[BankHarness]:
    made = factory(RetrievalConfig())()
    made.write(Filled(NO_ITEM), MAY)
    yield made
    made.close()


def read_by(plain: BankHarness, reader: BankHarnessFactory, text: str = "Which boat?") -> Context:
    """Read what was written without a model by another configuration."""
    return read(reader.attach(factory(RetrievalConfig()).memory(plain)), text)


def test_every_read_says_how_to_answer(plain: BankHarness) -> None:
    assert read(plain).plan == AnswerPlan("concise", "off", 0.5)
    checked = RetrievalConfig(answer_style="list", verification="multi", verification_threshold=0.8)
    assert read_by(plain, factory(checked)).plan == AnswerPlan("list", "multi", 0.8)


def test_how_to_answer_follows_the_questions_type(plain: BankHarness) -> None:
    dated = factory(RetrievalConfig(per_type={"when": {"answer_style": "date"}}))
    assert read_by(plain, dated, "When did it sink?").plan == AnswerPlan("date")
    assert read_by(plain, dated, "Who sank it?").plan == AnswerPlan("concise")


def test_a_bank_written_without_a_model_is_read_with_one(plain: BankHarness) -> None:
    llm = ScriptedLLM([json.dumps({"questions": ["Where did it sink?"]})])
    context = read_by(plain, factory(SPLIT, llm))
    assert context.notes == {
        "question_type": "single",
        "queries": ["Which boat?", "Where did it sink?"],
    }
    assert len(llm.requests) == 1


def test_a_failing_model_loses_no_question_and_is_noted(plain: BankHarness) -> None:
    context = read_by(plain, factory(SPLIT, ScriptedLLM([ModelError("timed out")])))
    expected = read(plain)
    assert (context.text, context.hits) == (expected.text, expected.hits)
    assert context.notes["degraded"] == ["decomposition: timed out"]
    assert "degraded" not in expected.notes


def test_a_configuration_without_its_model_is_refused_before_anything_is_written() -> None:
    with pytest.raises(ConfigError, match=r"rerank needs .*\[llm\.rewrite\] or \[llm\.task\]"):
        factory(RetrievalConfig(rerank="llm"))
