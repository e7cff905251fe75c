"""Whether a change stayed on the side of a program that it may touch."""

from __future__ import annotations

import ast

from memgene.evolution.reflection.material import Scope
from memgene.programs.syntax import CONSTANTS, UnparsableError, parse


def strayed(before: str, after: str, scope: Scope) -> str:
    """What was changed that may not be, in words for the one who changed it; empty: nothing.

    Comments and layout are nobody's side. Sources that do not parse are left to the gates.
    """
    if scope is Scope.BOTH:
        return ""
    old, new = _sides(before), _sides(after)
    if old is None or new is None:
        return ""
    if scope is Scope.INSTRUCTIONS:
        return "" if old[1] == new[1] else "only the four strings may change; the code did too"
    touched = [name for name in CONSTANTS if old[0].get(name) != new[0].get(name)]
    return f"{', '.join(touched)} may not change" if touched else ""


def _sides(source: str) -> tuple[dict[str, str], list[str]] | None:
    """The values of the four strings, and everything else, as syntax trees in words."""
    try:
        tree = parse(source)
    except UnparsableError:
        return None
    strings: dict[str, str] = {}
    code = []
    for statement in tree.body:
        name = _assigned(statement)
        if name in CONSTANTS and isinstance(statement, ast.Assign | ast.AnnAssign):
            strings[name] = ast.dump(statement.value) if statement.value else ""
        else:
            code.append(ast.dump(statement))
    return strings, code


def _assigned(statement: ast.stmt) -> str:
    """The one name that a statement assigns to, or nothing."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign):
        target = statement.target
    else:
        return ""
    return target.id if isinstance(target, ast.Name) else ""
