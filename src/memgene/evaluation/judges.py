"""Who judged, and what they were told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from memgene.evaluation.case import Case
from memgene.tasks.judges import PROMPTS


@dataclass(frozen=True, slots=True)
class JudgeUsed:
    """A model that judged for a metric with one prompt. A metric has one prompt for each kind of
    question. `prompt` is its whole text; None when another version of memgene worded it."""

    metric: str
    model: str
    prompt_name: str | None
    prompt_digest: str
    prompt: str | None

    def to_json(self) -> dict[str, Any]:
        """An entry of `judges`."""
        return {
            "metric": self.metric,
            "model": self.model,
            "prompt_name": self.prompt_name,
            "prompt_digest": self.prompt_digest,
            "prompt": self.prompt,
        }


def judges_used(cases: Iterable[Case]) -> tuple[JudgeUsed, ...]:
    """Every model and prompt behind the judgements of these cases, by metric, model and prompt."""
    seen = {
        (metric, str(said["model"]), str(said["prompt"]))
        for case in cases
        for metric, said in case.judgements.items()
        if "model" in said
    }
    return tuple(_used(*one) for one in sorted(seen))


def _used(metric: str, model: str, digest: str) -> JudgeUsed:
    prompt = PROMPTS.get(digest)
    if prompt is None:
        return JudgeUsed(metric, model, None, digest, None)
    whole = f"{prompt.system}\n\n{prompt.user}"
    return JudgeUsed(metric, model, prompt.name, digest, whole)
