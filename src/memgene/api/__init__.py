"""The public face: `Memory`, `evaluate`, `evolve` and what they return. Re-exported by memgene.

Names are resolved when first used: opening a memory must not load the evaluation.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memgene.api.evaluating import evaluate
    from memgene.api.evolving import EvolutionRun, evolve
    from memgene.api.genome import GenomeDescription, describe_genome
    from memgene.api.genome_check import GenomeCheck, verify_genome
    from memgene.api.genome_diff import GenomeDiff, diff_genomes
    from memgene.api.genome_pack import Packed, SigningKey, make_signing_key, pack_genome
    from memgene.api.harnesses import HarnessEntry, list_harnesses
    from memgene.api.health import Health, doctor
    from memgene.api.learned import FeedbackReceipt, LearnReceipt, Lessons
    from memgene.api.levers import LeverEntry, list_levers
    from memgene.api.lineages import compare, diff, lineage
    from memgene.api.memory import Memory
    from memgene.api.model_health import ModelHealth
    from memgene.api.programs import ProgramCheck, ProgramRun, check_program, run_program
    from memgene.api.reembedding import reembed
    from memgene.api.results import (
        Added,
        AddReceipt,
        History,
        ImportReceipt,
        MemoryPage,
        MemoryRecord,
        SearchHit,
        SearchResult,
        Stats,
        Verification,
    )
    from memgene.api.tasks import check_task, describe_task, list_tasks, open_task
    from memgene.api.transfer_report import TransferReport
    from memgene.api.transferring import transfer

_HOMES = {
    "AddReceipt": "results",
    "Added": "results",
    "EvolutionRun": "evolving",
    "FeedbackReceipt": "learned",
    "GenomeCheck": "genome_check",
    "GenomeDescription": "genome",
    "GenomeDiff": "genome_diff",
    "HarnessEntry": "harnesses",
    "Health": "health",
    "History": "results",
    "ImportReceipt": "results",
    "LearnReceipt": "learned",
    "Lessons": "learned",
    "LeverEntry": "levers",
    "Memory": "memory",
    "MemoryPage": "results",
    "MemoryRecord": "results",
    "ModelHealth": "model_health",
    "Packed": "genome_pack",
    "ProgramCheck": "programs",
    "ProgramRun": "programs",
    "SearchHit": "results",
    "SearchResult": "results",
    "SigningKey": "genome_pack",
    "Stats": "results",
    "TransferReport": "transfer_report",
    "Verification": "results",
    "check_program": "programs",
    "check_task": "tasks",
    "compare": "lineages",
    "describe_genome": "genome",
    "describe_task": "tasks",
    "diff": "lineages",
    "diff_genomes": "genome_diff",
    "doctor": "health",
    "evaluate": "evaluating",
    "evolve": "evolving",
    "lineage": "lineages",
    "list_harnesses": "harnesses",
    "list_levers": "levers",
    "list_tasks": "tasks",
    "make_signing_key": "genome_pack",
    "open_task": "tasks",
    "pack_genome": "genome_pack",
    "reembed": "reembedding",
    "run_program": "programs",
    "transfer": "transferring",
    "verify_genome": "genome_check",
}

__all__ = [
    "AddReceipt",
    "Added",
    "EvolutionRun",
    "FeedbackReceipt",
    "GenomeCheck",
    "GenomeDescription",
    "GenomeDiff",
    "HarnessEntry",
    "Health",
    "History",
    "ImportReceipt",
    "LearnReceipt",
    "Lessons",
    "LeverEntry",
    "Memory",
    "MemoryPage",
    "MemoryRecord",
    "ModelHealth",
    "Packed",
    "ProgramCheck",
    "ProgramRun",
    "SearchHit",
    "SearchResult",
    "SigningKey",
    "Stats",
    "TransferReport",
    "Verification",
    "check_program",
    "check_task",
    "compare",
    "describe_genome",
    "describe_task",
    "diff",
    "diff_genomes",
    "doctor",
    "evaluate",
    "evolve",
    "lineage",
    "list_harnesses",
    "list_levers",
    "list_tasks",
    "make_signing_key",
    "open_task",
    "pack_genome",
    "reembed",
    "run_program",
    "transfer",
    "verify_genome",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
