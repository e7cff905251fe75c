"""Judges: language models that score answers. They see gold and category, as every scorer does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from memgene.llm.prompts.judges import RUBRIC_CRITERION
from memgene.llm.prompts.prompt import Prompt
from memgene.llm.protocol import LLM
from memgene.tasks.judges.correctness import LENIENT, STRICT, judge_correctness
from memgene.tasks.judges.judgement import Judgement
from memgene.tasks.judges.kinds import Kind, kind_of
from memgene.tasks.judges.rubric import judge_rubric
from memgene.tasks.metrics import Scored

Judge = Callable[[LLM, Scored], Judgement]

JUDGES: Mapping[str, Judge] = MappingProxyType(
    {
        "judge_strict": partial(judge_correctness, prompts=STRICT),
        "judge_lenient": partial(judge_correctness, prompts=LENIENT),
        "rubric": judge_rubric,
    }
)
"""What computes each metric of `metrics.JUDGED`."""

PROMPTS: Mapping[str, Prompt] = MappingProxyType(
    {p.digest: p for p in (*STRICT.values(), *LENIENT.values(), RUBRIC_CRITERION)}
)
"""Every judge's prompt by its digest."""

__all__ = [
    "JUDGES",
    "LENIENT",
    "PROMPTS",
    "STRICT",
    "Judge",
    "Judgement",
    "Kind",
    "judge_correctness",
    "judge_rubric",
    "kind_of",
]
