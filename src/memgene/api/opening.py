"""Which configuration and embedder a `Memory` works with, and whether they fit its bank."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memgene.api import checking
from memgene.bank.protocol import Bank
from memgene.core import EmbedderMismatchError, InputError
from memgene.embed import Embedder, load_embedder
from memgene.retrieval.config import RetrievalConfig
from memgene.settings import load_settings

if TYPE_CHECKING:
    from memgene.genome import GenomeBundle

DEFAULT_EMBEDDER = "static"


@dataclass(frozen=True, slots=True)
class Recipe:
    """A configuration, and the genome it came from, if any."""

    config: RetrievalConfig
    genome: GenomeBundle | None = None

    def embedder(self, asked: str | Embedder | None) -> str | Embedder:
        """The embedder to use: the one asked for, else the genome's, the settings', the default.

        Raises EmbedderMismatchError when another than the genome's is asked for.
        """
        if asked is not None and not callable(getattr(asked, "embed", None)):
            checking.text(asked, "embedder")
        if self.genome is None:
            return asked or load_settings().embedder or DEFAULT_EMBEDDER
        if asked is None or asked == self.genome.embedder:
            return self.genome.embedder
        evolved, other = load(self.genome.embedder), load(asked)
        if other.name != evolved.name:
            raise EmbedderMismatchError(
                f"genome {self.genome.id} evolved with embedder {self.genome.embedder} "
                f"({evolved.name}), not with {other.name}; leave embedder= out, or evolve again "
                "with that one"
            )
        return other


def recipe(genome: str | Path | GenomeBundle | None, config: RetrievalConfig | None) -> Recipe:
    """What was asked for. Raises InputError when a genome and a configuration are given."""
    if config is not None:
        checking.instance(config, RetrievalConfig, "config", "a RetrievalConfig")
    if genome is None:
        return Recipe(config or RetrievalConfig())
    if config is not None:
        raise InputError("give either genome= or config=: a genome carries its configuration")
    from memgene.genome import GenomeBundle

    checking.instance(genome, (str, Path, GenomeBundle), "genome", "a path or a GenomeBundle")
    bundle = genome if isinstance(genome, GenomeBundle) else GenomeBundle.load(Path(genome))
    return Recipe(bundle.config, bundle)


def chosen_for_bank(config: RetrievalConfig, genome: GenomeBundle | None) -> RetrievalConfig:
    """The configuration of the engine over the bank: where a program searches, the genome's is for
    the program's own bank, and the engine writes only."""
    return config if genome is None or genome.program is None else RetrievalConfig()


def load(embedder: str | Embedder) -> Embedder:
    """An embedder by name, or the object itself."""
    return load_embedder(embedder) if isinstance(embedder, str) else embedder


def check_fit(bank: Bank, embedder: Embedder, genome: GenomeBundle | None) -> None:
    """Refuse a bank whose vectors were made by another embedder.

    Raises EmbedderMismatchError, naming both and what mends it.
    """
    stored = bank.embedder()
    if stored is None or (stored.name, stored.dimension) == (embedder.name, embedder.dimension):
        return
    whose = f"genome {genome.id} needs" if genome else "this memory uses"
    raise EmbedderMismatchError(
        f"the vectors in {bank.location} were made by {stored.name}, {whose} {embedder.name}; "
        f"open it with the embedder it has, or replace its vectors: "
        f"memgene reembed --db {bank.location} --embedder NAME"
    )
