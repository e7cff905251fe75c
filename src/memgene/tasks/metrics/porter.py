"""Porter stems as LoCoMo's official score sees them.

M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the departures of
nltk's default `PorterStemmer`, which that score uses: a table of irregular words, words of one or
two letters kept, 4-letter `-ies`/`-ied` words to `-ie` (dies → die), y → i only after a consonant,
`-bli`, `-fulli` and `-logi` rules, `-alli` first, and vowel-consonant words counted as short.
Snowball's `porter` lacks these, so the two do not agree on everyday words (enjoy, dies, fully).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

_IRREGULAR: Mapping[str, str] = MappingProxyType(
    {
        "sky": "sky",
        "skies": "sky",
        "dying": "die",
        "lying": "lie",
        "tying": "tie",
        "news": "news",
        "innings": "inning",
        "inning": "inning",
        "outings": "outing",
        "outing": "outing",
        "cannings": "canning",
        "canning": "canning",
        "howe": "howe",
        "proceed": "proceed",
        "exceed": "exceed",
        "succeed": "succeed",
    }
)

_STEP_2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
)
_STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_4 = tuple(
    (suffix, "")
    for suffix in [
        "al",
        "ance",
        "ence",
        "er",
        "ic",
        "able",
        "ible",
        "ant",
        "ement",
        "ment",
        "ent",
        "ion",
        "ou",
        "ism",
        "ate",
        "iti",
        "ous",
        "ive",
        "ize",
    ]
)


def stem(word: str) -> str:
    """The stem of one word, lower case."""
    word = word.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _step_1c(_step_1b(_step_1a(word)))
    word = _replace(_step_2(word), _STEP_3, lambda rest, _: _measure(rest) > 0)
    word = _replace(word, _STEP_4, _step_4_applies)
    return _step_5(word)


def _consonants(word: str) -> list[bool]:
    """Per letter, whether it is a consonant; y is one unless it follows a consonant."""
    flags: list[bool] = []
    for letter in word:
        follows_consonant = bool(flags) and flags[-1]
        flags.append(letter not in "aeiou" and not (letter == "y" and follows_consonant))
    return flags


def _measure(word: str) -> int:
    """The m of [C](VC){m}[V]."""
    flags = _consonants(word)
    return sum(not before and after for before, after in pairwise(flags))


def _has_vowel(word: str) -> bool:
    return not all(_consonants(word))


def _is_short(word: str) -> bool:
    """Ends consonant-vowel-consonant, the last not w, x or y; or is vowel-consonant."""
    flags = _consonants(word)
    if len(word) == 2:
        return flags == [False, True]
    return flags[-3:] == [True, False, True] and word[-1] not in "wxy"


def _replace(
    word: str, rules: Sequence[tuple[str, str]], applies: Callable[[str, str], bool]
) -> str:
    """Apply the first rule whose suffix fits, if its condition holds; later rules are not tried."""
    for suffix, replacement in rules:
        if word.endswith(suffix):
            rest = word.removesuffix(suffix)
            return rest + replacement if applies(rest, suffix) else word
    return word


def _step_1a(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _step_1b(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word and _has_vowel(rest):
            return _restore(rest)
    return word


def _restore(rest: str) -> str:
    """Mend what -ed or -ing leaves behind: conflat → conflate, hopp → hop, fil → file."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if len(rest) > 1 and rest[-1] == rest[-2] and _consonants(rest)[-1]:
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _is_short(rest) else rest


def _step_1c(word: str) -> str:
    rest = word.removesuffix("y")
    if rest != word and len(rest) > 1 and _consonants(rest)[-1]:
        return rest + "i"
    return word


def _step_2(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _step_2(word[:-2])
    # The l of -logi belongs to what is measured, so that geologi and theologi are alike.
    if word.endswith("logi") and _measure(word[:-3]) > 0:
        return word[:-1]
    return _replace(word, _STEP_2, lambda rest, _: _measure(rest) > 0)


def _step_4_applies(rest: str, suffix: str) -> bool:
    return _measure(rest) > 1 and (suffix != "ion" or rest[-1] in "st")


def _step_5(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _is_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
