"""Static gate: what a program imports, and which modules it reaches through an import."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator, Sequence
from types import ModuleType

from memgene.programs.allowed import ALLOWED_IMPORTS
from memgene.programs.gates.finding import Finding

_STATEMENTS = frozenset({"__future__"})
_OWN = frozenset({"chromadb"})  # the toolkit's stand-in: only the running program knows its parts
_ADVICE = {
    "os": "a program has no files, processes or environment; keep everything in toolkit.db, "
    "toolkit.chroma or attributes of self",
    "sys": "the interpreter is out of reach; to note something, use toolkit.logger.debug(text)",
    "time": "use datetime",
    "logging": "use toolkit.logger.debug(text)",
    "openai": "use toolkit.llm_completion(messages)",
    "litellm": "use toolkit.llm_completion(messages)",
    "sklearn": "use numpy",
    "scipy": "use numpy",
    "pandas": "use sqlite3 or plain lists",
    "nltk": "use re",
    "abc": "plain classes do",
    "copy": "use list(…), dict(…) or dataclasses.replace",
    "uuid": "count, or use hashlib, so that every run gives the same ids",
    "contextlib": "use try and finally",
    "dateutil": "use datetime.datetime.strptime or re",
}
_ADVICE |= dict.fromkeys(("pathlib", "io", "shutil", "tempfile", "subprocess"), _ADVICE["os"])
_ADVICE |= dict.fromkeys(("pickle", "marshal"), "use json")
_ADVICE |= dict.fromkeys(
    ("requests", "urllib", "socket", "httpx", "http"), "a program has no network"
)
_ADVICE |= dict.fromkeys(
    ("threading", "multiprocessing", "asyncio", "concurrent"),
    "write and read run alone, one after the other",
)
_FORBIDDEN = {
    "numpy": frozenset(
        {"DataSource", "ctypeslib", "f2py", "fromfile", "genfromtxt", "load", "loadtxt", "memmap"}
        | {"save", "savetxt", "savez", "savez_compressed", "testing"}
    ),
}
"""Parts of allowed modules that work on files or reach other modules."""


def check_imports(nodes: Sequence[ast.AST]) -> Iterator[Finding]:
    """Findings about import statements and about attributes of imported modules."""
    modules: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _module(alias.name, node.lineno)
                top = alias.name.partition(".")[0]
                modules[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            yield from _from(node)
    seen: set[tuple[str, int]] = set()
    for node in nodes:
        if isinstance(node, ast.Attribute):
            for finding in _path(node, modules):
                if (finding.message, node.lineno) not in seen:
                    seen.add((finding.message, node.lineno))
                    yield finding


def _module(name: str, line: int) -> Iterator[Finding]:
    top = name.partition(".")[0]
    if top in ALLOWED_IMPORTS or top in _STATEMENTS:
        return
    advice = f"; {_ADVICE[top]}" if top in _ADVICE else ""
    yield Finding(
        "static",
        "import-not-allowed",
        f"`{name}` cannot be imported{advice}. Allowed: {', '.join(ALLOWED_IMPORTS)}",
        line,
    )


def _from(node: ast.ImportFrom) -> Iterator[Finding]:
    if node.level:
        yield Finding(
            "static",
            "import-not-allowed",
            "a program is one file, so nothing can be imported from beside it; "
            "define what you need here",
            node.lineno,
        )
        return
    name = node.module or ""
    refused = list(_module(name, node.lineno))
    yield from refused
    if not refused:
        for alias in node.names:
            yield from _reached(name, [alias.name], node.lineno)


def _path(node: ast.Attribute, modules: dict[str, str]) -> Iterator[Finding]:
    """Findings about `module.a.b`."""
    parts = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    if isinstance(inner, ast.Name) and inner.id in modules:
        yield from _reached(modules[inner.id], parts[::-1], node.lineno)


def _reached(name: str, attributes: list[str], line: int) -> Iterator[Finding]:
    """A finding where the attributes lead out of an allowed module."""
    top = name.partition(".")[0]
    if top not in ALLOWED_IMPORTS or top in _OWN:
        return
    forbidden = _FORBIDDEN.get(top, frozenset()) & {*attributes, *name.split(".")}
    if forbidden:
        path = ".".join([name, *attributes])
        yield Finding(
            "static",
            "module-escape",
            f"`{path}` works on files or reaches other modules, which a program has not; "
            "keep what is stored in toolkit.db or attributes of self",
            line,
        )
        return
    if top == "numpy":
        return  # too heavy to be looked into from here, and its parts are the table above
    found: object = importlib.import_module(top)
    passed = top
    for part in [*name.split(".")[1:], *attributes]:
        found, passed = getattr(found, part, None), f"{passed}.{part}"
        if not isinstance(found, ModuleType):
            return
        inside = found.__name__.partition(".")[0]
        if inside not in ALLOWED_IMPORTS:
            yield Finding(
                "static",
                "module-escape",
                f"`{passed}` is the module `{inside}`, which cannot be used. "
                f"Allowed: {', '.join(ALLOWED_IMPORTS)}",
                line,
            )
            return
