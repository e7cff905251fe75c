"""Local variables of functions renamed by their order, so that names alone make no difference."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_LOOKED_UP = frozenset({"locals", "vars", "eval", "exec"})
_NAMED: dict[type[ast.AST], str] = {
    ast.Name: "id",
    ast.arg: "arg",
    ast.FunctionDef: "name",
    ast.AsyncFunctionDef: "name",
    ast.ClassDef: "name",
    ast.ExceptHandler: "name",
    ast.MatchAs: "name",
    ast.MatchStar: "name",
    ast.MatchMapping: "rest",
}
"""Where a node keeps the name it binds or uses."""


def rename_locals(tree: ast.Module) -> None:
    """Rename in place, each name of an outermost function the same way all through it.

    Left as they are: names that mean something outside (globals, builtins, imports), attributes,
    names in class bodies, arguments that some call may pass by name, and everything where names
    are looked up as text. So no two programs become equal that differ in more than names.
    """
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    if any(isinstance(call.func, ast.Name) and call.func.id in _LOOKED_UP for call in calls):
        return
    passed = {keyword.arg for call in calls for keyword in call.keywords}
    functions: list[_Function] = []
    kept = {*dir(builtins), *_outside(tree, functions), *filter(None, passed)}
    for function in functions:
        nodes = list(ast.walk(function))[1:]
        fixed = kept | _fixed(nodes, arguments=None in passed)
        new: dict[str, str] = {}
        for name in bound_names(nodes):
            if name not in fixed:
                new.setdefault(name, f"<{len(new)}>")
        _rename(nodes, new)


def _outside(tree: ast.Module, functions: list[_Function]) -> set[str]:
    """Names bound outside of functions or declared global in them; the outermost functions are put
    into `functions`."""
    names: set[str] = set()
    below: list[ast.AST] = [tree]
    while below:
        node = below.pop()
        names.update(bound_names([node]))
        if isinstance(node, _Function):
            functions.append(node)
            names.update(n for s in ast.walk(node) if isinstance(s, ast.Global) for n in s.names)
        else:
            below += ast.iter_child_nodes(node)
    return names


def _fixed(nodes: Iterable[ast.AST], arguments: bool) -> set[str]:
    """Names in a function that must stay: imports, class bodies, and, where some call passes a
    dictionary by name (`f(**values)`), all `arguments`."""
    fixed: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.alias):
            fixed.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.ClassDef):
            fixed.update(bound_names(ast.walk(node)))
        elif isinstance(node, ast.arg) and arguments:
            fixed.add(node.arg)
    return fixed


def bound_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names that nodes give a meaning, in their order."""
    for node in nodes:
        place = _NAMED.get(type(node))
        if isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif place and not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
            name = getattr(node, place)
            if name is not None:
                yield name


def _rename(nodes: Iterable[ast.AST], new: dict[str, str]) -> None:
    for node in nodes:
        place = _NAMED.get(type(node))
        if place:
            name = getattr(node, place)
            setattr(node, place, new.get(name, name))
        elif isinstance(node, ast.Nonlocal):
            node.names = [new.get(name, name) for name in node.names]
