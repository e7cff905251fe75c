"""Facts from episodes, with guards (EvolveMem §2)."""

from memgene.engine.extraction.extractor import Extraction, Extractor
from memgene.engine.extraction.report import ExtractionReport
from memgene.engine.extraction.settings import ExtractionSettings, Guards

__all__ = ["Extraction", "ExtractionReport", "ExtractionSettings", "Extractor", "Guards"]
