"""Metrics on the words of an answer."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
_BFCL_PUNCTUATION = re.compile(r"[,./\-_*^()]")


def tokens(text: str) -> list[str]:
    """Lower-case words without articles and punctuation (every script's), as M* §8 counts them."""
    kept = "".join(c for c in text.lower() if c not in string.punctuation and not _is_mark(c))
    return _ARTICLES.sub(" ", kept).split()


def token_f1(predicted: str, expected: str) -> float:
    """M* §8: `2|out ∩ exp| / (|out| + |exp|)` on token multisets; both empty 1, one empty 0."""
    return multiset_f1(tokens(predicted), tokens(expected))


def squad_f1(predicted: str, expected: str) -> float:
    """SQuAD 2.0 evaluation script (Rajpurkar et al. 2018): ASCII punctuation only is dropped."""
    return multiset_f1(_squad_tokens(predicted), _squad_tokens(expected))


def multiset_f1(predicted: Sequence[str], expected: Sequence[str]) -> float:
    """Harmonic mean of multiset precision and recall; both empty 1, one empty 0."""
    if not predicted and not expected:
        return 1.0
    shared = sum((Counter(predicted) & Counter(expected)).values())
    return 2 * shared / (len(predicted) + len(expected))


def exact_match(predicted: str, expected: str) -> float:
    """1 when both have the same words in the same order, after the normalisation of `tokens`."""
    return float(tokens(predicted) == tokens(expected))


def contains_match(predicted: str, expected: str) -> float:
    """1 when the expected words stand in the answer at word boundaries.

    BFCL v4's rule for agentic categories (`agentic_checker`): case and `,./-_*^()` are ignored,
    single and double quotes are one.
    """
    wanted = _bfcl_standard(expected)
    pattern = rf"\b{re.escape(wanted)}\b"
    return float(bool(wanted) and re.search(pattern, _bfcl_standard(predicted)) is not None)


def mcq_accuracy(predicted: str, choices: Sequence[str], expected: str) -> float:
    """1 when the answer names the expected choice, by its letter or by its text.

    The letter may stand alone or in `B.`, `(B)`, `answer is B`, `{"answer": "B"}`; it counts as
    named when no other letter is. `expected` is a choice's text or letter.
    """
    named = _named_choice(predicted, choices)
    return float(named is not None and named == _named_choice(expected, choices))


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("P")


def _squad_tokens(text: str) -> list[str]:
    return _ARTICLES.sub(" ", text.lower().translate(_ASCII_PUNCTUATION)).split()


def _bfcl_standard(text: str) -> str:
    return _BFCL_PUNCTUATION.sub("", text).lower().replace("'", '"')


def _named_choice(text: str, choices: Sequence[str]) -> int | None:
    words = tokens(text)
    by_text = [i for i, choice in enumerate(choices) if tokens(choice) == words]
    if by_text:
        return by_text[0]
    letters = string.ascii_uppercase[: len(choices)]
    stripped = text.strip().strip("().:[]\"'` ").upper()
    if len(stripped) == 1 and stripped in letters:
        return letters.index(stripped)
    # A bare capital A may be an article, so letters inside a sentence need a sign beside them.
    signs = rf"\(([{letters}])\)|\b([{letters}])[.):\"']|(?::|answer is)\s*\"?([{letters}])\b"
    marked = re.findall(signs, text)
    found = {letters.index(letter) for group in marked for letter in group if letter}
    return found.pop() if len(found) == 1 else None
