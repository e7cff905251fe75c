"""From source text to a program at work: run in a module of its own, checked against M* §2."""

from __future__ import annotations

import inspect
import linecache
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import ModuleType
from typing import Any

from memgene.programs.allowed import ALLOWED_IMPORTS
from memgene.programs.guest.database import guarded_sqlite3
from memgene.programs.guest.describe import ProgramError, Record, record_of
from memgene.programs.guest.fixed import fixed_datetime, seeded_numpy, seeded_random
from memgene.programs.guest.modules import Importer, builtins_of
from memgene.programs.guest.toolkit import Toolkit

FILE = "program.py"
MODULE = "_memory_program"
INSTRUCTIONS = {
    "knowledge_item": "INSTRUCTION_KNOWLEDGE_ITEM",
    "query": "INSTRUCTION_QUERY",
    "response": "INSTRUCTION_RESPONSE",
    "always_on": "ALWAYS_ON_KNOWLEDGE",
}


@dataclass(frozen=True, slots=True)
class Loaded:
    """A program whose knowledge base is made and empty."""

    item: Record
    query: Record
    instructions: Mapping[str, str]
    write: Callable[[Any, str], object]
    read: Callable[[Any], object]

    def described(self) -> dict[str, Any]:
        """Its contract, as plain JSON."""
        return {
            "item": self.item.described(),
            "query": self.query.described(),
            "instructions": dict(self.instructions),
        }


def load(source: str, toolkit: Toolkit, seed: int, now: datetime, chromadb: ModuleType) -> Loaded:
    """Run a program's source and make its knowledge base.

    Raises ProgramError when something the interface asks for is missing or of the wrong kind, and
    whatever the program itself raises.
    """
    namespace = _run(source, toolkit, seed, now, chromadb)
    item = record_of(namespace.get("KnowledgeItem"), "KnowledgeItem", namespace)
    query = record_of(namespace.get("Query"), "Query", namespace)
    instructions = {part: _constant(namespace, name) for part, name in INSTRUCTIONS.items()}
    kind = namespace.get("KnowledgeBase")
    if not isinstance(kind, type):
        raise ProgramError("there is no class KnowledgeBase; a memory program defines it")
    for method in ("write", "read"):
        if not callable(getattr(kind, method, None)):
            raise ProgramError(f"KnowledgeBase has no method {method}")
    base = kind(toolkit)
    return Loaded(item, query, instructions, _writer(base.write), base.read)


def _run(
    source: str, toolkit: Toolkit, seed: int, now: datetime, chromadb: ModuleType
) -> Mapping[str, Any]:
    """The namespace after the source ran in it; what may be imported stands there already."""
    importer = Importer(
        {
            "chromadb": chromadb,
            "datetime": fixed_datetime(now),
            "numpy": seeded_numpy(seed),
            "random": seeded_random(seed),
            "sqlite3": guarded_sqlite3(),
        }
    )
    module = ModuleType(MODULE)
    namespace = vars(module)
    namespace.update({name: importer.top(name) for name in ALLOWED_IMPORTS})
    namespace.update(
        dataclass=namespace["dataclasses"].dataclass, field=namespace["dataclasses"].field
    )
    namespace["__builtins__"] = builtins_of(importer, toolkit.logger.show)
    sys.modules[MODULE] = module  # where dataclasses and typing look up annotations in quotes
    linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
    exec(compile(source, FILE, "exec", dont_inherit=True), namespace)
    return namespace


def _constant(namespace: Mapping[str, Any], name: str) -> str:
    value = namespace.get(name)
    if not isinstance(value, str):
        found = "missing" if name not in namespace else f"a {type(value).__name__}"
        raise ProgramError(f"{name} must be a string at module level; it is {found}")
    if not value.strip() and name.startswith("INSTRUCTION_"):
        raise ProgramError(f"{name} is empty; say what the agent should do")
    return value


def _writer(write: Callable[..., object]) -> Callable[[Any, str], object]:
    """`write` as called with an item and the raw text, whether or not it takes the latter."""
    signature = inspect.signature(write)
    for call in (_both, _by_name, _item_only):
        args, named = call(None, "")
        try:
            signature.bind(*args, **named)
        except TypeError:
            continue
        return _adapted(write, call)
    raise ProgramError(f"KnowledgeBase.write{signature} cannot be called with (item, raw_text)")


_Call = tuple[tuple[Any, ...], dict[str, str]]


def _adapted(
    write: Callable[..., object], call: Callable[[Any, str], _Call]
) -> Callable[[Any, str], object]:
    def adapted(item: Any, raw_text: str) -> object:
        args, named = call(item, raw_text)
        return write(*args, **named)

    return adapted


def _both(item: Any, raw_text: str) -> _Call:
    return (item, raw_text), {}


def _by_name(item: Any, raw_text: str) -> _Call:
    return (item,), {"raw_text": raw_text}


def _item_only(item: Any, raw_text: str) -> _Call:
    return (item,), {}
