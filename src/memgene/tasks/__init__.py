"""Task, grouped splits, subsets, metrics; benchmarks one file each."""

from memgene.tasks.registry import load_task
from memgene.tasks.task import Exclusion, Regime, Split, Task

__all__ = ["Exclusion", "Regime", "Split", "Task", "load_task"]
