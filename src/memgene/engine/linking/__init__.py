"""The memory graph: which units are near, share words, or follow one another (CoEvo-Mem §2)."""

from memgene.bank.protocol import RelationKind
from memgene.engine.linking.check import TimeCheck, model_check
from memgene.engine.linking.linker import Linker
from memgene.engine.linking.report import LinkReport
from memgene.engine.linking.settings import LinkSettings
from memgene.engine.linking.walking import neighbourhood

__all__ = [
    "LinkReport",
    "LinkSettings",
    "Linker",
    "RelationKind",
    "TimeCheck",
    "model_check",
    "neighbourhood",
]
