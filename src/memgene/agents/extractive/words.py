"""General English function words, as grammar classes. No word here comes from a benchmark."""

from __future__ import annotations

from enum import StrEnum


class WordClass(StrEnum):
    """Coarse class of a word. Closed classes by list, open classes by form."""

    DETERMINER = "det"
    POSSESSIVE = "poss"
    PRONOUN = "pron"
    PREPOSITION = "prep"
    TO = "to"
    CONJUNCTION = "conj"
    SUBORDINATOR = "sub"
    BE = "be"
    AUXILIARY = "aux"
    NEGATION = "neg"
    WH = "wh"
    FILLER = "fill"
    NUMBER = "num"
    NAME = "name"
    GERUND = "ing"
    PAST = "ed"
    ADVERB = "ly"
    CONTENT = "word"


_LISTS: dict[WordClass, str] = {
    WordClass.DETERMINER: "a an the this that these those some any each every another both all "
    "such no other many own",
    WordClass.POSSESSIVE: "my your his her its our their",
    WordClass.PRONOUN: "i you he she it we they me him us them mine yours ours theirs myself "
    "yourself himself herself itself ourselves themselves something anything everything nothing "
    "someone anyone everyone nobody one there here i'm i've i'd i'll you're you've you'll you'd "
    "he's he'd he'll she's she'd she'll it's it'd it'll we're we've we'd we'll they're they've "
    "they'd they'll that's there's here's im ive",
    WordClass.PREPOSITION: "of in on at for with by from into onto about over under after before "
    "during through between among around near against without within across behind beyond along "
    "toward towards upon off up down out since until till as like than per via beside besides "
    "inside outside past despite except",
    WordClass.TO: "to",
    WordClass.CONJUNCTION: "and or but nor yet plus &",
    WordClass.SUBORDINATOR: "because cause 'cause if when while although though so unless whether "
    "once whenever wherever",
    WordClass.BE: "be am is are was were been being isn't aren't wasn't weren't",
    WordClass.AUXILIARY: "do does did have has had having will would can could shall should may "
    "might must gonna gotta ought",
    WordClass.NEGATION: "not never don't doesn't didn't haven't hasn't hadn't won't wouldn't can't "
    "cannot couldn't shouldn't n't",
    WordClass.WH: "what which who whom whose where why how what's who's where's how's",
    WordClass.FILLER: "really very just so too also even still well quite pretty much more most "
    "only already always often sometimes maybe perhaps actually definitely totally absolutely "
    "super oh wow hey hi hello yeah yep yes yup nope thanks thank please haha ok okay ah um hmm "
    "now then again ever soon lately recently currently",
    WordClass.NUMBER: "two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy "
    "eighty ninety hundred thousand million billion dozen half couple several few once twice "
    "thrice first second third fourth fifth sixth seventh eighth ninth tenth",
}

ORDINALS = dict(
    zip(
        ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
        strict=True,
    )
)
"""Ordinals and the numbers they count to."""

CLOSED: dict[str, WordClass] = {
    word: kind for kind, listed in reversed(_LISTS.items()) for word in listed.split()
}

STOP: frozenset[str] = frozenset(
    w for w, k in CLOSED.items() if k is not WordClass.NUMBER
) | frozenset(("s", "t", "re", "ve", "ll", "d", "m", "don", "got", "get", "lot"))
"""Words that tell nothing about what a text is about."""


def word_set(text: str) -> frozenset[str]:
    """The words of a text that lists them."""
    return frozenset(text.split())


ENGLISH_SIGNS = word_set(
    "the a an of in is are was were do does did have has my your his her what which who whose "
    "whom where when why how to for and i you"
)
"""A question without any of these is taken to be in another language."""


def classify(word: str, lower: str, initial: bool) -> WordClass:
    """Class of a word; `initial` words (first in a sentence) are no names by their capital."""
    listed = CLOSED.get(lower)
    if listed is not None and (listed is not WordClass.NUMBER or not word[0].isdigit()):
        return listed
    if any(c.isdigit() for c in word):
        return WordClass.NUMBER
    if not initial and word[0].isupper():
        return WordClass.NAME
    if lower.endswith("ing") and len(lower) > 4:
        return WordClass.GERUND
    if lower.endswith("ed") and len(lower) > 3:
        return WordClass.PAST
    if lower.endswith("ly") and len(lower) > 4:
        return WordClass.ADVERB
    return WordClass.CONTENT
