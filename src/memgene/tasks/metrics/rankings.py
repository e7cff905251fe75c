"""Metrics on what a memory found: rankings of units, and contexts of memories that rank none.

A gold unit is found by a hit that carries it in `refs`, comes from it (`source`, when evidence
names an episode), or is it (`id`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from memgene.tasks.metrics.scored import RankedUnit


def newly_found(evidence: Sequence[str], ranking: Sequence[RankedUnit]) -> list[int]:
    """How many gold units each hit finds that no hit before it found."""
    missing = set(evidence)
    counts = []
    for hit in ranking:
        here = missing & {hit.id, *hit.refs, *([hit.source] if hit.source else [])}
        missing -= here
        counts.append(len(here))
    return counts


def recall_at_k(evidence: Sequence[str], ranking: Sequence[RankedUnit], k: int) -> float:
    """Unique gold units among the first `k` hits / unique gold units. Needs evidence."""
    return sum(newly_found(evidence, ranking[:k])) / len(set(evidence))


def hit_at_k(evidence: Sequence[str], ranking: Sequence[RankedUnit], k: int) -> float:
    """1 when any of the first `k` hits finds gold, else 0: the success of an agent that takes the
    first (k = 1) memory it is shown."""
    return float(any(newly_found(evidence, ranking[:k])))


def ndcg_at_k(evidence: Sequence[str], ranking: Sequence[RankedUnit], k: int) -> float:
    """Normalised discounted cumulative gain (Järvelin & Kekäläinen 2002), binary gains.

    A gold unit counts once, at the first hit that finds it. A hit that finds several gold units
    at once can beat the ideal of one per rank; the value is clipped to 1.
    """
    gains = newly_found(evidence, ranking[:k])
    found = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(set(evidence))) + 1))
    return min(1.0, found / ideal)


def mrr(evidence: Sequence[str], ranking: Sequence[RankedUnit]) -> float:
    """1 / rank of the first hit that finds gold, over the whole ranking; 0 when none does."""
    gains = newly_found(evidence, ranking)
    return next((1 / rank for rank, gain in enumerate(gains, 1) if gain), 0.0)


def evidence_in_text(evidence_texts: Sequence[Sequence[str]], context: str) -> float:
    """Share of gold units all of whose texts stand in the context; runs of white space are one.

    A unit without texts (its episode is not in this memory) counts as absent.
    """
    read = _flat(context)
    present = sum(bool(texts) and all(_flat(t) in read for t in texts) for texts in evidence_texts)
    return present / len(evidence_texts)


def _flat(text: str) -> str:
    return " ".join(text.split())
