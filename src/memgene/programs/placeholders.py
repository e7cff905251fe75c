"""A program with its own names and strings replaced, so that what is left is how it works (M*, fig.
of the program landscape).

Two programs that differ in names, texts, numbers, comments and docstrings alone get one text.
"""

from __future__ import annotations

import ast
import builtins
import sqlite3
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import cache
from re import Match, Pattern
from types import MappingProxyType
from typing import TypeVar

from memgene.programs.renaming import bound_names
from memgene.programs.syntax import BASE, CLASSES, CONSTANTS, UnparsableError, parse

Function = ast.FunctionDef | ast.AsyncFunctionDef
_N = TypeVar("_N", bound=ast.AST)

ROLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "__init__": ("self", "toolkit"),
        "write": ("self", "item", "raw_text"),
        "read": ("self", "query"),
    }
)
"""The methods of the interface and what their arguments are called (M* §2)."""
STRING, NUMBER, KEYWORD = "S", "N", "K"


def placeholders(source: str) -> str:
    """The program's code with a placeholder for whatever its author named.

    | stands for | placeholder |
    |---|---|
    | own classes, functions and methods, attributes and fields, module-level names | `C0`, `F0`,
    `A0`, `M0`, each numbered by first appearance in the file |
    | other names of a function | `V0`, numbered anew in each outermost function |
    | keywords of calls of own functions | `K` |
    | strings, numbers | `'S'`, `N` |

    Left as they are: the interface (M* §2), builtins, imported names (under their own name where
    the program gave them another), and attributes of the toolkit's and of built-in types. Comments
    and docstrings are left out. The text is for comparison; it need not be Python.

    Raises UnparsableError when `source` is no Python or nested too deeply.
    """
    tree = parse(source)
    try:
        _strip_docstrings(tree)
        return ast.unparse(_Replacing(_Own(tree)).visit(tree))
    except RecursionError as error:
        raise UnparsableError("it is nested too deeply") from error


