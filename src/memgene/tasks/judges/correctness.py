"""Is an answer right? A model compares it with the gold, strictly or leniently."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pydantic import BaseModel, Field

from memgene.bank.unit import render_date
from memgene.core import Question
from memgene.llm.prompts import judges as wording
from memgene.llm.prompts.prompt import Prompt
from memgene.llm.protocol import LLM
from memgene.llm.structured import ask
from memgene.tasks.judges.judgement import Judgement
from memgene.tasks.judges.kinds import Kind, kind_of
from memgene.tasks.metrics.scored import Scored

MAX_TOKENS = 400
EXPLANATION = 400  # characters; told to models that are held to a schema, so that they end in time

STRICT: Mapping[Kind, Prompt] = MappingProxyType(
    {
        Kind.PLAIN: wording.JUDGE_STRICT,
        Kind.TEMPORAL: wording.JUDGE_STRICT_TEMPORAL,
        Kind.UPDATE: wording.JUDGE_STRICT_UPDATE,
        Kind.PREFERENCE: wording.JUDGE_PREFERENCE,
        Kind.ABSTENTION: wording.JUDGE_ABSTENTION,
    }
)
LENIENT: Mapping[Kind, Prompt] = MappingProxyType(
    {
        Kind.PLAIN: wording.JUDGE_LENIENT,
        Kind.TEMPORAL: wording.JUDGE_LENIENT_TEMPORAL,
        Kind.UPDATE: wording.JUDGE_LENIENT_UPDATE,
        Kind.PREFERENCE: wording.JUDGE_PREFERENCE,
        Kind.ABSTENTION: wording.JUDGE_ABSTENTION,
    }
)


class CorrectnessReply(BaseModel):
    """What the judge writes: the reason first, so that the verdict can follow from it."""

    explanation: str = Field(
        description="one short sentence", json_schema_extra={"maxLength": EXPLANATION}
    )
    correct: bool = Field(description="the given answer is correct")


def judge_correctness(llm: LLM, scored: Scored, prompts: Mapping[Kind, Prompt]) -> Judgement:
    """Score 1 or 0, by the prompt for the question's kind.

    An empty answer and the agent's own abstention are decided without a call: right where the
    question has no answer, wrong where it has one.

    Raises ModelError or ReplyError when the judge gives no usable verdict.
    """
    kind = kind_of(scored)
    if not scored.predicted.strip():
        said = "the agent abstained" if scored.abstained else "the answer is empty"
        return _judgement(kind is Kind.ABSTENTION, {"rule": said})
    prompt = prompts[kind]
    filled = {"question": _asked(scored.question), "answer": scored.predicted}
    if kind is not Kind.ABSTENTION:
        filled["gold"] = _accepted(scored.gold.answers)
    reply = ask(llm, prompt.render(**filled), CorrectnessReply, max_tokens=MAX_TOKENS).value
    return _judgement(
        reply.correct,
        {"explanation": reply.explanation, "model": llm.name, "prompt": prompt.digest},
    )


def _judgement(correct: bool, more: Mapping[str, str]) -> Judgement:
    return Judgement(float(correct), {"correct": correct, **more})


def _asked(question: Question) -> str:
    """The question, with the date it was asked on, which "last week" is counted from."""
    if question.time is None:
        return question.text
    return f"{question.text} (asked on {render_date(question.time)})"


def _accepted(answers: tuple[str, ...]) -> str:
    """The right answer; several are alternatives."""
    return "\nor: ".join(answers)
