"""Looking into a run: who came from whom, and how two candidates differ."""

from __future__ import annotations

from pathlib import Path

from memgene.reports.comparing import CandidateDiff, compare_candidates
from memgene.reports.lineage import LineageView, read_lineage


def lineage(run: str | Path) -> LineageView:
    """Every candidate of a run, with scores and the reason of every rejection.

    Works on runs of every strategy, on one that is still going on, and on a fold of one; a run
    with folds has one lineage each in `.folds`. Raises RunError when `run` is no run folder.
    """
    return read_lineage(Path(run))


def diff(run: str | Path, a: str, b: str) -> CandidateDiff:
    """What changed from candidate `a` to `b`: programs or levers, and scores on the questions that
    both were asked, question by question and as a paired mean with its interval.

    Candidates are named by id, as `best`, by a seed's title, or as `fold-N/ID`. Raises InputError
    when there is none of that name, RunError when `run` is no run folder.
    """
    return compare_candidates(Path(run), a, b)
