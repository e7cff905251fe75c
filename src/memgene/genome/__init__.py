"""What evolves, as data: the genome bundle."""

from memgene.genome.bundle import GenomeBundle
from memgene.genome.head import Score
from memgene.genome.parts import config_files, read_config

__all__ = ["GenomeBundle", "Score", "config_files", "read_config"]
