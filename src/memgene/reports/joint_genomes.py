"""Files of the genomes of a joint evolution: their own, or those they were made from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memgene.evolution.coevolve.state import MEMORY_FILE
from memgene.evolution.programs.patch import patch_of
from memgene.evolution.rundir import BEST
from memgene.genome import read_config
from memgene.reports.joint_model import GenomeChange
from memgene.reports.joint_nodes import inner_nodes
from memgene.reports.joint_reading import JointRecord
from memgene.reports.model import Change
from memgene.reports.numbers import value
from memgene.reports.recorded import candidate_folder
from memgene.retrieval.config import RetrievalConfig

PROGRAM, GENOME = "program.py", "retrieval.toml"
_LEARNED = ("ranker", "router")


class Genomes:
    """Genomes by name. A pass changes a part of one and may write that part alone: what a genome
    does not have is that of the genome it was made from."""

    def __init__(self, folder: Path, record: JointRecord) -> None:
        self._folder = folder
        self._best = record.best
        self._parents: dict[str, str] = {}
        self._places: dict[str, Path] = {}
        for turn in record.turns:
            for node in inner_nodes(turn):
                self._parents[node.id] = node.parent or turn.began.parent
            told = turn.finished
            if told is None or told.candidate == turn.began.parent:
                continue
            self._parents.setdefault(told.candidate, turn.began.parent)
            inside = folder / "passes" / turn.part / "candidates" / told.candidate
            if inside.is_dir():
                self._places[told.candidate] = inside

    def path(self, name: str, file: str) -> Path | None:
        """Where a genome's file lies, or that of its nearest ancestor that has one."""
        for each in self._line(name):
            path = self._places.get(each, candidate_folder(self._folder, each)) / file
            if path.exists():
                return path
        return None

    def program(self, name: str) -> str | None:
        """Source of a genome's program; None where it has none."""
        path = self.path(name, PROGRAM)
        return None if path is None else path.read_text(encoding="utf-8")

    def config(self, name: str) -> RetrievalConfig:
        """How a genome retrieves; the default where no file tells otherwise."""
        path = self.path(name, GENOME)
        return RetrievalConfig() if path is None else read_config(path)

    def change(self, a: str, b: str) -> GenomeChange:
        """From one genome to another; files of `best/` count for the best one."""
        before, after = self.config(a), self._promoted_config(b)
        levers, learned = [], []
        for lever, (old, new) in before.difference(after).items():
            if lever in _LEARNED:
                learned.append(f"The {lever} was {_digest(old)} and is {_digest(new)}.")
            else:
                levers.append(Change(lever, value(old), value(new)))
        memory = self._folder / BEST / MEMORY_FILE
        if b == self._best and memory.exists():
            learned.append(f"What was learned of memories is in {BEST}/{MEMORY_FILE}.")
        old_program, new_program = self.program(a) or "", self._promoted_program(b) or ""
        return GenomeChange(
            a=a,
            b=b,
            patch=patch_of(a, old_program, b, new_program),
            levers=tuple(levers),
            learned=tuple(learned),
        )

    def _line(self, name: str) -> Iterator[str]:
        seen: set[str] = set()
        while name and name not in seen:
            seen.add(name)
            yield name
            name = self._parents.get(name, "")

    def _promoted_config(self, name: str) -> RetrievalConfig:
        path = self._folder / BEST / GENOME
        return read_config(path) if name == self._best and path.exists() else self.config(name)

    def _promoted_program(self, name: str) -> str | None:
        path = self._folder / BEST / PROGRAM
        if name == self._best and path.exists():
            return path.read_text(encoding="utf-8")
        return self.program(name)


def _digest(told: object) -> str:
    return "none" if told is None else str(told)
