"""A digest that equal programs share: two texts with one digest need not both be evaluated.

What does not count: comments, formatting, docstrings (but of the item and the query, which agents
are shown), and the names of local variables. Everything else counts: the four constants, fields
and their descriptions, attributes, globals, and the order of definitions.
"""

from __future__ import annotations

import ast

from memgene.core import content_hash
from memgene.programs.renaming import rename_locals
from memgene.programs.syntax import ITEM, QUERY, UnparsableError, parse

_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def normal_hash(source: str) -> str:
    """64 hex digits: of the normalised syntax tree, or of the text where it is no Python."""
    try:
        tree = parse(source)
        _strip_docstrings(tree)
        rename_locals(tree)
        return content_hash("".join(_shape(tree, [])))
    except (UnparsableError, RecursionError):
        return content_hash(source.encode("utf-8", "backslashreplace").decode("utf-8"))


def _strip_docstrings(tree: ast.Module) -> None:
    for node in list(ast.walk(tree)):
        if not isinstance(node, _Documented) or not _has_docstring(node):
            continue
        if isinstance(node, ast.ClassDef) and node.name in (ITEM, QUERY):
            continue
        del node.body[0]
        if not node.body and not isinstance(node, ast.Module):
            node.body.append(ast.Pass())


def _has_docstring(node: _Documented) -> bool:
    first = node.body[0] if node.body else None
    return (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )


def _shape(value: object, into: list[str]) -> list[str]:
    """A tree as text, put into a list; empty parts are left out, so that every version of Python
    writes the same."""
    if isinstance(value, ast.AST):
        into.append(f"{type(value).__name__}(")
        for name, part in ast.iter_fields(value):
            if part is not None and part != [] and name not in ("kind", "type_comment", "ctx"):
                into.append(f"{name}=")
                _shape(part, into)
        into.append(")")
    elif isinstance(value, list):
        into.append("[")
        for part in value:
            _shape(part, into)
            into.append(",")
        into.append("]")
    else:
        into.append(ascii(value))
    return into
