"""Stages of a retrieval loaded beside each other, in the process that runs them.

It is the StageHost of `toolkit.bank` (its worker is a sandbox already), and what the worker of
`SandboxedStages` calls.
"""

from __future__ import annotations

import linecache
import sys
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import ModuleType
from typing import Any, cast

from memgene.programs.guest.fixed import fixed_datetime, seeded_numpy, seeded_random
from memgene.programs.guest.modules import Importer, builtins_of
from memgene.retrieval.stages.contract import CONTRACT, StageFunction
from memgene.retrieval.stages.host import StageError
from memgene.retrieval.stages.stage import Stage
from memgene.sandbox.wire import HEADER, EncodeError, TooLargeError, decode_own, encode

NOW = datetime(2025, 1, 1, tzinfo=UTC)
"""What stages take for the present."""
MOST_RETURNED = 1 << 20
"""Bytes of JSON that one call may return."""
_STATEFUL = ("chromadb", "sqlite3")


class LoadedStages:
    """Runs stages in this process; only for processes that are locked down.

    Each call runs the stage's source anew, so that nothing of one question is left for the next;
    clock and random numbers stand still. `copies` gives stages copies of their arguments, where
    these are not theirs alone.
    """

    def __init__(self, seed: int = 0, *, copies: bool = True) -> None:
        self._seed = seed
        self._copies = copies
        self._code: dict[str, Any] = {}

    def call(self, stage: Stage, method: str, params: Mapping[str, Any]) -> Any:
        """See `StageHost.call`; an optional function that the source lacks gives None."""
        function = {each.name: each for each in CONTRACT[stage.kind]}.get(method)
        if function is None:
            raise StageError(f"stage {stage.name} is a {stage.kind}, it has no function {method}")
        try:
            found = self._namespace(stage).get(method)
            if found is None and not function.required:
                return None
            given = [params[name] for name in function.parameters]
            return _plain(_function(found, stage, function)(*self._own(given)))
        except (StageError, MemoryError):
            raise
        except Exception as error:
            raise StageError(f"stage {stage.name}, {method}: {_said(error, stage)}") from error

    def _own(self, given: list[Any]) -> Any:
        """Arguments that a stage may change."""
        return _copied(given) if self._copies else given

    def _namespace(self, stage: Stage) -> Mapping[str, Any]:
        """Of the source, run just now."""
        file = f"{stage.name}.py"
        key = f"{stage.name} {stage.digest}"
        if key not in self._code:
            self._code[key] = compile(stage.source, file, "exec", dont_inherit=True)
        lines = stage.source.splitlines(keepends=True)
        linecache.cache[file] = (len(stage.source), None, lines, file)
        module = ModuleType(f"_stage_{stage.name}")
        namespace = vars(module)
        namespace["__builtins__"] = builtins_of(_StageImporter(self._seed), _silent)
        sys.modules[module.__name__] = module  # where dataclasses look up annotations
        exec(self._code[key], namespace)
        return namespace


class _StageImporter(Importer):
    """What stages may import: what programs may, but nothing that keeps state. Stand-ins are made
    when they are imported, for most stages need none."""

    def __init__(self, seed: int) -> None:
        super().__init__({})
        self._makers: dict[str, Callable[[], ModuleType]] = {
            "datetime": lambda: fixed_datetime(NOW),
            "numpy": lambda: seeded_numpy(seed),
            "random": lambda: seeded_random(seed),
        }

    def __call__(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> ModuleType | None:
        top = name.partition(".")[0]
        if top in _STATEFUL:
            raise ImportError(f"a stage cannot import {name!r}: it keeps nothing between calls")
        if top in self._makers:
            self._own[top] = self._makers.pop(top)()
        return super().__call__(name, globals, locals, fromlist, level)


def _function(found: Any, stage: Stage, function: StageFunction) -> Callable[..., Any]:
    if callable(found):
        return cast("Callable[..., Any]", found)
    raise StageError(f"stage {stage.name} must define {function.signature}")


def _silent(*_: object, **__: object) -> None:
    """What stages print is nobody's."""


def _copied(value: Any) -> Any:
    """The stage's own copy: it may change it."""
    if isinstance(value, Mapping):
        return {key: _copied(each) for key, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    """As it comes out of the sandbox's protocol, also where it does not leave this process."""
    try:
        return decode_own(encode(value, MOST_RETURNED)[HEADER.size :])
    except (EncodeError, TooLargeError) as error:
        raise StageError(f"what it returned is not JSON, or too large: {error}") from error


def _said(error: Exception, stage: Stage) -> str:
    """The error and the line of the source it comes from."""
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == f"{stage.name}.py"]
    place = f" (line {own[-1].lineno})" if own else ""
    return f"{type(error).__name__}: {error}{place}"[:1000]
