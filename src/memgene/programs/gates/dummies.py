"""Made-up values for a trial: items and queries of a program's own fields, and texts to write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memgene.core import Schema
from memgene.core.schema import FieldType

_SENTENCES = (
    "Ana moved to Lisbon on 7 May 2023 and adopted a cat.",
    "Ben plays the cello and teaches it on Tuesdays.",
    "Ana's sister visits in June; they will hike near Sintra.",
)
_WORDS = ("Ana", "Lisbon", "cat", "cello", "Sintra")

ODD_TEXTS = (
    "",
    " ",
    '"',
    "*",
    "-",
    "AND",
    "cat AND (cello OR",
    "well-known cat",
    "who: Ana? ^cello {x}",
    "Ana's cat, NEAR(cello)",
    'she said "no"; 100% \\ _',
    "Zürich 東京 🙂 \u200b",
    "cat " * 300,
)
"""Strings an agent may well put into a query. Many are syntax errors for FTS5 or LIKE."""


def episodes() -> tuple[str, ...]:
    """Texts to write: two dated talks, one of them without blank lines, and a very long one."""
    short = (
        "DATE: 1:56 pm on 8 May, 2023\n\n"
        "Ana: I have news! I moved to Lisbon yesterday, and I have a cat now.\n\n"
        "Ben: Congratulations! What is it called?\n\nAna: Its name is Pixel."
    )
    lines = (
        "DATE: 7:30 pm on 12 June, 2023\n"
        "Ben: I practised the cello all day; the concert is on Tuesday.\n"
        'Ana: "Break a leg", as they say. Shall we hike near Sintra?'
    )
    long = "DATE: 9:05 am on 3 July, 2023\n" + "\n".join(
        f"{('Ana', 'Ben')[n % 2]}: {_SENTENCES[n % 3]} That was note {n}." for n in range(250)
    )
    return short, lines, long


def plain(schema: Schema, number: int = 0) -> dict[str, Any]:
    """Ordinary values for every field; another `number` gives other ones."""
    sentence = _SENTENCES[number % len(_SENTENCES)]
    words = [_WORDS[(number + n) % len(_WORDS)] for n in range(2)]
    return _filled(schema, sentence, words, 1 + number, True)


def odd(schema: Schema, text: str) -> dict[str, Any]:
    """The text in every field that can hold it."""
    return _filled(schema, text, [text], 0, False)


def empty(schema: Schema) -> dict[str, Any]:
    """Nothing in any field; None where it may be."""
    values = _filled(schema, "", [], 0, False)
    optional = {f.name: None for f in schema.fields if f.type.startswith("optional")}
    return {**values, **optional}


def shown(values: Mapping[str, Any]) -> str:
    """The values as arguments, long ones shortened."""
    parts = [f"{name}={value!r}" for name, value in values.items()]
    return ", ".join(part if len(part) <= 60 else f"{part[:60]}…" for part in parts[:4]) + (
        ", …" if len(parts) > 4 else ""
    )


def _filled(
    schema: Schema, text: str, words: Sequence[str], number: int, true: bool
) -> dict[str, Any]:
    by_type: dict[FieldType, Callable[[], Any]] = {
        "str": lambda: text,
        "int": lambda: number,
        "float": lambda: number / 2,
        "bool": lambda: true,
        "list[str]": lambda: list(words),
        "optional[str]": lambda: words[0] if words else text,
        "optional[int]": lambda: number,
        "optional[float]": lambda: number / 2,
        "optional[bool]": lambda: true,
        "optional[list[str]]": lambda: list(words),
    }
    return {field.name: by_type[field.type]() for field in schema.fields}
