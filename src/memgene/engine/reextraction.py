"""A second look at episodes for what a diagnosis found missing from the bank (EvolveMem §2)."""

from __future__ import annotations

from collections.abc import Sequence

from memgene.bank.protocol import UnitReceipt
from memgene.core import ConfigError, Episode, InputError, Scope
from memgene.engine.engine import MemoryEngine
from memgene.engine.extraction import ExtractionReport, ExtractionSettings, Extractor
from memgene.engine.remembering import Remembered


def reextract(
    engine: MemoryEngine,
    sessions: Sequence[Episode],
    missing: Sequence[str],
    scope: Scope | None = None,
) -> Remembered:
    """Ask the sessions concerned for what is missing, and store the facts that they tell.

    `missing` are topics, or words of the evidence that was never stored; each fact is checked
    against the session, as in any extraction. Whoever learns gaps from questions with known
    answers may use training questions only: a gap found on a validation or test question would
    carry its answer into the memory that is tested.

    Raises:
        ConfigError: the engine has no model to extract with.
        InputError: nothing is said to be missing.
    """
    wanted = [text for text in dict.fromkeys(" ".join(m.split()) for m in missing) if text]
    if not wanted:
        raise InputError("re-extraction needs to be told what is missing")
    if engine.models.extract is None:
        raise ConfigError(
            "re-extraction needs a language model: set model in [llm.extract] or [llm.task]"
        )
    extractor = Extractor(engine.models.extract, ExtractionSettings.of(engine.config))
    receipts: list[UnitReceipt] = []
    total = ExtractionReport()
    for session in sessions:
        extraction = extractor.targeted(session, wanted, scope)
        receipts += engine.write(extraction.units)
        total += extraction.report
    engine.extractions.add(total)
    return Remembered(tuple(receipts), total)
