"""SR-QR without a language model: two searches from one question, and which route to trust.

CoEvo-Mem §3 asks a model; this reads what anybody can see of a question. It pulls to the sparse
route what must be matched to the letter: quoted words, digits, names.
"""

from __future__ import annotations

import re

from memgene.retrieval.router.observation import SelfRouting
from memgene.retrieval.text import STOP_WORDS, words

CONFIDENCE = 0.5
"""ξ of every prior that rules make."""
PULL = 2.0
"""Each kind of exact words multiplies the odds of the sparse route by this."""

_QUOTED = re.compile(
    r"[\"“”„«»‹›]\s*\w[^\"“”„«»‹›]+[\"“”„«»‹›]|[「『《]\s*\w[^「『《」』》]*[」』》]"
    r"|(?<!\w)['‘]\w[^'‘’]+['’](?!\w)"
)
_TOKEN = re.compile(r"[^\W\d_][\w'’]*")
_ENDS = frozenset(".!?…:;\n。！？")
_OPENS = " \t\r\"'“”„«»‹›‘’([{¿¡"
_MARKS = ".,;:!?…。！？、"


def route_by_rules(text: str) -> SelfRouting:
    """The question itself for the dense route, its content words for the sparse one, and a prior.

    The prior starts uniform; each of *quoted words*, *digits* and *names* (words capitalised
    inside a sentence and outside quotes, in a text that also has small ones) doubles the odds of
    the sparse route: 1/2, 1/3, 1/5 or 1/9 for the dense one. Confidence 0.5. Scripts without
    capitals show no names; in German every noun looks like one. Any text is taken; one without
    content words is searched as it stands.
    """
    unquoted = _QUOTED.sub("_", text)
    kinds = (unquoted != text, _has_digit(text), _has_name(unquoted))
    return SelfRouting(
        dense=text,
        sparse=_content(text),
        prior=1 / (1 + PULL ** sum(kinds)),
        confidence=CONFIDENCE,
        by="rules",
    )


def _content(text: str) -> str:
    """The words that carry meaning, as they are written; the text when there are none."""
    kept = (token.strip(_MARKS) for token in text.split() if _carries(token))
    return " ".join(kept) or text


def _carries(token: str) -> bool:
    return any(word not in STOP_WORDS for word in words(token))


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


def _has_name(text: str) -> bool:
    """Whether a capital inside a sentence says something: not where all words begin with one."""
    capitals = small = False
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token[0].islower():
            small = True
        elif token[0].isupper() and _carries(token) and not _opens(text, match.start()):
            capitals = True
    return capitals and small


def _opens(text: str, at: int) -> bool:
    """Whether a sentence begins here, quotes and brackets aside."""
    before = at - 1
    while before >= 0 and text[before] in _OPENS:
        before -= 1
    return before < 0 or text[before] in _ENDS
