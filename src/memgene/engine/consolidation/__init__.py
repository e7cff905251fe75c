"""Keeping a bank in order: duplicates, changed values, decay, reinforcement (EvolveMem §2)."""

from memgene.engine.consolidation.order import ConsolidationReport, consolidate
from memgene.engine.consolidation.settings import ConsolidationSettings

__all__ = ["ConsolidationReport", "ConsolidationSettings", "consolidate"]
