"""What evolves, as data: the genome bundle."""

from memgene.genome.bundle import GenomeBundle, Score

__all__ = ["GenomeBundle", "Score"]