class _Own:
    """Names that a program gives a meaning, by where it does so."""

    def __init__(self, tree: ast.Module) -> None:
        self.imports: dict[str, str] = {}
        self.classes: set[str] = set()
        self.functions: set[str] = set()
        self.attributes: set[str] = set()
        self.module = {n for n in bound_names(_outside(tree)) if n not in CONSTANTS}
        self.toolkits: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    if alias.asname is not None:
                        self.imports[alias.asname] = alias.name
                    else:
                        root = alias.name.partition(".")[0]
                        self.imports[root] = root
            elif isinstance(node, ast.ClassDef):
                self._class(node)
        self.module -= self.imports.keys()
        self.classes |= {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
        self.functions |= {n.name for n in tree.body if isinstance(n, Function)}
        self.classes -= set(CLASSES)
        self.functions = {n for n in self.functions if not _fixed(n) and n not in ROLES}
        self.attributes = {n for n in self.attributes if not _fixed(n)} - self.functions
        self.module -= {*CLASSES, *self.classes, *self.functions}

    def _class(self, node: ast.ClassDef) -> None:
        inside = list(_outside(node))
        methods = [part for part in inside if isinstance(part, Function)]
        self.functions |= {method.name for method in methods}
        self.classes |= {part.name for part in inside if isinstance(part, ast.ClassDef)}
        self.attributes |= set(bound_names(p for p in inside if isinstance(p, ast.Name)))
        for method in methods:
            receiver, *others = _arguments(method) or [""]
            handed = others if (node.name, method.name) == (BASE, "__init__") else []
            for part in ast.walk(method):
                if isinstance(part, ast.Attribute) and _set_on(part, receiver):
                    self.attributes.add(part.attr)
                elif isinstance(part, ast.Assign) and handed:
                    self.toolkits |= set(_kept_as(part, receiver, handed[0]))


class _Replacing(ast.NodeTransformer):
    """Puts the placeholders in, in the order of the text."""

    def __init__(self, own: _Own) -> None:
        self._own = own
        self._given: dict[str, dict[str, str]] = {kind: {} for kind in "CFAM"}
        self._local: dict[str, str] | None = None  # of the outermost function, None outside
        self._bound: frozenset[str] = frozenset()
        self._class: ast.ClassDef | None = None

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str | bytes):
            return ast.Constant(STRING)
        if isinstance(node.value, bool) or not isinstance(node.value, int | float | complex):
            return node
        return ast.Name(NUMBER, ast.Load())

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._name(node.id), node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        receiver = node.value
        imported = isinstance(receiver, ast.Name) and self._is_import(receiver.id)
        value = self.visit(receiver)
        own = isinstance(value, ast.Name) and value.id in ("self", "cls", *CLASSES)
        if imported or (not own and node.attr in _known()):
            return ast.Attribute(value, node.attr, node.ctx)
        return ast.Attribute(value, self._attribute(node.attr), node.ctx)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = self.visit(node.func)
        name = getattr(function, "id", getattr(function, "attr", ""))
        record = name in CLASSES or name in self._given["C"].values() or name == "replace"
        own = name in self._given["F"].values() or name in _numbered_in(self._local or {})
        keywords = []
        for keyword in node.keywords:
            told = keyword.arg
            if told is not None and record:
                told = self._attribute(told)
            elif told is not None and own:
                told = KEYWORD
            keywords.append((told, keyword.value))
        args = [self.visit(each) for each in node.args]
        return ast.Call(function, args, [ast.keyword(k, self.visit(v)) for k, v in keywords])

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        before, self._class = self._class, node
        node.name = self._local_or(node.name, self._own.classes, "C")
        self.generic_visit(node)
        self._class = before
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        if self._local is not None:
            return self.generic_visit(node)
        with_names = frozenset(bound_names(ast.walk(node)))
        return self._inside(node, with_names, {})

    def visit_arg(self, node: ast.arg) -> ast.AST:
        annotation = None if node.annotation is None else self.visit(node.annotation)
        return ast.arg(self._name(node.arg), annotation)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = None if node.name is None else self._name(node.name)
        return self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> ast.AST:
        node.name = None if node.name is None else self._name(node.name)
        return self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> ast.AST:
        node.name = None if node.name is None else self._name(node.name)
        return node

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.AST:
        node.rest = None if node.rest is None else self._name(node.rest)
        return self.generic_visit(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        node.kwd_attrs = [self._attribute(name) for name in node.kwd_attrs]
        return self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> ast.AST:
        return ast.Global([self._name(name) for name in node.names])

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        return ast.Nonlocal([self._name(name) for name in node.names])

    def visit_alias(self, node: ast.alias) -> ast.AST:
        return ast.alias(node.name)

    def _function(self, node: Function) -> ast.AST:
        if self._local is not None:
            node.name = self._name(node.name)
            return self.generic_visit(node)
        if node.name not in ROLES and not _fixed(node.name):
            node.name = self._local_or(node.name, self._own.functions, "F")
        node.decorator_list = self._all(node.decorator_list)
        nodes = list(ast.walk(node))[1:]
        globals_ = {n for part in nodes if isinstance(part, ast.Global) for n in part.names}
        imported = {n for part in nodes if isinstance(part, ast.alias) for n in _names_of(part)}
        bound = frozenset(bound_names(nodes)) - globals_ - imported
        return self._inside(node, bound, self._roles(node))

    def _inside(
        self, node: Function | ast.Lambda, bound: frozenset[str], roles: dict[str, str]
    ) -> ast.AST:
        """The parts of an outermost function, whose names are numbered from 0."""
        self._local, self._bound = roles, bound
        made = self.generic_visit(node)
        self._local, self._bound = None, frozenset()
        return made

    def _roles(self, node: Function) -> dict[str, str]:
        """Arguments that the interface or the language gives a role, by their names here."""
        arguments = _arguments(node)
        if self._class is None or not arguments:
            return {}
        if self._class.name == BASE and node.name in ROLES:
            return dict(zip(arguments, ROLES[node.name], strict=False))
        decorators = {getattr(each, "id", "") for each in node.decorator_list}
        if "staticmethod" in decorators:
            return {}
        return {arguments[0]: "cls" if "classmethod" in decorators else "self"}

    def _name(self, name: str) -> str:
        own = self._own
        if self._local is not None and name in self._bound:
            return self._local.setdefault(name, f"V{len(_numbered_in(self._local))}")
        if name in own.imports:
            return own.imports[name]
        kinds = [("C", own.classes), ("F", own.functions), ("M", own.module)]
        if self._class is not None and not hasattr(builtins, name):
            kinds.append(("A", own.attributes))
        for kind, known in kinds:
            if name in known:
                return self._numbered(kind, name)
        return name

    def _attribute(self, name: str) -> str:
        own = self._own
        if name in own.toolkits:
            return "toolkit"
        for kind, known in (("A", own.attributes), ("F", own.functions), ("C", own.classes)):
            if name in known:
                return self._numbered(kind, name)
        return name

    def _local_or(self, name: str, known: set[str], kind: str) -> str:
        """The placeholder of what is defined here: of a function's local, or of the file's."""
        if self._local is not None:
            return self._name(name)
        return self._numbered(kind, name) if name in known else name

    def _numbered(self, kind: str, name: str) -> str:
        given = self._given[kind]
        return given.setdefault(name, f"{kind}{len(given)}")

    def _is_import(self, name: str) -> bool:
        return name in self._own.imports and not (self._local is not None and name in self._bound)

    def _all(self, nodes: Iterable[_N]) -> list[_N]:
        return [self.visit(node) for node in nodes]


@cache
def _known() -> frozenset[str]:
    """Attributes of built-in types and of what the toolkit hands out."""
    from memgene.programs.guest.bank import BankTool
    from memgene.programs.guest.chroma.client import ChromaClient
    from memgene.programs.guest.chroma.collection import Collection
    from memgene.programs.guest.toolkit import Logger, Toolkit

    types: tuple[type, ...] = (
        *(str, bytes, list, dict, set, tuple, int, float, Counter, deque, Match, Pattern),
        *(datetime, timedelta, sqlite3.Connection, sqlite3.Cursor, sqlite3.Row),
        *(Toolkit, Logger, ChromaClient, Collection, BankTool),
    )
    found = {name for kind in types for name in dir(kind) if not name.startswith("_")}
    return frozenset({*found, "toolkit"})


def _strip_docstrings(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | Function):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
            if not node.body and not isinstance(node, ast.Module):
                node.body.append(ast.Pass())


def _outside(tree: ast.AST) -> Iterator[ast.AST]:
    """What stands in a module or class body outside of functions, lambdas and inner classes; the
    definitions themselves are among it."""
    waiting = list(ast.iter_child_nodes(tree))
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, Function | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _arguments(node: Function) -> list[str]:
    return [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]


def _set_on(node: ast.Attribute, receiver: str) -> bool:
    """Whether the receiver of a method gets this attribute here."""
    on = node.value
    return isinstance(node.ctx, ast.Store) and isinstance(on, ast.Name) and on.id == receiver


def _kept_as(node: ast.Assign, receiver: str, toolkit: str) -> Iterator[str]:
    """Attributes that are the toolkit itself: `self.kit = toolkit`."""
    if isinstance(node.value, ast.Name) and node.value.id == toolkit:
        for target in node.targets:
            if isinstance(target, ast.Attribute) and _set_on(target, receiver):
                yield target.attr


def _names_of(alias: ast.alias) -> tuple[str]:
    return (alias.asname or alias.name.partition(".")[0],)


def _numbered_in(given: Mapping[str, str]) -> list[str]:
    """Placeholders of a function's names, without the roles of its arguments."""
    return [name for name in given.values() if name[:1] == "V"]


def _fixed(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
