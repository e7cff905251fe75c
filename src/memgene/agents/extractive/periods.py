"""Moved to `memgene.retrieval.periods`."""

from memgene.retrieval.periods import SEASONS, Grain, count_of, is_vague, render, step

__all__ = ["SEASONS", "Grain", "count_of", "is_vague", "render", "step"]
