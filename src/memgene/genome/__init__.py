"""What evolves, as data: the genome bundle."""

from memgene.genome.bundle import GenomeBundle, Score
from memgene.genome.parts import read_config

__all__ = ["GenomeBundle", "Score", "read_config"]
