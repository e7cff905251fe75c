"""Stages to choose from where no language model writes one: small rescorers and filters over a
feature of a hit's words, with a few parameters each. Nothing in them comes from any data.

A template is a stage's source with `PARAMETER` lines to be filled in. Which of them is of use, with
which parameters and at which strength, is for a discoverer to find out on dev.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from textwrap import dedent
from typing import Any

from memgene.retrieval.stages.stage import Stage


@dataclass(frozen=True, slots=True)
class Template:
    """A stage's name and source; `choices` are the values of each parameter, by its name, which
    stands in the source as `NAME = ...`."""

    name: str
    source: str
    choices: Mapping[str, tuple[Any, ...]]

    def stages(self) -> Iterator[Stage]:
        """One stage for every combination of parameters, each with a name of its own."""
        for number, values in enumerate(product(*self.choices.values()), start=1):
            source = dedent(self.source).lstrip()
            for name, value in zip(self.choices, values, strict=True):
                source = source.replace(f"{name} = ...", f"{name} = {value!r}")
            yield Stage(f"{self.name}_{number}", source)


RARE_WORDS = Template(
    "rare_words",
    '''
    """Words of the query that few of the hits have count more."""

    import math

    KIND = "rescorer"
    ABOUT = "prefers hits with the words of the query that few other hits have"
    TREATS = ["ranked_low"]
    LETTERS = ...


    def stems(text):
        words = "".join(c.lower() if c.isalnum() else " " for c in text).split()
        return {word[:LETTERS] for word in words if len(word) > 3}


    def scores(query, hits):
        wanted = stems(query)
        held = [stems(hit["text"]) & wanted for hit in hits]
        count = {word: sum(word in some for some in held) for word in wanted}
        weight = {word: math.log((1 + len(hits)) / (1 + n)) for word, n in count.items() if n}
        most = sum(weight.values()) or 1.0
        return [sum(weight[word] for word in some) / most for some in held]
    ''',
    {"LETTERS": (4, 5, 7)},
)
PAIRS = Template(
    "word_pairs",
    '''
    """Two words that stand together in the query and in a hit say more than either alone."""

    KIND = "rescorer"
    ABOUT = "prefers hits that have words of the query in the same order, side by side"
    TREATS = ["ranked_low"]
    APART = ...


    def words(text):
        return "".join(c.lower() if c.isalnum() else " " for c in text).split()


    def pairs(found):
        return {
            (a, b)
            for at, a in enumerate(found)
            for b in found[at + 1 : at + 1 + APART]
            if len(a) > 3 or len(b) > 3
        }


    def scores(query, hits):
        wanted = pairs(words(query))
        return [len(wanted & pairs(words(hit["text"]))) / (len(wanted) or 1) for hit in hits]
    ''',
    {"APART": (1, 3)},
)
TOLD = Template(
    "told_not_asked",
    '''
    """What somebody tells answers questions; what somebody asks, greets or thanks rarely does."""

    KIND = "rescorer"
    ABOUT = "prefers hits that tell something over questions, greetings and very short lines"
    TREATS = ["ranked_low"]
    WORDS = ...


    def scores(query, hits):
        found = []
        for hit in hits:
            text = hit["text"].strip()
            asks = text.endswith("?")
            short = len(text.split()) < WORDS
            found.append(-0.5 * asks - 0.5 * short)
        return found
    ''',
    {"WORDS": (6, 10, 16)},
)
AMOUNTS = Template(
    "amounts_and_times",
    '''
    """A question for an amount or a time is answered by a line that has one."""

    import re

    KIND = "rescorer"
    ABOUT = "prefers hits that name a number or a time when the question asks for one"
    TREATS = ["ranked_low", "temporal"]
    ASKED = ...
    WORDS = re.compile(
        r"\\d|\\b(one|two|three|four|five|six|seven|eight|nine|ten|dozen|once|twice|yesterday|today"
        r"|tomorrow|last|next|ago|week|weekend|month|year|january|february|march|april|june|july"
        r"|august|september|october|november|december)\\b",
        re.IGNORECASE,
    )


    def scores(query, hits):
        if not re.search(ASKED, query, re.IGNORECASE):
            return [0.0] * len(hits)
        return [1.0 if WORDS.search(hit["text"]) else 0.0 for hit in hits]
    ''',
    {"ASKED": ("^when|how long|what (year|month|date|day)", "how (many|much|often|old)")},
)
SPEAKER = Template(
    "own_words",
    '''
    """Who is asked about speaks of it in the first person."""

    import re

    KIND = "rescorer"
    ABOUT = "prefers what the person named in the question says in the first person"
    TREATS = ["ranked_low", "names_mislead"]
    PRONOUNS = ...


    def scores(query, hits):
        found = []
        for hit in hits:
            speaker = (hit["speaker"] or "").split()
            own = bool(speaker) and re.search(rf"\\b{re.escape(speaker[0])}\\b", query)
            first = re.search(r"\\b(I|I'm|I've|my|me|we|our)\\b", hit["text"])
            found.append(1.0 if own and (first or not PRONOUNS) else 0.0)
        return found
    ''',
    {"PRONOUNS": (True, False)},
)
REPEATS = Template(
    "no_repeats",
    '''
    """A line that says what one above it says takes the place of something else."""

    KIND = "filter"
    ABOUT = "moves hits that repeat a better one behind the others"
    TREATS = ["ranked_low"]
    SHARE = ...


    def words(text):
        return set("".join(c.lower() if c.isalnum() else " " for c in text).split())


    def keep(query, hits):
        first, later, seen = [], [], []
        for place, hit in enumerate(hits):
            mine = words(hit["text"])
            same = any(len(mine & other) >= SHARE * len(mine | other) for other in seen)
            (later if same else first).append(place)
            seen.append(mine)
        return first + later
    ''',
    {"SHARE": (0.5, 0.7)},
)
TEMPLATES = (RARE_WORDS, PAIRS, TOLD, AMOUNTS, SPEAKER, REPEATS)
"""All of them, in a fixed order."""
