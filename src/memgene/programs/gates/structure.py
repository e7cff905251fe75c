"""Static gate: the names and shapes the interface fixes (M* §2)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from memgene.programs.gates.annotations import ALLOWED_TYPES, is_class_variable, is_field_type
from memgene.programs.gates.finding import Finding
from memgene.programs.syntax import BASE, CLASSES, CONSTANTS, ITEM, QUERY

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_METHODS = {
    "__init__": ("(self, toolkit)", 1, 1),
    "write": ("(self, item: KnowledgeItem, raw_text: str) -> None", 1, 2),
    "read": ("(self, query: Query) -> str", 1, 1),
}
"""How each is written, and the fewest and most arguments after self that it may be called with."""
_MAY_BE_EMPTY = "ALWAYS_ON_KNOWLEDGE"


def check_structure(tree: ast.Module, nodes: Sequence[ast.AST]) -> Iterator[Finding]:
    """Findings about the three classes and the four constants."""
    yield from _constants(tree)
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    decorators = _dataclass_names(nodes)
    for name in CLASSES:
        found = [node for node in classes if node.name == name]
        top = [node for node in tree.body if node in found]
        if not top:
            yield _missing_class(name, found)
        yield from _twice(name, top)
        if top and name == BASE:
            yield from _base(top[-1])
        elif top:
            yield from _record(top[-1], decorators)


def _missing_class(name: str, found: list[ast.ClassDef]) -> Finding:
    how = "a @dataclass" if name in (ITEM, QUERY) else "a class with __init__, write and read"
    if found:
        message = f"{name} is defined inside something else; define it at the top level"
        return Finding("static", "missing-class", message, found[0].lineno)
    return Finding("static", "missing-class", f"there is no class {name}; define {how}", None)


def _twice(name: str, nodes: list[ast.ClassDef] | list[_Function]) -> Iterator[Finding]:
    if len(nodes) > 1:
        lines = ", ".join(str(node.lineno) for node in nodes)
        message = f"{name} is defined {len(nodes)} times (lines {lines}); keep one"
        yield Finding("static", "defined-twice", message, nodes[-1].lineno)


def _constants(tree: ast.Module) -> Iterator[Finding]:
    values: dict[str, ast.expr | None] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
                value = statement.value if len(names) == 1 else None
                values |= {n.id: value for n in names if isinstance(n, ast.Name)}
        elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
            if statement.value is not None and isinstance(statement.target, ast.Name):
                whole = isinstance(statement, ast.AnnAssign)
                values[statement.target.id] = statement.value if whole else None
        elif isinstance(statement, ast.If | ast.Try | ast.With | ast.For | ast.While):
            inside = [n for n in ast.walk(statement) if isinstance(n, ast.Name)]
            values |= {n.id: None for n in inside if isinstance(n.ctx, ast.Store)}
    for name in CONSTANTS:
        if name not in values:
            message = f'there is no constant {name}; assign a string at the top level: {name} = "…"'
            yield Finding("static", "missing-constant", message, None)
        else:
            yield from _constant(name, values[name])


def _constant(name: str, value: ast.expr | None) -> Iterator[Finding]:
    """What can be seen of a value that is written out; others show when the program is loaded."""
    if isinstance(value, ast.Constant):
        if not isinstance(value.value, str):
            message = f"{name} must be a string, not {value.value!r}"
            yield Finding("static", "constant-type", message, value.lineno)
        elif not value.value.strip() and name != _MAY_BE_EMPTY:
            message = f"{name} is empty; say what the agent should do"
            yield Finding("static", "constant-empty", message, value.lineno)
    elif isinstance(value, ast.List | ast.Tuple | ast.Dict | ast.Set | ast.Lambda):
        shown = type(value).__name__.lower()
        message = f"{name} must be a string, not a {shown}; join its parts into one string"
        yield Finding("static", "constant-type", message, value.lineno)


def _record(node: ast.ClassDef, decorators: frozenset[str]) -> Iterator[Finding]:
    if not any(_is_dataclass(decorator, decorators) for decorator in node.decorator_list):
        message = f"{node.name} must be a dataclass; put @dataclass on the line before the class"
        yield Finding("static", "not-a-dataclass", message, node.lineno)
    for statement in node.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        if not is_class_variable(statement.annotation) and not is_field_type(statement.annotation):
            shown = ast.unparse(statement.annotation)
            message = (
                f"{node.name}.{statement.target.id} is of type {shown}; an agent fills fields from "
                f"JSON, so they may be {ALLOWED_TYPES}"
            )
            yield Finding("static", "field-type", message, statement.lineno)


def _dataclass_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Names under which the program knows the decorator."""
    imported = (
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        for alias in node.names
        if alias.name == "dataclass"
    )
    return frozenset({"dataclass", *imported})


def _is_dataclass(decorator: ast.expr, names: frozenset[str]) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(called, ast.Attribute):
        return called.attr == "dataclass"
    return isinstance(called, ast.Name) and called.id in names


def _base(node: ast.ClassDef) -> Iterator[Finding]:
    for name, (written, least, most) in _METHODS.items():
        methods = [m for m in node.body if isinstance(m, _Function) and m.name == name]
        yield from _twice(f"{BASE}.{name}", methods)
        if methods:
            yield from _method(methods[-1], written, least, most)
        elif not node.bases:
            message = f"{BASE} has no method {name}; define def {name}{written}"
            yield Finding("static", "missing-method", message, node.lineno)


def _method(node: _Function, written: str, least: int, most: int) -> Iterator[Finding]:
    if isinstance(node, ast.AsyncFunctionDef):
        message = f"{BASE}.{node.name} is async; define it with plain def"
        yield Finding("static", "async-method", message, node.lineno)
    if node.decorator_list:
        return  # what a decorator makes of it shows when the program is loaded
    given = node.args
    positional = [*given.posonlyargs, *given.args]
    needed = len(positional) - len(given.defaults) - 1
    taken = most if given.vararg else len(positional) - 1
    keywords = [a.arg for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if not d]
    named = keywords == ["raw_text"] and node.name == "write" and needed <= 1
    if not (needed <= most and taken >= least and not keywords) and not named:
        message = f"{BASE}.{node.name} must be callable as def {node.name}{written}"
        yield Finding("static", "signature", message, node.lineno)
