"""Statements that give one subject's attribute its one value, in English, read conservatively.

Only attributes with a single value at a time count (where somebody lives, what something costs,
a named property, a count). What can be true side by side (likes, trips, purchases) never does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memgene.engine.consolidation.values import _NEGATION
from memgene.retrieval.text import words

_NOW = r"(?:now |currently |still )?"
_SINGLE = (
    r"(?:[a-z]+ )?(?:name|number|address|email|age|birthday|job|role|title|position|salary|rent"
    r"|price|budget|password|code|size|weight|height|colou?r|status|deadline|nationality"
    r"|profession|occupation)|favou?rite [a-z ]+?"
)
_FORMS = (
    (
        "{verb}",
        re.compile(
            rf"^(?P<subject>.+?) (?:is |are )?{_NOW}(?P<verb>lives in|living in|works (?:at|for|as)"
            rf"|working (?:at|for|as)|weighs|earns|costs|is married to|is engaged to) "
            rf"(?P<value>.+)$"
        ),
    ),
    ("years old", re.compile(r"^(?P<subject>.+?) is (?:now )?(?P<value>\S+) years old$")),
    ("{noun}", re.compile(rf"^(?P<subject>.+?) {_NOW}has (?P<value>\d+) (?P<noun>.+)$")),
    (
        "{noun}",
        re.compile(rf"^(?P<subject>.+?)['’]s (?P<noun>{_SINGLE}) is {_NOW}(?P<value>.+)$"),
    ),
    (
        "{noun}",
        re.compile(rf"^the (?P<noun>{_SINGLE}) of (?P<subject>.+?) is {_NOW}(?P<value>.+)$"),
    ),
)
_SAME = {"living in": "lives in", "working at": "works at", "working for": "works for"}
_UNSURE = re.compile(
    r"\b(?:might|may|maybe|perhaps|probably|possibly|could|would|plans?|wants?|hopes?|or|if|and|used"
    r"|was|were|had|will|wished|one of)\b"
)
_LONGEST_VALUE = 6


@dataclass(frozen=True, slots=True)
class Attribute:
    """Whose attribute, which one, and its value, as folded words."""

    subject: tuple[str, ...]
    name: tuple[str, ...]
    value: tuple[str, ...]

    def changes(self, other: Attribute) -> bool:
        """Whether this value is another one, not the other told more or less exactly."""
        here, there = set(self.value), set(other.value)
        return not (here <= there or there <= here)


def attribute_of(text: str) -> Attribute | None:
    """The attribute a statement gives; None for every other statement.

    A statement that denies, doubts, lists or looks back gives none.
    """
    plain = " ".join(text.split()).strip(" .!")
    lowered = plain.lower()
    if _NEGATION.search(plain) or _UNSURE.search(lowered):
        return None
    for naming, pattern in _FORMS:
        match = pattern.match(lowered)
        if match is None:
            continue
        parts = match.groupdict()
        verb = parts.get("verb") or ""
        name = naming.format(verb=_SAME.get(verb, verb), noun=parts.get("noun") or "")
        subject, value = tuple(words(parts["subject"])), tuple(words(parts["value"]))
        if subject and value and len(value) <= _LONGEST_VALUE:
            return Attribute(subject, tuple(words(name)), value)
    return None
