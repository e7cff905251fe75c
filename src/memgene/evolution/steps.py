"""The next values worth trying for a lever, most promising first.

Switching on comes before tuning (EvolveMem §4); sizes are coarse on purpose: a validation set of a
few hundred questions cannot tell finer steps apart.
"""

from __future__ import annotations

from typing import Any

from memgene.evolution.changes import LEARNED, VIEWS
from memgene.evolution.means import Means
from memgene.retrieval.config import RetrievalConfig, levers
from memgene.retrieval.levers import Lever, Need, Symptom

_SWITCHED_ON = 60  # candidates of a view that was off and is off by default
_FIRST = {
    "neighbour_bonus": 0.3,
    "mmr_lambda": 0.2,
    "recency_weight": 0.3,
    "importance_weight": 0.3,
    "reinforcement_weight": 0.3,
    "utility_weight": 0.5,
    "temporal_neighbours": 1,
}
_STYLES = {"when": ["date"], "how_long": ["date"], "list": ["list"]}


def is_off(config: RetrievalConfig, name: str) -> bool:
    """Whether the lever's part of retrieval does nothing now: False, 0, a single-view fusion."""
    now = getattr(config, name)
    if isinstance(now, str):
        return now == "off" or now.endswith("_only")
    return now is False or now == 0


def next_values(
    config: RetrievalConfig,
    name: str,
    symptom: Symptom,
    available: Means,
    question_type: str | None = None,
) -> list[Any]:
    """Values to try in this order against a symptom; the present value is never among them."""
    declared, now = levers()[name], getattr(config, name)
    wanted = _chosen(name, now, question_type) or _wanted(declared, name, now, symptom, available)
    values = dict.fromkeys(declared.checked(value) for value in wanted)
    return [value for value in values if value != now]


def _chosen(name: str, now: Any, question_type: str | None) -> list[Any]:
    """Values of levers that are no plain sizes or switches; [] for the others."""
    if name == "extraction":
        return {"off": ["both", "facts"], "facts": ["both"]}.get(now, [now])
    if name == "coverage_pass":
        return [True]
    if name in ("extraction_window", "extraction_chunk"):
        return [round(now * 0.5)]  # a model overlooks less in less text
    if name == "extraction_tail":
        return [now + 2]
    if name == "verification":
        return ["strict", "multi"]
    if name == "answer_style":
        return _STYLES.get(question_type or "", ["verbatim", "explanatory"])
    return []


def _wanted(declared: Lever, name: str, now: Any, symptom: Symptom, available: Means) -> list[Any]:
    if name == "fusion":
        return _fusions(now, available)
    if declared.kind is bool:
        return [not now]
    if declared.kind is str:
        return sorted(declared.choices, key=lambda choice: choice != "off")
    if name.endswith("_k") and name.removesuffix("_k") in VIEWS:
        return [declared.default or _SWITCHED_ON] if now == 0 else [round(now * 1.6)]
    if name == "context_k":
        wider, tighter = round(now * 1.6), max(1, round(now * 0.6))
        return [tighter, wider] if symptom is Symptom.ANSWERED_WRONG else [wider]
    if name == "context_chars":
        return [round(now * 0.5), round(now * 1.6)]
    if name == "half_life_days":
        return [now * 4, now / 4]
    if now == 0:
        return [_FIRST.get(name, 0.5 if declared.kind is float else 1)]
    if declared.kind is int:
        return [now + 1, now - 1]
    return [round(now * 1.6, 2), round(now * 0.5, 2)]


def _fusions(now: str, available: Means) -> list[str]:
    """The learned fusion where there is something to learn from; else one that joins views.

    A learned fusion is not given up for an untrained one: it contains it."""
    if Need.TRAINING in available:
        return [LEARNED]
    return ["weighted_sum", "rrf"] if now != "weighted_sum" else ["rrf"]
