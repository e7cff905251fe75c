"""Static gate: names, methods and fields that are used and defined nowhere.

Each is certain to fail when its line runs, which a trial run may never do. A name bound anywhere
counts as defined everywhere, so that what is found is never a matter of order or scope.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence

from memgene.programs.allowed import ALLOWED_IMPORTS
from memgene.programs.gates.finding import Finding
from memgene.programs.syntax import BASE, ITEM, QUERY

_AT_HAND = frozenset({*ALLOWED_IMPORTS, "dataclass", "field", "__name__", "__doc__", "__file__"})
"""What stands in the namespace of a program before it runs, as in the published system."""
_PROBES = frozenset({"hasattr", "getattr", "setattr"})


def bound_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Every name the program gives a meaning, in whatever scope."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.Global | ast.Nonlocal):
            names.update(node.names)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
        elif type(node).__name__ in ("TypeVar", "ParamSpec", "TypeVarTuple"):  # from Python 3.12 on
            names.add(getattr(node, "name", ""))
    return frozenset(names)


def check_names(
    tree: ast.Module, nodes: Sequence[ast.AST], bound: frozenset[str]
) -> Iterator[Finding]:
    """Findings about undefined names, methods and attributes of self, and fields."""
    yield from _undefined(nodes, bound)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == BASE:
            yield from _self(node)
            yield from _fields(node, tree, "write", ITEM)
            yield from _fields(node, tree, "read", QUERY)


def _undefined(nodes: Iterable[ast.AST], bound: frozenset[str]) -> Iterator[Finding]:
    if "*" in bound:
        return
    known = bound | _AT_HAND | frozenset(dir(builtins))
    seen: set[str] = set()
    for node in nodes:
        if not isinstance(node, ast.Name) or node.id in known | seen:
            continue
        seen.add(node.id)
        message = f"`{node.id}` is used but nowhere defined or imported"
        yield Finding("static", "undefined-name", message, node.lineno)


def _self(node: ast.ClassDef) -> Iterator[Finding]:
    """Attributes of self that nothing sets. A class that inherits or computes them is let be."""
    methods = [m for m in node.body if isinstance(m, ast.FunctionDef)]
    if node.bases or any(m.name in ("__getattr__", "__getattribute__") for m in methods):
        return
    uses = [use for m in methods for use in _attributes(m, _argument(m, 0))]
    probed = set().union(*(_probed(m, _argument(m, 0)) for m in methods))
    if None in probed:
        return
    known = {*_members(node), *probed, *dir(object), "__dict__"}
    known |= {use.attr for use in uses if not isinstance(use.ctx, ast.Load)}
    seen: set[str] = set()
    for use in uses:
        if use.attr in known | seen:
            continue
        seen.add(use.attr)
        message = f"`self.{use.attr}` is used, but {BASE} neither defines nor sets it"
        yield Finding("static", "undefined-attribute", message, use.lineno)


def _fields(base: ast.ClassDef, tree: ast.Module, method: str, record: str) -> Iterator[Finding]:
    """Attributes of an item or query that are no field of its class."""
    made = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == record]
    found = [m for m in base.body if isinstance(m, ast.FunctionDef) and m.name == method]
    if not made or not found or made[-1].bases:
        return
    fields, function = _members(made[-1]), found[-1]
    name = _argument(function, 1)
    if name is None or _rebound(function, name):
        return
    probed = _probed(function, name)
    if None in probed:
        return
    seen: set[str] = set()
    for use in _attributes(function, name):
        if use.attr in {*fields, *probed, *dir(object), "__dict__", "__dataclass_fields__"} | seen:
            continue
        seen.add(use.attr)
        shown = ", ".join(fields) or "none"
        message = f"`{name}.{use.attr}` is used, but {record} has no such field (it has: {shown})"
        yield Finding("static", "unknown-field", message, use.lineno)


def _members(node: ast.ClassDef) -> list[str]:
    """Names a class body defines."""
    names = list[str]()
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(statement.name)
        else:
            stored = (n for n in ast.walk(statement) if isinstance(n, ast.Name))
            names += [n.id for n in stored if isinstance(n.ctx, ast.Store)]
    return names


def _argument(node: ast.FunctionDef, place: int) -> str | None:
    """The name of an argument by place; None for a static or class method."""
    decorators = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
    arguments = [*node.args.posonlyargs, *node.args.args]
    if decorators & {"staticmethod", "classmethod"} or len(arguments) <= place:
        return None
    return arguments[place].arg


def _attributes(node: ast.FunctionDef, name: str | None) -> list[ast.Attribute]:
    """Attributes of a name, but for functions inside to which it means something else."""
    found: list[ast.Attribute] = []
    below = list(ast.iter_child_nodes(node))
    while below:
        inner = below.pop()
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            given = inner.args
            if name in {a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)}:
                continue
        below += ast.iter_child_nodes(inner)
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
            found += [inner] if inner.value.id == name else []
    return sorted(found, key=lambda use: (use.lineno, use.col_offset))


def _rebound(node: ast.FunctionDef, name: str) -> bool:
    """Whether the argument may come to mean something else."""
    stores = any(
        isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
        for n in ast.walk(node)
    )
    return stores or sum(isinstance(n, ast.arg) and n.arg == name for n in ast.walk(node)) > 1


def _probed(node: ast.FunctionDef, name: str | None) -> set[str | None]:
    """Attributes asked for or set by their name in quotes; None among them: any could be."""
    names: set[str | None] = set()
    for call in ast.walk(node):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            continue
        if call.func.id not in _PROBES or len(call.args) < 2:
            continue
        target, attribute = call.args[:2]
        if isinstance(target, ast.Name) and target.id == name:
            constant = isinstance(attribute, ast.Constant) and isinstance(attribute.value, str)
            if constant:
                names.add(attribute.value)  # type: ignore[attr-defined]
            elif call.func.id == "setattr":
                names.add(None)
    return names
