"""Variants of the four instruction constants: general words, none of any benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

EXTRACT: Mapping[str, str] = MappingProxyType(
    {
        "summary": "Write down the key information of the text in a short summary.",
        "facts": (
            "Write down what the text says as separate statements. Each names who or what it is "
            "about instead of using a pronoun, and keeps numbers, names and dates as they are."
        ),
        "events": (
            "Write down what happened, who took part, and when. Turn words such as yesterday or "
            "last week into dates, counted from the date of the text."
        ),
    }
)
ASK: Mapping[str, str] = MappingProxyType(
    {
        "plain": (
            "Write a query in plain language that asks the memory for what is needed to answer "
            "the question."
        ),
        "names": (
            "Write a query that asks the memory for what is needed to answer the question. Keep "
            "every name, place, thing and date of the question in it."
        ),
        "keywords": (
            "Write the question again, then the few words that a text with its answer would "
            "probably use."
        ),
    }
)
ANSWER: Mapping[str, str] = MappingProxyType(
    {
        "short": (
            "Answer the original question from the knowledge above. Give a short answer without "
            "explanation."
        ),
        "exact": (
            "Answer the original question from the knowledge above in as few words as possible, "
            "taken from it as they stand. Where the question asks for several things, give all of "
            "them, with commas between."
        ),
        "dated": (
            "Answer the original question from the knowledge above in a few words. Where it asks "
            "for a time, count from the date that stands with what was said and give the date."
        ),
    }
)
ADVICE: Mapping[str, str] = MappingProxyType(
    {
        "none": "",
        "ground": (
            "The lines below were recorded earlier. Some of them have nothing to do with the "
            "question: use those that name the same person and the same thing."
        ),
        "time": (
            "Every line below was said on the date that stands with it. Words such as yesterday, "
            "last week or next month are counted from that date. Where lines disagree, the later "
            "one holds."
        ),
    }
)
