"""Slot `storage`: what one stored piece is."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memgene.programs.modules.part import Part, method
from memgene.programs.modules.recipe import Recipe

ABOUT: Mapping[str, str] = MappingProxyType(
    {
        "session": "Whole texts",
        "chunks": "Chunks of a few lines",
        "windows": "Four lines at a time",
        "pairs": "Two lines at a time",
        "lines": "Single lines",
        "sentences": "Single sentences",
        "facts": "Statements from a text",
        "lines+facts": "Lines, and statements from them",
    }
)
SEVERAL_LINES = frozenset({"session", "chunks", "windows", "pairs"})
"""Storage whose pieces have more than one line: a date stands above them, not in front."""

ITEM_SUMMARY = '''
@dataclass
class KnowledgeItem:
    """What was understood of a text. This memory keeps the text itself."""

    summary: str = field(metadata={"description": "the key information of the text"})
'''
ITEM_FACTS = '''
@dataclass
class KnowledgeItem:
    """What a text says, one statement after another."""

    key_facts: list[str] = field(
        metadata={"description": "each thing the text says, as a sentence that stands alone"}
    )
'''

_DATED = method('''
    def _dated(self, text: str) -> tuple[str, str]:
        """The date that the first line tells, without the time of day, and the rest."""
        head, _, body = text.partition("\\n")
        found = self.DATE_LINE.fullmatch(head.strip())
        return (found.group(1), body) if found else ("", text)
''')
# `8 May 2023, 1:56 pm` or `2023-05-08 13:56`; brackets around it do no harm.
_DATE_LINE = r"""DATE_LINE = re.compile(
        r"\W?(\d{1,2} [A-Z][a-z]+ \d{4}|\d{4}-\d\d-\d\d)(?:\W+\d\d?:\d\d(?: ?[ap]m)?)?\W*"
    )"""
_JOINED = '''
    def _cut(self, body: str) -> list[str]:
        """{about}"""
        pieces: list[str] = []
        for whole in body.splitlines():
            for line in textwrap.wrap(whole, self.PIECE):
                if pieces and len(pieces[-1]) + 1 + len(line) <= self.PIECE:
                    pieces[-1] += "\\n" + line
                else:
                    pieces.append(line)
        return pieces
'''
_BY_COUNT = '''
    def _cut(self, body: str) -> list[str]:
        """{about}"""
        lines = [line for whole in body.splitlines() for line in textwrap.wrap(whole, self.LONGEST)]
        return ["\\n".join(lines[i : i + {count}]) for i in range(0, len(lines), {count})]
'''
_LINES = method('''
    def _cut(self, body: str) -> list[str]:
        """Its lines. A very long one is cut between words, so that every piece fits into a read."""
        return [line for whole in body.splitlines() for line in textwrap.wrap(whole, self.LONGEST)]
''')
_SENTENCES = method('''
    def _cut(self, body: str) -> list[str]:
        """Its sentences, each with the name of who said it: alone it would not tell."""
        pieces: list[str] = []
        for line in body.splitlines():
            who = self.SPEAKER.match(line)
            name = who.group() if who else ""
            for sentence in self.SENTENCE_END.split(line[len(name) :].strip()):
                pieces += [name + part for part in textwrap.wrap(sentence, self.LONGEST)]
        return pieces
''')
_LONGEST = "LONGEST = 700"
_CUT = (
    "date, body = self._dated(raw_text)",
    "pieces = self._cut(body)",
)
_FACTS = (
    "date, body = self._dated(raw_text)",
    "# A text from which nothing was taken is kept as it is.",
    "facts = item.key_facts or body.splitlines()",
    "pieces = [part for fact in facts for part in textwrap.wrap(fact, self.LONGEST)]",
)
_LINES_AND_FACTS = (
    "date, body = self._dated(raw_text)",
    "# Lines keep the words, statements say what the words are about: either may be found.",
    "pieces = self._cut(body)",
    "for fact in item.key_facts:",
    "    pieces += textwrap.wrap(fact, self.LONGEST)",
)
SPEAKER = "SPEAKER = re.compile(r\"[A-Z][\\w.'-]*(?: [A-Z][\\w.'-]*){0,2}: \")"


def storage(recipe: Recipe) -> Part:
    """How a text becomes pieces."""
    dated = Part(("re", "textwrap"), (_DATE_LINE,), methods=(_DATED,))
    return dated + _PARTS[recipe.storage]


def item_class(recipe: Recipe) -> str:
    """The class `KnowledgeItem` that the storage needs."""
    return ITEM_FACTS if "facts" in recipe.storage else ITEM_SUMMARY


def _joined(characters: int, about: str) -> Part:
    return Part(
        constants=(f"PIECE = {characters}",),
        write=_CUT,
        methods=(method(_JOINED.format(about=about)),),
    )


def _by_count(count: int, about: str) -> Part:
    text = method(_BY_COUNT.format(about=about, count=count))
    return Part(constants=(_LONGEST,), write=_CUT, methods=(text,))


_PARTS: Mapping[str, Part] = MappingProxyType(
    {
        "session": _joined(2900, "The text, in several pieces where a read could not show it all."),
        "chunks": _joined(500, "Neighbouring lines, joined while they fit into a chunk."),
        "windows": _by_count(4, "Four lines at a time: a line often needs those around it."),
        "pairs": _by_count(2, "Two lines at a time: often a question and its answer."),
        "lines": Part(constants=(_LONGEST,), write=_CUT, methods=(_LINES,)),
        "sentences": Part(
            constants=(_LONGEST, SPEAKER, 'SENTENCE_END = re.compile(r"(?<=[.!?])\\s+")'),
            write=_CUT,
            methods=(_SENTENCES,),
        ),
        "facts": Part(constants=(_LONGEST,), write=_FACTS),
        "lines+facts": Part(constants=(_LONGEST,), write=_LINES_AND_FACTS, methods=(_LINES,)),
    }
)
