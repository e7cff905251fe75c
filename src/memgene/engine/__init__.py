"""One memory at work: writing units with their vectors, and reading rankings with reasons."""

from memgene.engine.engine import MemoryEngine
from memgene.engine.reading import Retrieval, compose, compose_hits
from memgene.engine.reextraction import reextract
from memgene.engine.remembering import Remembered
from memgene.engine.writing import reembed, units_from_episode

__all__ = [
    "MemoryEngine",
    "Remembered",
    "Retrieval",
    "compose",
    "compose_hits",
    "reembed",
    "reextract",
    "units_from_episode",
]
