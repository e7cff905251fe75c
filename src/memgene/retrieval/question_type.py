"""Predicted question types: syntax of the question alone, never the gold category."""

from __future__ import annotations

import re

QUESTION_TYPES = (
    "when",
    "how_long",
    "how_many",
    "who",
    "where",
    "yes_no",
    "why",
    "inference",
    "list",
    "single",
)

_RULES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (
            "when",
            r"^\W*(?:(?:in|on|since|until|by) )?"
            r"(?:when|(?:what|which) (?:date|day|month|year|time))\b",
        ),
        ("how_long", r"\bhow (?:long|old)\b"),
        ("how_many", r"\bhow (?:many|much|often|far|big|large|tall)\b"),
        ("inference", r"\b(?:would|might|could|likely|probably|considered|infer)\b"),
        ("why", r"^\W*(?:why|what (?:is|was|were) the reasons?|how come)\b"),
        ("yes_no", r"^\W*(?:is|are|was|were|am|do|does|did|has|have|had|can|will|should)\b"),
        ("who", r"^\W*(?:(?:with|to|from|by|for) )?(?:who|whom|whose)\b"),
        (
            "where",
            r"^\W*(?:(?:from|to|in) )?(?:where|(?:what|which) (?:place|city|country|town|state))\b",
        ),
        (
            "list",
            r"^\W*(?:what|which)(?: (?:are|were|all))?(?: \w+){0,2}? "
            r"(?:kinds|types|activities|places|things|items|books|events|hobbies|\w{3,}[^siu'\W]s)\b",
        ),
    )
)


def predict_type(question: str) -> str:
    """The type of a question by its English syntax; `single` when no rule speaks."""
    for kind, pattern in _RULES:
        if pattern.search(question):
            return kind
    return "single"
