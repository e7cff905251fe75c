"""Evaluation: harness × agent × questions → cases → report, with honest statistics."""

from memgene.evaluation.agreement import Agreement, agreements, cohen_kappa
from memgene.evaluation.case import Case, HitTrace
from memgene.evaluation.compare import Comparison, compare_cases, compare_reports
from memgene.evaluation.evaluator import EvaluationFailedError, evaluate_cases
from memgene.evaluation.executor import Executor, SerialExecutor, ThreadExecutor
from memgene.evaluation.judges import JudgeUsed, judges_used
from memgene.evaluation.measure import measure
from memgene.evaluation.memories import Holds, MemoryPool, SharedWrites
from memgene.evaluation.progress import Progress
from memgene.evaluation.records import iter_cases, read_cases, redacted, write_cases
from memgene.evaluation.report import (
    CategoryReport,
    EvaluationReport,
    HarnessReport,
    Table,
    summarise,
)
from memgene.evaluation.seeds import average_cases, average_harness, average_reports
from memgene.evaluation.statistics import (
    Interval,
    Paired,
    Resampling,
    Spread,
    mean_interval,
    paired_difference,
    spread,
)

__all__ = [
    "Agreement",
    "Case",
    "CategoryReport",
    "Comparison",
    "EvaluationFailedError",
    "EvaluationReport",
    "Executor",
    "HarnessReport",
    "HitTrace",
    "Holds",
    "Interval",
    "JudgeUsed",
    "MemoryPool",
    "Paired",
    "Progress",
    "Resampling",
    "SerialExecutor",
    "SharedWrites",
    "Spread",
    "Table",
    "ThreadExecutor",
    "agreements",
    "average_cases",
    "average_harness",
    "average_reports",
    "cohen_kappa",
    "compare_cases",
    "compare_reports",
    "evaluate_cases",
    "iter_cases",
    "judges_used",
    "mean_interval",
    "measure",
    "paired_difference",
    "read_cases",
    "redacted",
    "spread",
    "summarise",
    "write_cases",
]
