"""The genome bundle: everything that evolved, as a folder or one file. Loading runs no code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from memgene.core import stable_id
from memgene.engine.learned import LearnedMemory
from memgene.genome.head import Head, Origin, Score
from memgene.genome.parts import MEMORY, PROGRAM, PROMPTS, config_files
from memgene.genome.prompts import Prompts, prompts_of
from memgene.genome.reading import read_genome
from memgene.genome.stored import HEAD, in_order, read_stored
from memgene.genome.trust import require_signer
from memgene.genome.writing import write_files
from memgene.retrieval.config import RetrievalConfig


@dataclass(frozen=True)
class GenomeBundle:
    """An evolved memory. `scores` are named `split/metric`; `fingerprints` names the data.

    `program` is the source of an evolved program (None: the bank alone, by `config`); it is text
    here and runs in the sandbox only, where `config` says how its `toolkit.bank` retrieves; so do
    the stages of `config`. `memory` is what learning added to the memory it was learned with; it
    goes on where units of that memory are. Router and stages of `config`, if any, are files of
    their own.

    Equal content gives equal bytes: nothing here depends on the clock, the machine or a path.
    """

    config: RetrievalConfig
    embedder: str
    strategy: str
    parents: tuple[str, ...] = ()
    scores: Mapping[str, Score] = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    program: str | None = None
    memory: LearnedMemory | None = None

    @property
    def id(self) -> str:
        """A hash of what decides the memory's behaviour: the embedder, the levers that are not at
        their defaults, overrides, learned weights, the router, the stages. A lever that is new and
        off by default changes no id (docs/decisions/012). A program counts by its text, what the
        memory learned by its digest."""
        changed = self.config.difference(RetrievalConfig())
        own = {name: value for name, (value, _) in changed.items()}
        program = () if self.program is None else (self.program,)
        memory = () if self.memory is None else ("memory", self.memory.digest)
        return stable_id(json.dumps(own, sort_keys=True), self.embedder, *program, *memory)[:12]

    @property
    def content(self) -> str:
        """The content hash of the bundle, 64 hex digits: of everything in it, as this version
        stores it. It is what a signature is over."""
        return self._head(self._beside()).content

    @property
    def prompts(self) -> Prompts:
        """The instructions that evolved: those of the program, the words of answer styles."""
        return prompts_of(self.config, self.program)

    def files(self) -> dict[str, bytes]:
        """File names and contents, in order."""
        beside = self._beside()
        return {HEAD: self._head(beside).to_bytes(), **beside}

    def save(self, path: Path) -> Path:
        """Write the bundle to a folder, or to one file where the name ends in `.zip` or
        `.memgene`. A bundle that is there is replaced.

        Raises InputError for a folder that holds anything else.
        """
        return write_files(Path(path), self.files())

    @classmethod
    def load(cls, path: Path, *, signed_by: str | None = None) -> GenomeBundle:
        """Read a folder or an archive, of this format or an older one. Nothing of it is run.

        `signed_by`: the public key (`ed25519:…`) that must vouch for it.

        Raises:
            NotFoundError: nothing there, or a file of the bundle is missing.
            StoredConfigError: made by a newer format, damaged, edited since it was stored, or not
                signed by that key.
            MissingDependencyError: `signed_by` without the `sign` extra.
        """
        stored = read_stored(Path(path))
        origin, contents = read_genome(stored)
        if signed_by is not None:
            require_signer(stored, signed_by)
        return cls(
            config=contents.config,
            embedder=origin.embedder,
            strategy=origin.strategy,
            parents=origin.parents,
            scores=origin.scores,
            fingerprints=origin.fingerprints,
            provenance=origin.provenance,
            program=contents.program,
            memory=contents.memory,
        )

    def _head(self, beside: Mapping[str, bytes]) -> Head:
        origin = Origin(
            self.strategy,
            self.embedder,
            self.parents,
            self.scores,
            self.fingerprints,
            self.provenance,
        )
        return Head.of(self.id, origin, beside)

    def _beside(self) -> dict[str, bytes]:
        """Every file but the head, in order."""
        files = config_files(self.config)
        if prompts := self.prompts:
            files[PROMPTS] = prompts.to_bytes()
        if self.program is not None:
            files[PROGRAM] = self.program.encode()
        if self.memory is not None:
            files[MEMORY] = self.memory.to_jsonl().encode()
        return {name: files[name] for name in in_order(files)}
