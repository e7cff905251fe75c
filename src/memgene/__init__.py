"""Memory for LLM agents that evolves to fit the task it serves.

Names are resolved when first used, so that `import memgene` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memgene.api import (
        AddReceipt,
        EvolutionRun,
        FeedbackReceipt,
        Memory,
        MemoryPage,
        MemoryRecord,
        SearchHit,
        SearchResult,
        evaluate,
        evolve,
    )
    from memgene.core import (
        Budget,
        Episode,
        Hit,
        MemgeneError,
        Message,
        Question,
        Scope,
    )
    from memgene.reports import write_report
    from memgene.retrieval.config import RetrievalConfig
    from memgene.tasks import load_task

__version__ = "0.1.0"

_HOMES = {
    "AddReceipt": "memgene.api",
    "Budget": "memgene.core",
    "Episode": "memgene.core",
    "EvolutionRun": "memgene.api",
    "FeedbackReceipt": "memgene.api",
    "Hit": "memgene.core",
    "MemgeneError": "memgene.core",
    "Memory": "memgene.api",
    "MemoryPage": "memgene.api",
    "MemoryRecord": "memgene.api",
    "Message": "memgene.core",
    "Question": "memgene.core",
    "RetrievalConfig": "memgene.retrieval.config",
    "Scope": "memgene.core",
    "SearchHit": "memgene.api",
    "SearchResult": "memgene.api",
    "evaluate": "memgene.api",
    "evolve": "memgene.api",
    "load_task": "memgene.tasks",
    "write_report": "memgene.reports",
}

__all__ = [
    "AddReceipt",
    "Budget",
    "Episode",
    "EvolutionRun",
    "FeedbackReceipt",
    "Hit",
    "MemgeneError",
    "Memory",
    "MemoryPage",
    "MemoryRecord",
    "Message",
    "Question",
    "RetrievalConfig",
    "Scope",
    "SearchHit",
    "SearchResult",
    "__version__",
    "evaluate",
    "evolve",
    "load_task",
    "write_report",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'memgene' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
