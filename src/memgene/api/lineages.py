"""Looking into runs: who came from whom, how two candidates differ, how several runs do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memgene.reports.comparing import CandidateDiff, compare_candidates
from memgene.reports.lineage import LineageView, read_lineage
from memgene.reports.runs import RunsView, compare_runs


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


def compare(runs: Sequence[str | Path], *, page: str | Path | None = None) -> RunsView:
    """Several runs side by side: held-out scores and gains, each evolved memory against that of the
    first run on the held-out questions both were asked, and the landscape of all programs.

    `page`: also write it there, as one HTML file. Raises InputError for fewer than two runs,
    RunError when one is no run folder or the page cannot be written.
    """
    view = compare_runs([Path(run) for run in runs])
    if page is not None:
        from memgene.reports.runs_page import write_comparison

        write_comparison(view, Path(page))
    return view
