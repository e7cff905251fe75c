"""`prompts.toml`: the instructions that evolved, where people can read them.

They are a copy: a program's stand in its source, which says what happens; answer styles are
values of a lever, and the file keeps the words they had when the genome was stored.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field

from memgene.core import StoredConfigError
from memgene.genome.contents import decoded, reading
from memgene.genome.parts import PROMPTS
from memgene.genome.stored import StoredFiles
from memgene.llm.prompts.answer_styles import ANSWER_STYLES
from memgene.programs.syntax import CONSTANTS, UnparsableError, parse
from memgene.retrieval.config import RetrievalConfig

FORMAT = 1
_STYLE = "answer_style"


@dataclass(frozen=True)
class Prompts:
    """Instructions of a genome. `program`: by the constant of its source that holds them, those
    that are written out there. `styles`: the words of answer styles that are not the default."""

    program: Mapping[str, str] = field(default_factory=dict)
    styles: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.program or self.styles)

    def named(self) -> dict[str, str]:
        """All of them, as `program.NAME` and `answer_style.NAME`."""
        return {
            **{f"program.{name}": text for name, text in self.program.items()},
            **{f"{_STYLE}.{name}": text for name, text in self.styles.items()},
        }

    def to_bytes(self) -> bytes:
        """The text of `prompts.toml`."""
        import tomli_w

        tables = {"program": dict(self.program), _STYLE: dict(self.styles)}
        held = {name: table for name, table in tables.items() if table}
        return tomli_w.dumps({"format": FORMAT, **held}).encode()


def prompts_of(config: RetrievalConfig, program: str | None) -> Prompts:
    """The instructions of a genome, as this version knows them. Runs nothing."""
    used = {config.answer_style, *(o.get(_STYLE) for o in config.per_type.values())}
    default = RetrievalConfig().answer_style
    styles = {name: ANSWER_STYLES[name] for name in ANSWER_STYLES if name in used - {default}}
    return Prompts({} if program is None else _written_out(program), styles)


def stored_prompts(stored: StoredFiles) -> Prompts:
    """Those in a bundle's `prompts.toml`; none where it has no such file.

    Raises StoredConfigError when the file is damaged or of another format.
    """
    if PROMPTS not in stored.files:
        return Prompts()
    text = decoded(stored, PROMPTS)
    with reading(stored, PROMPTS):
        values = tomllib.loads(text)
        found = values.pop("format", None)
        if found != FORMAT:
            raise StoredConfigError(
                f"{stored.path}/{PROMPTS} has format {found!r}; this version reads {FORMAT}"
            )
        prompts = Prompts(values.pop("program", {}), values.pop(_STYLE, {}))
        if values or not all(isinstance(text, str) for text in prompts.named().values()):
            raise StoredConfigError(f"{stored.path}/{PROMPTS} is damaged: it is not all text")
        return prompts


def check_prompts(stored: StoredFiles, program: str | None) -> None:
    """Refuse a copy that says other than the program does. Raises StoredConfigError."""
    told = stored_prompts(stored).program
    held = {} if program is None else _written_out(program)
    for name, text in told.items():
        if held.get(name, text if program is not None else None) != text:
            raise StoredConfigError(
                f"{stored.path}/{PROMPTS} says other than the program does of {name}"
            )


def _written_out(source: str) -> dict[str, str]:
    """The program's constants that are bound to a text once and for all, at its top level."""
    try:
        tree = parse(source)
    except UnparsableError:
        return {}
    found: dict[str, str] = {}
    for statement in tree.body:
        bound = {
            node.id
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        text = _text(statement)
        for name in bound.intersection(CONSTANTS):
            found.pop(name, None)
            if text is not None and bound == {name}:
                found[name] = text
    return {name: found[name] for name in CONSTANTS if name in found}


def _text(statement: ast.stmt) -> str | None:
    """The text that a plain assignment binds; None for anything else, or what is no Unicode."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return None
    value = statement.value
    if not (isinstance(value, ast.Constant) and isinstance(value.value, str)):
        return None
    try:
        value.value.encode()
    except UnicodeEncodeError:
        return None
    return value.value
