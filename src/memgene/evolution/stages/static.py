"""The static gate of a stage: what can be said of its source without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from memgene.core import ConfigError
from memgene.programs.allowed import ALLOWED_IMPORTS
from memgene.programs.gates.escapes import check_escapes
from memgene.programs.gates.finding import Finding
from memgene.programs.gates.imports import check_imports
from memgene.programs.gates.names import bound_names, check_names
from memgene.programs.syntax import UnparsableError, parse
from memgene.retrieval.stages.contract import CONTRACT, StageFunction
from memgene.retrieval.stages.stage import Stage

_STATEFUL = ("chromadb", "sqlite3")
"""Programs may import these; a stage keeps nothing between calls."""


def modules_for_stages() -> tuple[str, ...]:
    """What a stage may import, sorted."""
    return tuple(sorted(set(ALLOWED_IMPORTS) - set(_STATEFUL)))


def check_stage_text(source: str, name: str) -> tuple[Finding, ...]:
    """Everything wrong with the text of a stage of this name, by line; what has none comes first.

    Imports and reflection are held to the rules of programs (programs/gates), and nothing that
    keeps state may be imported.
    """
    try:
        tree = parse(source, compiled=True)
    except UnparsableError as error:
        said = f"this is not Python: {error}"
        return (Finding("static", "syntax", said, error.line, error.detail),)
    try:
        stage = Stage(name, source)
    except ConfigError as error:
        return (Finding("static", "declaration", str(error)),)
    nodes = tuple(ast.walk(tree))
    bound = bound_names(nodes)
    found = [
        *_functions(stage, tree),
        *check_imports(nodes),
        *_stateful(nodes),
        *check_escapes(nodes, bound),
        *check_names(tree, nodes, bound),
    ]
    return tuple(sorted(found, key=lambda finding: finding.line or 0))


def _functions(stage: Stage, tree: ast.Module) -> Iterator[Finding]:
    """Findings about the functions that its kind must or may define."""
    for wanted in CONTRACT[stage.kind]:
        made = [
            node
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == wanted.name
        ]
        if made:
            yield from _signature(made[-1], wanted)
        elif wanted.required:
            said = f"a stage of kind {stage.kind} must define {wanted.signature}"
            yield Finding("static", "missing-function", said)


def _signature(
    node: ast.FunctionDef | ast.AsyncFunctionDef, wanted: StageFunction
) -> Iterator[Finding]:
    """A finding where the function cannot be called with the contract's arguments by position."""
    given = node.args
    positional = [*given.posonlyargs, *given.args]
    least, most = len(positional) - len(given.defaults), len(positional)
    count = len(wanted.parameters)
    fits = least <= count and (count <= most or given.vararg is not None)
    needs_names = any(default is None for default in given.kw_defaults)
    if isinstance(node, ast.AsyncFunctionDef) or not fits or needs_names:
        said = f"{node.name} must be callable as {wanted.signature}"
        yield Finding("static", "signature", said, node.lineno)


def _stateful(nodes: Sequence[ast.AST]) -> Iterator[Finding]:
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        for name in names:
            if name.partition(".")[0] in _STATEFUL:
                said = f"`{name}` cannot be imported: a stage keeps nothing between calls"
                yield Finding("static", "import-not-allowed", said, node.lineno)
