"""Memory programs by hand: every gate on one, or one write and one read."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memgene.core import Episode, InputError, Message, Question
from memgene.harness.registry import LoadedModels, find_program
from memgene.programs.gates import Finding, check, check_static
from memgene.programs.program import Program
from memgene.sandbox import Level, probe
from memgene.settings import Settings, load_settings

if TYPE_CHECKING:
    from memgene.embed import Embedder
    from memgene.llm.protocol import LLM
    from memgene.programs.runtime import ProgramRuntime

_T = TypeVar("_T")
_BY_HAND = "by-hand"


@dataclass(frozen=True, slots=True)
class ProgramCheck:
    """What the gates found. `program` is the digest of its text, `sandbox` the isolation it was
    tried in; `tried` is false where the static gate found something, so that it was not run."""

    ok: bool
    program: str
    sandbox: str
    tried: bool
    findings: tuple[Finding, ...]

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "findings": [asdict(finding) for finding in self.findings]}


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """What a program did. `item` and `query` are the values it was given, `text` is what it read,
    each None where nothing was written or read; `seconds` are those of load, write and read."""

    program: str
    sandbox: str
    item: Mapping[str, Any] | None
    query: Mapping[str, Any] | None
    text: str | None
    logs: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "logs": list(self.logs)}


def check_program(
    program: str | Path | Program,
    *,
    sandbox: str | None = None,
    embedder: str | Embedder | None = None,
) -> ProgramCheck:
    """Put a program through every gate: static, and, where that finds nothing, a trial in the
    sandbox, in which a stub answers for the language model.

    `program`: a file, the name of a shipped program, or source text (anything of several lines).
    `sandbox`: the isolation that is required: full, bubblewrap or rlimits (default: as settings
    say, else full).

    Raises:
        ConfigError: there is no such program, or no such level.
        DataError: the file cannot be read.
        SandboxUnavailableError: this machine cannot isolate programs as required.
    """
    from memgene.programs.gates.stub import StubLLM

    subject, settings = _program(program), load_settings({"sandbox": {"level": sandbox}})
    findings = check_static(subject.source)
    if findings:
        level = probe().level.label
        return ProgramCheck(False, subject.digest, level, False, findings)
    with _runtime(settings, embedder, StubLLM()) as runtime:
        findings = check(subject, runtime)
        level = runtime.level.label
    return ProgramCheck(not findings, subject.digest, level, True, findings)


def run_program(
    program: str | Path | Program,
    *,
    write: str | None = None,
    item: Mapping[str, Any] | None = None,
    query: str | Mapping[str, Any] | None = None,
    sandbox: str | None = None,
    embedder: str | Embedder | None = None,
) -> ProgramRun:
    """Load a program with an empty memory, write one text, read once.

    `write`: the text; `item`: the values of its fields (default: the offline agent fills them).
    `query`: a question, from which the offline agent makes the values of the query, or these
    values. `toolkit.llm_completion` asks the model of `[llm.toolkit]`, where there is one.

    Raises:
        GuestError: the program failed.
        InputError: neither a text nor a query is given, an item without a text, no such program.
        SandboxUnavailableError: this machine cannot isolate programs as required.
    """
    from memgene.agents.offline import OfflineAgent
    from memgene.llm.roles import RoleModels

    if write is None and query is None:
        raise InputError("give a text to write, a query to read with, or both")
    if item is not None and write is None:
        raise InputError("an item is written together with a text; give the text too")
    subject, agent = _program(program), OfflineAgent()
    settings = load_settings({"sandbox": {"level": sandbox}})
    seconds: dict[str, float] = {}
    logs: list[str] = []
    text: str | None = None
    with ExitStack() as stack:
        roles = stack.enter_context(RoleModels(settings.llm))
        runtime = stack.enter_context(_runtime(settings, embedder, roles.get("toolkit")))
        running = _timed(seconds, "load", lambda: runtime.start(subject))
        stack.callback(running.close)
        contract = running.contract
        if write is not None:
            if item is None:
                episode = Episode(_BY_HAND, (Message(write),), _BY_HAND)
                told = contract.instructions.knowledge_item
                item = agent.extract(episode, contract.item_schema, told).values
            values = dict(item)
            logs += _timed(seconds, "write", lambda: running.write(values, write))
        if isinstance(query, str):
            question = Question(_BY_HAND, query, _BY_HAND)
            told = contract.instructions.query
            query = agent.formulate(question, contract.query_schema, told).values
        if query is not None:
            asked = dict(query)
            found = _timed(seconds, "read", lambda: running.read(asked))
            text = found.text
            logs += found.logs
        level = runtime.level.label
    return ProgramRun(subject.digest, level, item, query, text, tuple(logs), seconds)


def _program(given: str | Path | Program) -> Program:
    if isinstance(given, Program):
        return given
    if isinstance(given, str) and "\n" in given:
        return Program(given)
    return find_program(str(given))


def _runtime(
    settings: Settings, embedder: str | Embedder | None, llm: LLM | None
) -> ProgramRuntime:
    from memgene.api.opening import DEFAULT_EMBEDDER
    from memgene.programs.runtime import ProgramRuntime

    models = LoadedModels()
    loaded = models.embedder(embedder or settings.embedder or DEFAULT_EMBEDDER)
    return ProgramRuntime(
        llm=llm,
        embedder=loaded,
        words=models.words(loaded),
        require=Level.named(settings.sandbox.level),
        chroma=settings.sandbox.chroma,
    )


def _timed(seconds: dict[str, float], name: str, call: Callable[[], _T]) -> _T:
    started = time.perf_counter()
    result = call()
    seconds[name] = time.perf_counter() - started
    return result
