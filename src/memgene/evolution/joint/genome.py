"""What a joint evolution changes: one genome with all its parts (architecture.md §7)."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from memgene.core import RunError, stable_id
from memgene.engine.learned import LearnedMemory
from memgene.evolution.coevolve.state import State
from memgene.evolution.coevolve.steps import Phase
from memgene.evolution.rundir import RunFolder
from memgene.programs.program import Program
from memgene.retrieval.config import RetrievalConfig

PROGRAM_FILE = "program.py"


@dataclass(frozen=True, slots=True)
class Genome:
    """`program` None: the bank alone, by `config`, which carries the router where there is one.
    `learned` is what was learned of the bank's units; `learning` the phases that led to router
    and values, in order."""

    program: Program | None
    config: RetrievalConfig
    learned: LearnedMemory
    learning: tuple[Phase, ...] = ()

    @property
    def digest(self) -> str:
        """A hash of all that decides how it remembers."""
        program = "" if self.program is None else self.program.digest
        return stable_id(program, self.config.digest, self.learned.digest)[:12]

    @property
    def state(self) -> State:
        """The part that router and values learn in."""
        return State(self.config, self.learned)

    @property
    def uses_bank(self) -> bool:
        """Whether configuration and router mean anything to it."""
        return self.program is None or uses_bank(self.program)

    def files(self) -> dict[str, str | bytes]:
        """The genome as files of a candidate."""
        files = self.state.files()
        if self.program is not None:
            files[PROGRAM_FILE] = self.program.source
        return files

    @classmethod
    def load(cls, run: RunFolder, subject: str, learning: tuple[Phase, ...] = ()) -> Genome:
        """The genome that was written as these files. Raises RunError when one is gone."""
        state = State.load(run, subject)
        path = run.folder_of(subject) / PROGRAM_FILE
        program = Program(path.read_bytes().decode("utf-8")) if path.exists() else None
        return cls(program, state.config, state.learned, learning)


def uses_bank(program: Program) -> bool:
    """Whether a program's text names the toolkit's bank."""
    try:
        tree = ast.parse(program.source)
    except SyntaxError as error:
        raise RunError(f"a program of the pool is not Python: {error}") from error
    return any(isinstance(node, ast.Attribute) and node.attr == "bank" for node in ast.walk(tree))
