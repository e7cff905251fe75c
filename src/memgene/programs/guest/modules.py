"""What a program may import, and the builtins it sees.

This gives clear errors and repeatable runs; what keeps a program in is the sandbox.
"""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from memgene.programs.allowed import ALLOWED_IMPORTS

_AT_THE_PROMPT = ("copyright", "credits", "exit", "help", "license", "quit")
_REMOVED = frozenset(
    ("breakpoint", "compile", "eval", "exec", "input", "open", *_AT_THE_PROMPT),
)
# What NumPy and C code import when they first need it, when files can no longer be read.
_BEHIND = (
    "_strptime",
    "collections.abc",
    "numpy.char",
    "numpy.fft",
    "numpy.linalg",
    "numpy.ma",
    "numpy.polynomial",
    "numpy.random",
    "numpy.rec",
    "numpy.strings",
    "numpy.typing",
    "sqlite3.dump",
    "time",
)


def load_allowed() -> None:
    """Import everything that programs may import, where it is not a stand-in."""
    for name in (*ALLOWED_IMPORTS, *_BEHIND):
        if name != "chromadb":
            importlib.import_module(name)


class Importer:
    """The `__import__` of a program. `own` are the modules it gets in place of the real ones."""

    def __init__(self, own: Mapping[str, ModuleType]) -> None:
        self._own = dict(own)

    def __call__(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> ModuleType | None:
        if isinstance(fromlist, list):
            # Not an import statement: C code that was called by the program imports what it needs
            # (`strftime` wants `time`), and takes the module from sys.modules.
            importlib.import_module(name)
            return None
        top = name.partition(".")[0]
        if level or top not in (*ALLOWED_IMPORTS, "__future__"):
            raise ImportError(
                f"a memory program cannot import {'.' * level + name!r}; it may import "
                + ", ".join(ALLOWED_IMPORTS)
            )
        if top not in self._own:
            return builtins.__import__(name, {}, {}, fromlist, 0)
        return self._stand_in(name) if fromlist else self._own[top]

    def top(self, name: str) -> ModuleType:
        """A module without dots, as the program sees it."""
        return self._own.get(name) or importlib.import_module(name)

    def _stand_in(self, name: str) -> ModuleType:
        """The innermost of `a.b.c`, found as attributes of the stand-in for `a`."""
        top, *rest = name.split(".")
        found: Any = self._own[top]
        for part in rest:
            found = getattr(found, part, None)
        if isinstance(found, ModuleType):
            return found
        raise ImportError(f"there is no module {name!r} for memory programs")


def builtins_of(importer: Importer, show: Callable[..., None]) -> dict[str, Any]:
    """The builtins of a program: no files, no `eval`; `print` becomes `show`."""
    kept = {name: value for name, value in vars(builtins).items() if name not in _REMOVED}
    return {**kept, "__import__": importer, "print": show}
