"""Writes the difference of two texts in the forms that replies use."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path

import pytest

MESSAGE = "*** Commit Message\nTitle: change it\n- because it was wrong\n\n"

PROGRAM = """\
from dataclasses import dataclass

INSTRUCTION_KNOWLEDGE_ITEM = "Note what matters."
INSTRUCTION_QUERY = "Ask for it."
INSTRUCTION_RESPONSE = "Answer in short."
ALWAYS_ON_KNOWLEDGE = ""


@dataclass
class KnowledgeItem:
    note: str


@dataclass
class Query:
    note: str


class KnowledgeBase:
    def __init__(self, toolkit):
        self.toolkit = toolkit
        self.notes = []

    def write(self, item, raw_text):
        text = item.note.strip()
        self.notes.append(text)

    def read(self, query):
        text = query.note.strip()
        return "\\n".join(self.notes)
"""


class Writer:
    """Replies that turn one text into another; `context` lines are kept around each change, more
    where that is needed to tell places apart."""

    program = PROGRAM
    message = MESSAGE

    def v4a(self, old: str, new: str, context: int = 2) -> str:
        hunks = "".join(
            "@@\n" + "".join(f"{mark}{line}\n" for mark, line in ops)
            for ops in self._groups(old, new, context)
        )
        head = f"{MESSAGE}*** Begin Patch\n*** Update File: program.py\n"
        return f"{head}{hunks}*** End Patch\n"

    def blocks(self, old: str, new: str, context: int = 2) -> str:
        parts = []
        for ops in self._groups(old, new, context):
            before = "".join(f"{line}\n" for mark, line in ops if mark != "+")
            after = "".join(f"{line}\n" for mark, line in ops if mark != "-")
            parts.append(f"<<<<<<< SEARCH\n{before}=======\n{after}>>>>>>> REPLACE\n")
        return f"Change it\n\nIt was wrong.\n\n{''.join(parts)}"

    def whole(self, new: str) -> str:
        return f"Change it\n\n```python\n{new}```\n"

    def _groups(self, old: str, new: str, context: int) -> Iterator[list[tuple[str, str]]]:
        source, target = old.split("\n")[:-1], new.split("\n")[:-1]
        for size in (context, 3, 6, 12, len(source) + len(target)):
            matcher = SequenceMatcher(None, source, target, autojunk=False)
            groups = [list(group) for group in matcher.get_grouped_opcodes(size)]
            wanted = [source[group[0][1] : group[-1][2]] for group in groups]
            if all(_count(source, lines) == 1 for lines in wanted) or not source:
                break
        for group in groups:
            ops: list[tuple[str, str]] = []
            for tag, a, b, c, d in group:
                if tag == "equal":
                    ops += [(" ", line) for line in source[a:b]]
                else:
                    ops += [("-", line) for line in source[a:b]]
                    ops += [("+", line) for line in target[c:d]]
            yield ops


def _count(source: list[str], lines: list[str]) -> int:
    size = len(lines)
    if not size:
        return 0
    return sum(source[n : n + size] == lines for n in range(len(source) - size + 1))


@pytest.fixture(scope="session")
def writer() -> Writer:
    return Writer()


@pytest.fixture
def program() -> str:
    return PROGRAM


@pytest.fixture(scope="session")
def real_edits() -> list[tuple[str, str]]:
    """Programs of the package, each with the next one: edits that touch nearly everything."""
    root = Path(__file__).parents[3] / "src" / "memgene" / "programs" / "seeds"
    texts = [path.read_text(encoding="utf-8") for path in sorted(root.glob("[a-z]*.py"))]
    return list(pairwise(texts))
