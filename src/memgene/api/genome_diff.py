"""Two genomes side by side."""

from __future__ import annotations

from pathlib import Path

from memgene.genome import GenomeBundle
from memgene.genome.comparing import GenomeDiff, compare_bundles

__all__ = ["GenomeDiff", "diff_genomes"]


def diff_genomes(a: str | Path, b: str | Path) -> GenomeDiff:
    """What differs from the genome at `a` to that at `b`: levers, stages, program, prompts, router,
    learning, origin and scores. Nothing of either is run.

    Raises NotFoundError when one is absent, ConfigError when one is damaged.
    """
    return compare_bundles(GenomeBundle.load(Path(a)), GenomeBundle.load(Path(b)))
