"""The smoke gate: a program is loaded and tried with made-up values, in the sandbox (M* §7.2)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from memgene.programs.gates import dummies
from memgene.programs.gates.finding import Finding, Gate
from memgene.programs.gates.stub import StubLLM
from memgene.sandbox.failure import FailureKind, GuestError

if TYPE_CHECKING:
    from memgene.programs.program import Program
    from memgene.programs.runtime import ProgramRuntime, RunningProgram

_LIMITS = frozenset(
    {FailureKind.TIME, FailureKind.MEMORY, FailureKind.OUTPUT, FailureKind.BUDGET},
)
_MOST = 6
_FRAME = re.compile(r'^ *File "program\.py", line (\d+)', re.MULTILINE)
_ADVICE = (
    (
        re.compile(r"fts5|malformed MATCH|no such column|unterminated string|unknown special"),
        "Text from a query is no FTS5 expression: quotes, -, *, :, AND, OR and NOT have a meaning "
        "there. Take its words with re.findall(r'\\w+', text), put each in double quotes, join "
        'them with " OR ", and return early when there is no word.',
    ),
    (
        re.compile(r"UNIQUE constraint failed|[Ii][Dd]s? .*(already exist|duplicate|unique)"),
        "Equal texts may be written twice: count writes for ids, or use INSERT OR IGNORE or "
        "collection.upsert.",
    ),
)


def check_smoke(program: Program, runtime: ProgramRuntime) -> tuple[Finding, ...]:
    """What goes wrong when the program is tried: on an empty memory, after one write, after several
    with empty and odd values, with queries of odd values, and in a second memory.

    Where the runtime has a language model, `toolkit.llm_completion` is answered by `StubLLM`; it
    never asks the real one.

    Raises:
        ModelError: the runtime's embedder failed; no finding about the program.
    """
    trial = _Trial(program, runtime)
    trial.run()
    return tuple(trial.findings.values())


class _Trial:
    """The steps of a trial, and what was found; one finding for each line that fails."""

    def __init__(self, program: Program, runtime: ProgramRuntime) -> None:
        self._program = program
        self._runtime = runtime
        self.findings: dict[tuple[str, ...], Finding] = {}

    def run(self) -> None:
        """Two memories, one after the other; the second only where the first stayed alive."""
        for use in (self._first, self._second):
            running = self._started()
            if running is None:
                return
            try:
                use(running)
            finally:
                running.close()
            if self.findings:
                return

    def _started(self) -> RunningProgram | None:
        llm = StubLLM() if self._runtime.has_llm else None
        try:
            return self._runtime.start(self._program, llm=llm)
        except GuestError as error:
            self._note(error, "loading the program")
            return None

    def _first(self, running: RunningProgram) -> None:
        item, query = running.contract.item_schema, running.contract.query_schema
        asked = dummies.plain(query)
        self._read(running, asked, "of an empty memory")
        texts = dummies.episodes()
        self._write(running, dummies.plain(item), texts[0], "the first write")
        self._read(running, asked, "after one write")
        for number, text in enumerate(texts):
            values = dummies.plain(item, number)
            self._write(running, values, text, f"a write of {len(text)} characters")
        self._write(running, dummies.empty(item), texts[1], "a write of an empty item")
        for text in dummies.ODD_TEXTS[2:]:
            values = dummies.odd(item, text)
            self._write(running, values, texts[0], f"write({dummies.shown(values)})")
        self._read(running, asked, "after many writes")
        for values in (*(dummies.odd(query, t) for t in dummies.ODD_TEXTS), dummies.empty(query)):
            self._read(running, values, "after many writes")

    def _second(self, running: RunningProgram) -> None:
        values = dummies.plain(running.contract.item_schema)
        self._write(running, values, dummies.episodes()[0], "a write to a second memory")
        self._read(running, dummies.plain(running.contract.query_schema), "of a second memory")

    def _write(
        self, running: RunningProgram, values: dict[str, object], text: str, what: str
    ) -> None:
        self._tried(running, lambda: running.write(values, text), what)

    def _read(self, running: RunningProgram, values: dict[str, object], when: str) -> None:
        what = f"read({dummies.shown(values)}) {when}"
        self._tried(running, lambda: running.read(values), what)

    def _tried(self, running: RunningProgram, call: Callable[[], object], what: str) -> None:
        if not running.alive or len(self.findings) >= _MOST:
            return
        try:
            call()
        except GuestError as error:
            self._note(error, what)

    def _note(self, error: GuestError, what: str) -> None:
        frames = list(_FRAME.finditer(error.detail))
        line = int(frames[-1][1]) if frames else None
        kind = error.message.split(":")[0] if error.kind is FailureKind.RAISED else ""
        key = (error.where, error.kind, kind, str(line))
        message = f"{what} failed: {error.message.removeprefix('ProgramError: ')}"
        self.findings.setdefault(
            key,
            Finding(
                _gate(error.kind),
                f"{error.where}-{error.kind}",
                message + _advice(error),
                line,
                error.detail[frames[0].start() :].rstrip() if frames else "",
            ),
        )


def _gate(kind: FailureKind) -> Gate:
    return "limits" if kind in _LIMITS else "smoke"


def _advice(error: GuestError) -> str:
    said = f"{error.message}\n{error.detail}"
    return next((f". {advice}" for pattern, advice in _ADVICE if pattern.search(said)), "")
