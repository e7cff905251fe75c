"""What a question asks for, by general English syntax."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise

from memgene.agents.extractive.sentences import Sentence, analyse, split
from memgene.agents.extractive.words import ENGLISH_SIGNS, STOP, WordClass, word_set
from memgene.retrieval.dates import Resolved, find_dates
from memgene.retrieval.text import english_stem


class Kind(StrEnum):
    """Kinds of questions that want different answers."""

    WHEN = "when"
    HOW_LONG = "how_long"
    NUMBER = "number"
    CLOCK = "clock"
    WHO = "who"
    WHERE = "where"
    WHY = "why"
    YES_NO = "yes_no"
    CHOICE = "choice"
    LIST = "list"
    MANNER = "manner"
    OPEN = "open"


_ASKING = re.compile(
    r"\b(?:what|which|who|whom|whose|where|when|why|how)(?:['’]?s)?\b", re.IGNORECASE
)
_OPENING = re.compile(rf"^\W*(?:[a-z]+ )?{_ASKING.pattern}", re.IGNORECASE)
_RULES: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"^\W*(?:{pattern})\b", re.IGNORECASE))
    for kind, pattern in (
        (Kind.CLOCK, r"(?:at |by |until |from |after |before )?(?:what|which) time"),
        (
            Kind.WHEN,
            r"(?:in |on |since |until |by |from |around |during )?(?:when|(?:what|which)"
            r"(?: \w+)? (?:date|day|month|year|week|weekend|season|weekday|time of (?:the )?year))",
        ),
        (
            Kind.HOW_LONG,
            r"(?:for |since )?how (?:long|many (?:days|weeks|months|years|hours|minutes))",
        ),
        (
            Kind.NUMBER,
            r"(?:at what|what) (?:age|number|percentage|price)"
            r"|how (?:many|much|often|old|far|tall|big|large|high|deep|heavy|fast)",
        ),
        (Kind.WHO, r"(?:(?:with|to|from|by|for|of) )?(?:who|whom|whose|who['’]s)"),
        (
            Kind.WHERE,
            r"(?:(?:from|to|in|near) )?(?:where|where['’]s"
            r"|(?:what|which) (?:place|city|country|town|state|location|street))",
        ),
        (Kind.WHY, r"why|how come|for what reason|what (?:is|was|are|were) the reasons?"),
        (Kind.MANNER, r"how"),
        (
            Kind.YES_NO,
            r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|might|isn['’]t|aren['’]t|don['’]t|doesn['’]t|didn['’]t)",
        ),
    )
)
# Words that say what sort of answer is wanted, not what it is about.
_ASKING_NOUNS = frozenset(
    map(
        english_stem,
        word_set(
            "kind type sort thing way something name call called example mention describe accord "
            "say tell"
        ),
    )
)
# Works and names whose titles are written with capitals or in quotes.
_TITLED = frozenset(
    map(
        english_stem,
        word_set(
            "book novel movie film song album game show series title name called band magazine "
            "podcast play poem company brand"
        ),
    )
)
_PLURALS = word_set("people children men women kinds types sorts")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, analysed: its kind, its content stems, the stems right after the wh-word.

    `focus` names the thing asked for (*kind of food* → food); `tail` is the last content stem,
    in English often the verb whose object is wanted. `english` is false when no English function
    word stands in the question.
    """

    kind: Kind
    clause: str
    several: bool
    stems: tuple[str, ...]
    words: frozenset[str]
    focus: str | None
    days: tuple[Resolved, ...]
    titled: bool
    tail: str | None
    pairs: frozenset[tuple[str, str]]
    first_person: bool
    english: bool
    sentence: Sentence


def _main_clause(text: str) -> str:
    """The part that asks: the last sentence with a question mark, from its wh-word or verb on."""
    parts = split(text) or [text]
    asking = [p for p in parts if p.rstrip("\"'”’) ").endswith(("?", "？"))]
    main = (asking or [p for p in parts if _ASKING.search(p)] or parts)[-1]
    if _OPENING.match(main) or any(pattern.match(main) for _, pattern in _RULES):
        return main
    clause = next((c for c in main.split(", ") if any(p.match(c) for _, p in _RULES)), None)
    return clause or main


def _without_directions(text: str) -> str:
    """The text up to its last question mark; what follows says how to write the answer."""
    end = max(text.rfind("?"), text.rfind("？"))
    return text[: end + 1] if end > 0 else text


def _kind(clause: str, text: str) -> Kind:
    found = next((kind for kind, pattern in _RULES if pattern.match(clause)), None)
    if found is None:
        inner = _ASKING.search(clause)
        rest = clause[inner.start() :] if inner else ""
        found = next((kind for kind, pattern in _RULES if pattern.match(rest)), Kind.OPEN)
    if found is Kind.YES_NO and re.search(r"\w,? or \w", clause):
        return Kind.CHOICE
    return found


def _is_plural(word: str) -> bool:
    return word in _PLURALS or (
        len(word) > 3 and word[-1] == "s" and word[-2] not in "siu'" and word not in STOP
    )


def _wants_several(asked: Sentence) -> bool:
    """Plural noun before the verb (*which cities has …*), or a plural verb (*what are …*)."""
    wh = next((i for i, c in enumerate(asked.classes) if c is WordClass.WH), None)
    if wh is None:
        return False
    verbs = (WordClass.BE, WordClass.AUXILIARY)
    verb = next((i for i in range(wh + 1, len(asked.words)) if asked.classes[i] in verbs), None)
    if verb is None:
        return False
    if verb == wh + 1:
        return asked.words[verb] in ("are", "were")
    return any(_is_plural(w) for w in asked.words[wh + 1 : verb])


@lru_cache(maxsize=1 << 12)
def understand(text: str) -> Asked:
    """Analyse a question. Never fails; without English signs the kind is OPEN."""
    whole = analyse(_without_directions(text))
    clause = _main_clause(text)
    kind = _kind(clause, text)
    asked = analyse(clause)
    several = kind in (Kind.OPEN, Kind.WHO, Kind.WHERE) and _wants_several(asked)
    if several and kind is Kind.OPEN:
        kind = Kind.LIST
    content = [
        (w, s, c)
        for w, s, c in zip(asked.words, asked.stems, asked.classes, strict=True)
        if w not in STOP and s not in _ASKING_NOUNS
    ]
    common = [s for _, s, c in content if c is not WordClass.NAME]
    return Asked(
        kind=kind,
        clause=clause,
        several=several,
        stems=tuple(
            dict.fromkeys(
                s
                for s, w in zip(whole.stems, whole.words, strict=True)
                if w not in STOP and s not in _ASKING_NOUNS and not w.isdigit()
            )
        ),
        words=frozenset(whole.words),
        focus=common[0] if common else None,
        days=tuple(find_dates(text, None)),
        titled=bool(_TITLED & whole.content),
        pairs=frozenset(pairwise(s for _, s, _ in content)),
        tail=common[-1] if common else None,
        first_person=any(w in ("i", "my", "me", "we", "our") for w in whole.words),
        english=kind is not Kind.OPEN or any(w in ENGLISH_SIGNS for w in whole.words),
        sentence=whole,
    )


def same_person(name: str, words: frozenset[str]) -> bool:
    """Whether a speaker is named, also by a short form of three letters or more."""
    for part in name.lower().split():
        for word in words:
            base = word[:-2] if word.endswith(("'s", "’s")) else word
            if base == part or (
                min(len(base), len(part)) >= 3 and (part.startswith(base) or base.startswith(part))
            ):
                return True
    return False
