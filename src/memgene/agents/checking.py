"""The memory's own check of a draft."""

from __future__ import annotations

from memgene.core import Answer, Context


def stands(context: Context, draft: Answer) -> bool:
    """Whether a draft may stand: it does where the memory has no check, or the draft abstains."""
    accepts = None if context.plan is None else context.plan.accepts
    return accepts is None or draft.abstained or accepts(context.text, draft.text)
