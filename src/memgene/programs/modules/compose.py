"""From a recipe to a program file."""

from __future__ import annotations

import json
from textwrap import indent, wrap

from memgene.programs.modules.indexing import ABOUT as SIGNALS
from memgene.programs.modules.indexing import indexing
from memgene.programs.modules.part import Part
from memgene.programs.modules.recipe import DEFAULTS, Recipe
from memgene.programs.modules.scoring import scoring
from memgene.programs.modules.showing import showing
from memgene.programs.modules.storage import ABOUT as STORED
from memgene.programs.modules.storage import ITEM_SUMMARY, item_class, storage
from memgene.programs.modules.wording import ADVICE, ANSWER, ASK, EXTRACT
from memgene.programs.program import Program

HEADER = "# recipe: "
"""What a composed file begins with; JSON follows, over several comment lines."""
_WIDTH = 100
_QUERY = '''
@dataclass
class Query:
    """What to look for."""

    query_text: str = field(metadata={"description": "what to look for, in plain language"})
'''
_KEEP = Part(
    init=(
        "self.toolkit = toolkit",
        "# One entry per piece; its place in these lists is its number everywhere.",
        "self.pieces: list[str] = []",
        "self.dates: list[str] = []",
        "self.sources: list[int] = []",
        "self.texts = 0",
    ),
    write=(
        "if not pieces:",
        "    return",
        "first = len(self.pieces)",
        "self.pieces += pieces",
        "self.dates += [date] * len(pieces)",
        "self.sources += [self.texts] * len(pieces)",
        "self.texts += 1",
    ),
)
_LOG = 'self.toolkit.logger.debug(f"{len(pieces)} pieces stored, {len(self.pieces)} in all")'
_BANK = '''
class KnowledgeBase:
    """Hands texts to the bank of the toolkit, which keeps, finds and ranks them."""

    LIMIT = 3000

    def __init__(self, toolkit: Any) -> None:
        self.toolkit = toolkit
        self.bank = toolkit.bank
        self.stored = 0

    def write(self, item: KnowledgeItem, raw_text: str) -> None:
        self.bank.add_episode(raw_text)
        self.stored += 1
        self.toolkit.logger.debug(f"{self.stored} texts stored")

    def read(self, query: Query) -> str:
        if not self.stored:
            return "Nothing is stored yet."
        text: str = self.bank.context(query.query_text, characters=self.LIMIT)
        return text
'''


def compose(recipe: Recipe) -> Program:
    """The program of a recipe. Equal (normal) recipes give equal bytes."""
    recipe = recipe.normal
    if recipe.storage == "bank":
        return Program(_file(recipe, (), ITEM_SUMMARY, _BANK, "Texts kept and found by the bank."))
    part = storage(recipe) + _KEEP + indexing(recipe) + scoring(recipe) + showing(recipe)
    title = _title(recipe)
    return Program(_file(recipe, part.imports, item_class(recipe), _base(part, title), title))


def _title(recipe: Recipe) -> str:
    return f"{STORED[recipe.storage]}, found by {_listed([SIGNALS[s] for s in recipe.found_by])}."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _file(recipe: Recipe, imports: tuple[str, ...], item: str, base: str, title: str) -> str:
    told = json.dumps({n: v for n, v in recipe.to_json().items() if v != DEFAULTS[n]})
    header = "\n".join(wrap(HEADER + told, _WIDTH, subsequent_indent="#   "))
    modules = "".join(f"import {name}\n" for name in sorted(imports))
    classes = "\n\n\n".join(text.strip("\n") for text in (item, _QUERY, base))
    return (
        f"{header}\n"
        f'"""{title}"""\n\n'
        f"{modules}from dataclasses import dataclass, field\nfrom typing import Any\n\n"
        f"{_wording(recipe)}\n\n\n{classes}\n"
    )


def _wording(recipe: Recipe) -> str:
    texts = {
        "INSTRUCTION_KNOWLEDGE_ITEM": EXTRACT[recipe.extract],
        "INSTRUCTION_QUERY": ASK[recipe.ask],
        "INSTRUCTION_RESPONSE": ANSWER[recipe.answer],
        "ALWAYS_ON_KNOWLEDGE": ADVICE[recipe.advice],
    }
    return "\n".join(_constant(name, text) for name, text in texts.items())


def _constant(name: str, text: str) -> str:
    """An assignment, over several lines where one is too short."""
    line = f'{name} = "{text}"'
    if len(line) <= _WIDTH:
        return line
    pieces = wrap(text, _WIDTH - 8)
    quoted = [f'    "{piece} "' for piece in pieces[:-1]] + [f'    "{pieces[-1]}"']
    return "\n".join([f"{name} = (", *quoted, ")"])


def _base(part: Part, title: str) -> str:
    """The class `KnowledgeBase` from its parts."""
    constants = "\n".join(f"    {line}" for line in part.constants)
    return "\n\n".join(
        [
            f'class KnowledgeBase:\n    """{title}"""',
            constants,
            _method("__init__(self, toolkit: Any) -> None", list(part.init)),
            _method("write(self, item: KnowledgeItem, raw_text: str) -> None", [*part.write, _LOG]),
            _method(
                "read(self, query: Query) -> str",
                ["if not self.pieces:", '    return "Nothing is stored yet."', *part.read],
            ),
            *part.methods,
        ]
    )


def _method(signature: str, lines: list[str]) -> str:
    return indent("\n".join([f"def {signature}:", *(f"    {line}" for line in lines)]), "    ")
