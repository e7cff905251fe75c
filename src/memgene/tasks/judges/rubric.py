"""Rubrics: a model says of each criterion whether an answer meets it (M* §8)."""

from __future__ import annotations

from pydantic import BaseModel, Field

from memgene.llm.prompts.judges import RUBRIC_CRITERION
from memgene.llm.protocol import LLM
from memgene.llm.structured import ask
from memgene.tasks.judges.correctness import EXPLANATION, MAX_TOKENS
from memgene.tasks.judges.judgement import Judgement
from memgene.tasks.metrics.rubric import Criterion, criteria_of, rubric_score
from memgene.tasks.metrics.scored import Scored


class CriterionReply(BaseModel):
    """What the judge writes about one criterion."""

    explanation: str = Field(
        description="one short sentence", json_schema_extra={"maxLength": EXPLANATION}
    )
    criteria_met: bool = Field(description="the criterion is met")


def judge_rubric(llm: LLM, scored: Scored) -> Judgement:
    """One call per criterion, in order; the score is cut to [0, 1], `unclipped` is not.

    Raises ModelError or ReplyError when the verdict on any criterion is missing: it is not
    counted as "not met".
    """
    criteria = criteria_of(scored.gold, scored.question.id)
    conversation = f"user: {scored.question.text}\n\nassistant: {scored.answer}"
    replies = [_judged(llm, conversation, criterion) for criterion in criteria]
    unclipped = rubric_score([c.points for c in criteria], [r.criteria_met for r in replies])
    return Judgement(
        min(1.0, max(0.0, unclipped)),
        {
            "unclipped": unclipped,
            "criteria": [
                {
                    "criterion": criterion.text,
                    "points": criterion.points,
                    "met": reply.criteria_met,
                    "explanation": reply.explanation,
                }
                for criterion, reply in zip(criteria, replies, strict=True)
            ],
            "model": llm.name,
            "prompt": RUBRIC_CRITERION.digest,
        },
    )


def _judged(llm: LLM, conversation: str, criterion: Criterion) -> CriterionReply:
    messages = RUBRIC_CRITERION.render(conversation=conversation, criterion=criterion.text)
    return ask(llm, messages, CriterionReply, max_tokens=MAX_TOKENS).value
