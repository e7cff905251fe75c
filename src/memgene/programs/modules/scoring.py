"""Slot `scoring`: from what each signal found to one order."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memgene.programs.modules.indexing import CALLS, COMMON, TERMS
from memgene.programs.modules.part import Part, method
from memgene.programs.modules.recipe import LEXICAL, Recipe
from memgene.programs.modules.storage import SPEAKER

_RRF = '''
    def _fused(self, query: Query) -> dict[int, float]:
        """Reciprocal ranks: scores of different signals do not compare, places do."""
        scores: dict[int, float] = {{}}
        for weight, found in (
{signals}
        ):
            ranked = sorted(found, key=lambda number: (-found[number], number))
            for place, number in enumerate(ranked):
                scores[number] = scores.get(number, 0.0) + weight * 60 / (60 + place)
        return scores
'''
_SUM = '''
    def _fused(self, query: Query) -> dict[int, float]:
        """Scores of each signal scaled to [0, 1], then added: how far apart they lie counts."""
        scores: dict[int, float] = {{}}
        for weight, found in (
{signals}
        ):
            least, most = min(found.values(), default=0.0), max(found.values(), default=0.0)
            for number, score in found.items():
                scaled = (score - least) / (most - least) if most > least else 1.0
                scores[number] = scores.get(number, 0.0) + weight * scaled
        return scores
'''
_SCALED = method('''
    def _scaled(self, found: dict[int, float]) -> dict[int, float]:
        """Scores between 0 and 1, so that a bonus means the same for every query."""
        least, most = min(found.values(), default=0.0), max(found.values(), default=0.0)
        if most == least:
            return dict.fromkeys(found, 1.0)
        return {number: (score - least) / (most - least) for number, score in found.items()}
''')
_PERSON = Part(
    ("re",),
    (COMMON, SPEAKER),
    ("# Names of those who speak in a piece.", "self.speakers: list[set[str]] = []"),
    ("self.speakers += [self._speaking(piece) for piece in pieces]",),
    (
        "# What the one asked about said tells more than what others said.",
        "asked = set(self._terms(query.query_text))",
        "for number in scores:",
        "    if self.speakers[number] & asked:",
        "        scores[number] += self.PERSON",
    ),
    (
        method('''
            def _speaking(self, piece: str) -> set[str]:
                """First names of those whose lines are in it, in lower case."""
                starts = (self.SPEAKER.match(line) for line in piece.splitlines())
                return {who.group().split()[0].rstrip(":").lower() for who in starts if who}
        '''),
        TERMS,
    ),
)
_DATE = Part(
    ("re",),
    (
        r"""DATE_WORDS = re.compile(
        r"\b(?:January|February|March|April|May|June|July|August|September|October"
        r"|November|December|(?:19|20)\d\d)\b"
    )""",
    ),
    read=(
        "# A month or year that the query names speaks for what was said then.",
        "days = set(self.DATE_WORDS.findall(query.query_text))",
        "for number in scores if days else ():",
        "    scores[number] += self.DATE * len(days & set(self.dates[number].split())) / len(days)",
    ),
)
_RECENT = Part(
    read=(
        "# Of equal pieces the later one more often still holds.",
        "for number in scores:",
        "    scores[number] += self.RECENT * number / len(self.pieces)",
    )
)


_BESIDE = Part(
    read=(
        "# Where those beside it fit the query too, a piece more likely belongs to the answer.",
        "own = dict(scores)",
        "for number in scores:",
        "    for near in (number - 1, number + 1):",
        "        if near in own and self.sources[near] == self.sources[number]:",
        "            scores[number] += self.BESIDE * own[near]",
    )
)
_SAME_TEXT = Part(
    read=(
        "# A text with one piece that fits very well is likely to hold the rest of the answer.",
        "best: dict[int, float] = {}",
        "for number, score in scores.items():",
        "    source = self.sources[number]",
        "    best[source] = max(best.get(source, 0.0), score)",
        "for number in scores:",
        "    scores[number] += self.SAME_TEXT * best[self.sources[number]]",
    )
)


_BONUSES: Mapping[str, Part] = MappingProxyType(
    {
        "person": _PERSON,
        "date": _DATE,
        "recent": _RECENT,
        "beside": _BESIDE,
        "same_text": _SAME_TEXT,
    }
)


def scoring(recipe: Recipe) -> Part:
    """Lines that make `scores` in a read, and the methods they call."""
    bonuses = [lever for lever in _BONUSES if getattr(recipe, lever)]
    part = _single(recipe, bool(bonuses)) if len(recipe.found_by) == 1 else _several(recipe)
    for lever in bonuses:
        part += Part(constants=(f"{lever.upper()} = {getattr(recipe, lever)}",)) + _BONUSES[lever]
    return part


def _single(recipe: Recipe, boosted: bool) -> Part:
    call = CALLS[recipe.signals]
    if not boosted:
        return Part(read=(f"scores = {call}",))
    return Part(read=(f"scores = self._scaled({call})",), methods=(_SCALED,))


def _several(recipe: Recipe) -> Part:
    shares = _shares(recipe)
    signals = "\n".join(f"            ({shares[s]}, {CALLS[s]})," for s in recipe.found_by)
    text = (_RRF if recipe.fusion == "rrf" else _SUM).format(signals=signals)
    return Part(read=("scores = self._fused(query)",), methods=(method(text),))


def _shares(recipe: Recipe) -> dict[str, float]:
    """Weight of each signal; they add up to 1, and the lexical ones share theirs evenly."""
    lexical = [signal for signal in recipe.found_by if signal in LEXICAL]
    if len(lexical) == len(recipe.found_by):
        return dict.fromkeys(lexical, round(1 / len(lexical), 3))
    other = {"even": 1 / 2, "vectors": 2 / 3, "words": 1 / 3}[recipe.lean]
    return {
        signal: round((1 - other) / len(lexical) if signal in LEXICAL else other, 3)
        for signal in recipe.found_by
    }
