"""The syntax tree of a program, and the names its interface fixes (M* §2)."""

from __future__ import annotations

import ast
import re
import threading
import warnings

ITEM, QUERY, BASE = "KnowledgeItem", "Query", "KnowledgeBase"
CLASSES = (ITEM, QUERY, BASE)
CONSTANTS = (
    "INSTRUCTION_KNOWLEDGE_ITEM",
    "INSTRUCTION_QUERY",
    "INSTRUCTION_RESPONSE",
    "ALWAYS_ON_KNOWLEDGE",
)

_WARNINGS = threading.Lock()  # filters of warnings belong to the process, and gates run in threads


class UnparsableError(ValueError):
    """The text is no Python; `line` counts from 1 where one is to blame."""

    def __init__(self, message: str, line: int | None = None, detail: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.detail = detail


def parse(source: str, *, compiled: bool = False) -> ast.Module:
    """The tree of a program. `compiled`: also see whether it can be compiled. Nothing of it is run.

    Raises:
        UnparsableError: it is no Python, or nested too deeply.
    """
    try:
        with _WARNINGS, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            if compiled:
                compile(source, "program.py", "exec", dont_inherit=True)
            return tree
    except SyntaxError as error:
        raise UnparsableError(error.msg, error.lineno, _pointed(error)) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise UnparsableError(str(error) or "it is nested too deeply") from error


def missing_names(source: str) -> tuple[str, ...]:
    """The names of the interface that a text, parsable or not, does not define at its top level."""
    classes = set(re.findall(r"^class[ \t]+(\w+)", source, re.MULTILINE))
    constants = set(re.findall(r"^(\w+)[ \t]*(?::[^=\n]+)?=", source, re.MULTILINE))
    return tuple(
        [name for name in CLASSES if name not in classes]
        + [name for name in CONSTANTS if name not in constants]
    )


def _pointed(error: SyntaxError) -> str:
    """The line at fault with a mark under the place."""
    if not error.text:
        return ""
    line = error.text.rstrip("\n")
    column = max(0, min((error.offset or 1) - 1, len(line)))
    return f"{line}\n{' ' * column}^"
