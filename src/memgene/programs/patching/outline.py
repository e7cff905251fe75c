"""Functions and classes of a program by their lines, for hints and for messages."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from memgene.programs.syntax import UnparsableError, parse

_HEADER = re.compile(r"\b(def|class)\s+(\w+)")


@dataclass(frozen=True, slots=True)
class Block:
    """A function or class: its dotted name, and its lines from `start` up to `stop`, from 0."""

    name: str
    kind: str
    start: int
    stop: int


class Outline:
    """A program's lines and, where it can be parsed, its blocks."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Every function and class, outer ones first; none where the text is no Python."""
        try:
            return tuple(_blocks(parse("\n".join(self._lines)), ""))
        except UnparsableError:
            return ()

    def around(self, line: int) -> str:
        """The dotted name of the innermost block that holds a line (from 0); empty at top level."""
        inside = [block.name for block in self.blocks if block.start <= line < block.stop]
        return inside[-1] if inside else ""

    def regions(self, hint: str) -> list[tuple[int, int]]:
        """Lines a hint speaks of, as (start, stop) from 0; none where it names nothing here.

        `def read` and `class Query` are that block, together the one inside the other; any other
        text is the lines that begin with it, and all below them.
        """
        total = len(self._lines)
        headers = _HEADER.findall(hint)
        regions = [(0, total)] if headers else []
        for kind, name in headers:
            named = [b for b in self.blocks if b.kind == kind and b.name.split(".")[-1] == name]
            regions = [
                (block.start, block.stop)
                for block in named
                if any(start <= block.start < stop for start, stop in regions)
            ]
        if regions:
            return regions
        text = hint.strip()
        begins = [n for n, line in enumerate(self._lines) if text and line.strip().startswith(text)]
        return [(begins[0], total)] if begins else []


def _blocks(node: ast.AST, outer: str) -> list[Block]:
    found = []
    for inner in ast.iter_child_nodes(node):
        name = outer
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{outer}.{inner.name}" if outer else inner.name
            kind = "class" if isinstance(inner, ast.ClassDef) else "def"
            start = min([inner.lineno, *(d.lineno for d in inner.decorator_list)]) - 1
            found.append(Block(name, kind, start, inner.end_lineno or inner.lineno))
        found += _blocks(inner, name)
    return found
