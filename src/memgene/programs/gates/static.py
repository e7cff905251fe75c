"""The static gate: what can be said of a program without running it (M* §7.1).

Lint with messages for whoever must mend it. What keeps a program in is the sandbox, never this.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from memgene.programs.gates.escapes import check_escapes
from memgene.programs.gates.finding import Finding
from memgene.programs.gates.imports import check_imports
from memgene.programs.gates.names import bound_names, check_names
from memgene.programs.gates.structure import check_structure
from memgene.programs.syntax import UnparsableError, parse

MAX_CHARACTERS = 120_000
_SHOWN = 200


def check_static(source: str) -> tuple[Finding, ...]:
    """Everything wrong with the text of a program, by line; what has no line comes first."""
    if len(source) > MAX_CHARACTERS:
        message = (
            f"the program has {len(source)} characters, at most {MAX_CHARACTERS} are allowed; "
            "move lists of words and examples out of the code, and drop what is not used"
        )
        return (Finding("static", "too-large", message),)
    lines = source.split("\n")
    try:
        tree = parse(source, compiled=True)
    except UnparsableError as error:
        message = f"this is not Python: {error}"
        return (_shown(Finding("static", "syntax", message, error.line, error.detail), lines),)
    nodes = tuple(ast.walk(tree))
    bound = bound_names(nodes)
    found = [
        *check_structure(tree, nodes),
        *check_imports(nodes),
        *check_escapes(nodes, bound),
        *check_names(tree, nodes, bound),
    ]
    return tuple(_shown(f, lines) for f in sorted(found, key=lambda f: f.line or 0))


def _shown(finding: Finding, lines: list[str]) -> Finding:
    """The finding with the line it is about, where it shows nothing yet."""
    if finding.line is None or finding.detail:
        return finding
    line = lines[finding.line - 1].strip() if finding.line <= len(lines) else ""
    return replace(finding, detail=line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…")
