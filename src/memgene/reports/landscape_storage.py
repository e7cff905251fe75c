"""How a program stores and finds what it knows, told from its syntax tree alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import StrEnum

from memgene.programs.syntax import parse


class Resource(StrEnum):
    """What a program can keep or find knowledge with, beside plain Python values."""

    BANK = "bank"
    VECTORS = "vectors"
    SQL = "SQL"
    LLM = "LLM"


class Storage(StrEnum):
    """Storage architecture (M*, program landscape), with the bank of the toolkit, plain values and
    a database that a model reads from beside the five of the paper."""

    BANK = "bank"
    SQL_VECTOR = "SQL + vectors"
    SQL_LLM = "SQL + LLM"
    SQL = "SQL only"
    VECTOR_LLM = "vectors + LLM"
    VECTOR = "vectors only"
    LLM = "LLM-centric"
    PLAIN = "plain lists"


_TOOLS = {
    "bank": Resource.BANK,
    "chroma": Resource.VECTORS,
    "embed": Resource.VECTORS,
    "db": Resource.SQL,
    "llm_completion": Resource.LLM,
}
_MODULES = {"sqlite3": Resource.SQL, "chromadb": Resource.VECTORS}
_OPENED = {Resource.SQL: "connect", Resource.VECTORS: "Client"}


def storage_of(source: str) -> Storage:
    """The architecture by what the program uses; the bank counts whatever stands beside it, SQL
    with vectors whether or not a model is asked too.

    Raises UnparsableError when `source` is no Python.
    """
    used = resources_of(source)
    if Resource.BANK in used:
        return Storage.BANK
    asks = Resource.LLM in used
    if Resource.SQL in used:
        if Resource.VECTORS in used:
            return Storage.SQL_VECTOR
        return Storage.SQL_LLM if asks else Storage.SQL
    if Resource.VECTORS in used:
        return Storage.VECTOR_LLM if asks else Storage.VECTOR
    return Storage.LLM if asks else Storage.PLAIN


def resources_of(source: str) -> frozenset[Resource]:
    """What of the toolkit (or of sqlite3, chromadb) a program works with. A resource that is only
    given a name does not count.

    Raises UnparsableError when `source` is no Python.
    """
    tree = parse(source)
    names = _aliases(tree)
    return frozenset(_used(tree, names))


def _aliases(tree: ast.Module) -> dict[str, str]:
    """What stands for the toolkit or a resource: names and attributes (`.name`), by assignment,
    however often it is handed on."""
    names = {"toolkit": "toolkit", ".toolkit": "toolkit"}
    assigned = [
        (target, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "KnowledgeBase":
            names.update(_handed(node))
    before = 0
    while len(names) > before:
        before = len(names)
        for target, value in assigned:
            told, place = _told(value, names), _place(target)
            if told and place:
                names.setdefault(place, told)
    return names


def _handed(base: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """The argument of the constructor is the toolkit, whatever it is called."""
    for node in base.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            arguments = [*node.args.posonlyargs, *node.args.args]
            if len(arguments) > 1:
                yield arguments[1].arg, "toolkit"


def _told(node: ast.AST, names: dict[str, str]) -> str:
    """What an expression is: `toolkit`, a resource's attribute, or nothing of interest."""
    if isinstance(node, ast.Attribute) and _told(node.value, names) == "toolkit":
        return node.attr if node.attr in _TOOLS else ""
    return names.get(_place(node), "")


def _place(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return f".{node.attr}" if isinstance(node, ast.Attribute) else ""


def _used(tree: ast.Module, names: dict[str, str]) -> Iterator[Resource]:
    """Resources that are called, asked for an attribute, or passed on."""
    for node in ast.walk(tree):
        worked_with: list[ast.AST] = []
        if isinstance(node, ast.Attribute):
            worked_with = [node.value]
        elif isinstance(node, ast.Call):
            worked_with = [node.func, *node.args, *(k.value for k in node.keywords)]
            opened = node.func
            if isinstance(opened, ast.Attribute) and isinstance(opened.value, ast.Name):
                resource = _MODULES.get(opened.value.id)
                if resource is not None and _OPENED[resource] in opened.attr:
                    yield resource
        for part in worked_with:
            told = _told(part, names)
            if told in _TOOLS:
                yield _TOOLS[told]
