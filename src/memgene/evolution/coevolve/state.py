"""What a co-evolution has reached: a configuration with its router, and a memory's learned part."""

from __future__ import annotations

from dataclasses import dataclass

from memgene.core import RunError, stable_id
from memgene.engine.learned import LearnedMemory
from memgene.evolution.rundir import RunFolder
from memgene.genome.parts import config_files
from memgene.retrieval.config import RetrievalConfig

MEMORY_FILE = "memory.jsonl"


@dataclass(frozen=True, slots=True)
class State:
    """`config` carries the router, where there is one; `learned` what was learned of units."""

    config: RetrievalConfig
    learned: LearnedMemory

    @property
    def digest(self) -> str:
        """Name of the state: a hash of all that decides how it retrieves."""
        return stable_id(self.config.digest, self.learned.digest)[:12]

    def files(self) -> dict[str, str | bytes]:
        """The state as files of a candidate."""
        files: dict[str, str | bytes] = {**config_files(self.config)}
        files[MEMORY_FILE] = self.learned.to_jsonl()
        return files

    @classmethod
    def load(cls, run: RunFolder, subject: str) -> State:
        """The state that was written as these files. Raises RunError when one is gone."""
        path = run.folder_of(subject) / MEMORY_FILE
        try:
            learned = LearnedMemory.from_jsonl(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise RunError(f"{path} is gone, though the journal names it") from None
        return cls(run.load_config(subject), learned)
