"""The official LoCoMo answer score (snap-research/locomo, task_eval/evaluation.py)."""

from __future__ import annotations

import re
import string
from collections import Counter

from memgene.tasks.metrics.porter import stem

# The official rule drops 'and' along with the articles.
_DROPPED = re.compile(r"\b(a|an|the|and)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
ABSTENTIONS = ("no information available", "not mentioned")


def official_locomo_f1(
    predicted: str, expected: str, category: str, *, abstained: bool = False
) -> float:
    """F1 on Porter stems, by category.

    multi-hop: gold and answer are cut at commas; mean over gold parts of the best F1.
    open-domain: gold counts up to the first ';'. adversarial: 1 for an abstention (either of
    the official phrases, or the agent's own statement), else 0. All others: plain F1.
    """
    if category == "adversarial":
        said = predicted.lower()
        return float(abstained or any(phrase in said for phrase in ABSTENTIONS))
    if category == "multi-hop":
        parts = [part.strip() for part in predicted.split(",")]
        wanted = [part.strip() for part in expected.split(",")]
        return sum(max(stem_f1(p, w) for p in parts) for w in wanted) / len(wanted)
    if category == "open-domain":
        expected = expected.split(";")[0].strip()
    return stem_f1(predicted, expected)


def stem_f1(predicted: str, expected: str) -> float:
    """Multiset F1 of stems; nothing shared, also two empty texts, is 0."""
    ours, gold = stems(predicted), stems(expected)
    shared = sum((Counter(ours) & Counter(gold)).values())
    return 2 * shared / (len(ours) + len(gold)) if shared else 0.0


def stems(text: str) -> list[str]:
    """Porter stems of the words, normalised as the official script does."""
    plain = text.lower().translate(_PUNCTUATION)
    return [stem(word) for word in _DROPPED.sub(" ", plain).split()]
