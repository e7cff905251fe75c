"""From what a model wrote to an answer: thoughts, labels and quotes off, abstentions told apart."""

from __future__ import annotations

import re

from memgene.core import Answer

_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_LABEL = re.compile(r"^\W{0,3}(?:final |short )?answer\W{0,3}:\s*", re.IGNORECASE)
_QUOTES = {'"': '"', "“": "”", "'": "'", "`": "`", "**": "**"}
_ABSTENTION = re.compile(
    r"^\W*(?:unknown|not (?:mentioned|stated|specified|known|answerable|enough information)"
    r"|no information(?: available)?|(?:the )?(?:retrieved )?memory (?:does not|doesn't) "
    r"(?:say|tell|mention|contain|hold|provide|specify)\b.*"
    r"|i (?:do not|don't) know)\W*$",
    re.IGNORECASE | re.DOTALL,
)


def clean(text: str) -> str:
    """The answer alone: no thoughts, no `Answer:` in front, no quotes around the whole."""
    kept = _THOUGHT.sub("", text).strip()
    kept = _LABEL.sub("", kept).strip()
    for left, right in _QUOTES.items():
        inner = kept[len(left) : -len(right)]
        if len(kept) > len(left) + len(right) and kept.startswith(left) and kept.endswith(right):
            kept = inner.strip() if left not in inner else kept
    return kept


def abstains(text: str) -> bool:
    """Whether the whole reply says that memory does not tell."""
    return not text or _ABSTENTION.match(text) is not None


def answer_of(text: str, confidence: float | None = None, rule: str | None = None) -> Answer:
    """The answer a reply holds."""
    kept = clean(text)
    return Answer(kept, abstained=abstains(kept), rule=rule, confidence=confidence)
