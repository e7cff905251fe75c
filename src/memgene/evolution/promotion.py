"""The genome bundle of what a run promotes: equal runs give equal bytes."""

from __future__ import annotations

from collections.abc import Sequence

from memgene.evaluation.case import Case
from memgene.evaluation.statistics import mean_interval
from memgene.evolution.config_search import SearchOutcome
from memgene.evolution.final import FinalOutcome
from memgene.evolution.scoring import value
from memgene.evolution.workbench import Workbench
from memgene.genome import GenomeBundle, Score
from memgene.retrieval.config import RetrievalConfig


def bundle_of(
    bench: Workbench, found: SearchOutcome, final: FinalOutcome, division: str
) -> GenomeBundle:
    """The promoted configuration, its scores on val (which selected it) and on test (which did
    not), and where it came from."""
    parent = found.parent
    return GenomeBundle(
        config=final.config,
        embedder=bench.settings.embedder,
        strategy=bench.settings.strategy,
        parents=() if parent is None else (_id(bench, parent.config),),
        scores=scores_of(bench, found.promoted.cases, final),
        fingerprints={bench.task.name: bench.task.fingerprint},
        provenance={
            **provenance(bench, final.config),
            "candidate": found.promoted.id,
            "division": division,
            "rounds": found.rounds,
        },
    )


def provenance(bench: Workbench, config: RetrievalConfig) -> dict[str, str | int | float | bool]:
    """How a configuration was evolved."""
    settings = bench.settings
    return {
        "guard": settings.guard,
        "learned_from": config.ranker.target if config.ranker else "nothing",
        "metric": bench.metric,
        "preset": settings.preset,
        "proposer": settings.proposer,
        "seed": settings.seed,
    }


def _id(bench: Workbench, config: RetrievalConfig) -> str:
    return GenomeBundle(config, bench.settings.embedder, bench.settings.strategy).id


def scores_of(bench: Workbench, selected: Sequence[Case], final: FinalOutcome) -> dict[str, Score]:
    """Scores of a promoted memory: of its cases on val, by the run's metric, and by every metric
    on test."""
    scores = {
        f"test/{name}": Score(each.mean, each.low, each.high, each.n)
        for name, each in final.report.evolved.metrics.items()
    }
    metric = bench.metric
    scored = [(v, c.group) for c in selected if (v := value(c, metric)) is not None]
    found = mean_interval(
        [v for v, _ in scored], [group for _, group in scored], seed=bench.settings.seed
    )
    scores[f"val/{metric}"] = Score(found.mean, found.low, found.high, found.n)
    return scores
