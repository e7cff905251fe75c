"""Static gate: reflection. The sandbox keeps a program in; this tells its author early and why."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from memgene.programs.gates.finding import Finding

_DUNDER = re.compile(r"__\w+__\Z")
_IN_FORMAT = re.compile(r"\{[^{}]*\.(__\w+__)")
_USUAL = re.compile(
    r"__(?:abs|add|all|and|annotations|bool|bytes|call|contains|dataclass_fields|delitem|divmod|doc"
    r"|enter|eq|exit|float|floordiv|format|ge|getattr|getitem|gt|hash|iadd|init|int|invert|iter|le"
    r"|len|lt|main|match_args|missing|mod|mul|name|ne|neg|new|next|or|pos|post_init|pow|qualname"
    r"|radd|repr|reversed|rmul|round|rsub|setitem|slots|str|sub|truediv|version|xor)__\Z"
)
_ADVICE = {
    "__class__": "use type(x).__name__ or isinstance(x, …)",
    "__dict__": "use dataclasses.asdict(x) for an item or query",
    "__import__": "use an import statement",
    "__file__": "a program has no files",
}
_BUILTINS = {
    "eval": "read data with json.loads, and write code as code",
    "exec": "write code as code",
    "compile": "write code as code (re.compile is fine)",
    "open": "a program has no files; keep everything in toolkit.db or attributes of self",
    "__import__": "use an import statement",
    "input": "nobody is there to ask",
    "breakpoint": "use toolkit.logger.debug(text)",
    "help": "use toolkit.logger.debug(text)",
    "exit": "return from the method, or raise an exception",
    "quit": "return from the method, or raise an exception",
    "globals": "name what you need",
    "locals": "name what you need",
    "vars": "use dataclasses.asdict(x), or name the attributes",
}
_REFLECTION = frozenset(
    {"getattr", "setattr", "delattr", "hasattr", "attrgetter", "methodcaller"},
)


def check_escapes(nodes: Iterable[ast.AST], bound: frozenset[str]) -> Iterator[Finding]:
    """Findings about dunder names and builtins that reach out of a program.

    `bound` are the names the program gives a meaning of its own, anywhere.
    """
    for node in nodes:
        if isinstance(node, ast.Attribute):
            yield from _dunder(node.attr, node.lineno)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _dunder(node.name, node.lineno)
        elif isinstance(node, ast.Name):
            if node.id in _BUILTINS and node.id not in bound:
                yield _builtin(node)
            else:
                yield from _dunder(node.id, node.lineno)
        elif isinstance(node, ast.Call):
            yield from _reflection(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            for name in _IN_FORMAT.findall(node.value):
                yield from _dunder(name, node.lineno)


def _dunder(name: str, line: int) -> Iterator[Finding]:
    if not _DUNDER.match(name) or _USUAL.match(name):
        return
    advice = _ADVICE.get(name, "do without reflection")
    yield Finding("static", "dunder", f"`{name}` is not available in a program; {advice}", line)


def _builtin(node: ast.Name) -> Finding:
    return Finding(
        "static",
        "builtin-not-allowed",
        f"`{node.id}` is not available in a program; {_BUILTINS[node.id]}",
        node.lineno,
    )


def _reflection(node: ast.Call) -> Iterator[Finding]:
    """`getattr(x, "__class__")` and its like."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else None
    name = node.func.id if isinstance(node.func, ast.Name) else name
    if name not in _REFLECTION:
        return
    for argument in node.args:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            for part in argument.value.split("."):
                yield from _dunder(part, argument.lineno)
