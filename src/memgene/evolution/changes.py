"""A change: one lever set to a value, with what it needs to have an effect, for all questions or
for one predicted type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memgene.core import ConfigError
from memgene.evolution.diagnosis import is_ranking
from memgene.evolution.means import Held, Means, Use, use_of
from memgene.retrieval.config import RetrievalConfig, levers
from memgene.retrieval.levers import Lever, Need
from memgene.retrieval.stages.stage import PREFIX, PlacedStage, Stage, StageKind

LEARNED = "learned"
ROUTED = "q_rrf"
FOCUS = "; "
VIEWS = ("lexical", "window", "episode", "dense", "soft", "structured")
_SINGLE = {"lexical_only": "lexical", "dense_only": "dense"}
_ROUTES = ("lexical", "dense")  # what fusion q_rrf searches, with its own number of candidates
_VIEWS_ONLY = ("entity_swap", "entity_swap_k", "window")
# The learned fusion reads weights too: features look at the untrained fusion's best candidates.
_WEIGHTED = ("weighted_sum", "rrf", LEARNED)
# What switching a view on may set beside it.
_WITH: Mapping[str, tuple[str, ...]] = {
    f"{view}_k": (f"weight_{view}", *(("window",) if view == "window" else ())) for view in VIEWS
}
# These act beside or after scoring, so learned weights stay valid when they change.
AFTER_SCORING = frozenset(
    {
        "neighbour_bonus",
        "importance_weight",
        "recency_weight",
        "half_life_days",
        "reinforcement_weight",
        "utility_weight",
        "value_shrink",
        "route_pool",
        "route_prior",
        "q_rank_weight",
        "self_routing",
        "router_strength",
        "graph_expansion",
        "mmr_lambda",
        "temporal_neighbours",
        "decomposition",
        "decomposition_max",
        "intent_planning",
        "rerank",
        "rerank_k",
        "context_k",
        "context_chars",
        "answer_style",
        "verification",
        "verification_threshold",
    }
)
# How the memory is written.
WRITING = frozenset(
    {
        "extraction",
        "extraction_window",
        "extraction_tail",
        "extraction_chunk",
        "coverage_pass",
        "extraction_focus",
    }
)
# What is stored knows no question yet; the others say how the memory is read as a whole.
_WHOLE = WRITING | {"fusion", "max_df", "dense_center"}
# These act on what the agent reads and says, which a ranking does not see.
_ANSWERING = frozenset(
    {
        "context_k",
        "context_chars",
        "answer_style",
        "verification",
        "verification_threshold",
    }
)


@dataclass(frozen=True, slots=True)
class Change:
    """`lever` set to `value`. `companions` are levers without which it would do nothing (the
    weight of a view that is switched on, a fusion that reads more than one view); they count as
    part of the one change. `question_type` restricts it to one predicted type. A strength of a
    stage is the lever `stage.NAME`; `stage` is one that the configuration does not have yet."""

    lever: str
    value: Any
    companions: Mapping[str, Any] = field(default_factory=dict)
    question_type: str | None = None
    stage: Stage | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """All levers set, under the names journals use."""
        prefix = "" if self.question_type is None else f"per_type.{self.question_type}."
        values = {self.lever: self.value, **self.companions}
        return {prefix + name: value for name, value in values.items()}


def change(
    config: RetrievalConfig, lever: str, value: Any, question_type: str | None = None
) -> Change:
    """The change of one lever, with its companions in this configuration."""
    companions: dict[str, Any] = {}
    view = lever.removesuffix("_k")
    if question_type is None and lever.endswith("_k") and view in VIEWS and value > 0:
        if config.fusion in _SINGLE and _SINGLE[config.fusion] != view:
            companions["fusion"] = "weighted_sum"
        if getattr(config, lever) == 0 and getattr(config, f"weight_{view}") == 0:
            companions[f"weight_{view}"] = 1.0
        if view == "window" and config.window == 0:
            companions["window"] = 1
    return Change(lever, value, companions, question_type)


def stage_change(stage: Stage, strength: float) -> Change:
    """The change that adds a stage at a strength in [0, 2], in place of one of its name.

    Nothing but this makes a lever of a stage that the configuration does not have: until a guard
    accepted it there, it is no part of the action space.
    """
    return Change(PREFIX + stage.name, PlacedStage(stage, strength).strength, stage=stage)


def stage_levers(config: RetrievalConfig) -> dict[str, Lever]:
    """Levers of the stages of a configuration by their names, `stage.NAME`."""
    return {PREFIX + placed.name: placed.stage.lever for placed in config.stages}


def focused(config: RetrievalConfig, topics: Sequence[str]) -> Change | None:
    """The change that looks for more topics wherever facts are extracted: coverage-gap
    re-extraction (EvolveMem §2). The topics come from failures on dev alone. None where nothing is
    extracted or all of them are looked for already."""
    if config.extraction == "off":
        return None
    known = [topic for topic in config.extraction_focus.split(FOCUS) if topic]
    clean = (" ".join(topic.replace(FOCUS.strip(), ",").split()) for topic in topics)
    wanted = FOCUS.join(dict.fromkeys((*known, *filter(None, clean))))
    made = Change("extraction_focus", levers()["extraction_focus"].checked(wanted))
    return None if same_settings(config, (made,)) else made


def settings_of(changes: Sequence[Change]) -> dict[str, Any]:
    """All levers that several changes set."""
    return {name: value for change in changes for name, value in change.settings.items()}


def apply(config: RetrievalConfig, changes: Sequence[Change]) -> RetrievalConfig:
    """The changed configuration, learned weights as they were. A change to `learned` leaves the
    fusion unset: its weights have to be fitted first (`wants_fit`)."""
    values: dict[str, Any] = {}
    per_type: dict[str, dict[str, Any]] = {}
    for each in changes:
        if each.lever.startswith(PREFIX):
            config = config.with_stage(_stage_of(config, each), each.value)
            continue
        target = (
            values if each.question_type is None else per_type.setdefault(each.question_type, {})
        )
        target.update({each.lever: each.value, **each.companions})
    if values.get("fusion") == LEARNED and config.ranker is None:
        del values["fusion"]
    if per_type:
        values["per_type"] = per_type
    return config.changed(**values)


def wants_fit(config: RetrievalConfig, changes: Sequence[Change]) -> bool:
    """Whether learned weights must be fitted (anew) after these changes to `config`: the fusion
    becomes `learned`, or it is and something changes that the weights were fitted on."""
    fusion = settings_of(changes).get("fusion", config.fusion)
    if fusion != LEARNED:
        return False
    return config.fusion != LEARNED or any(
        each.question_type is None
        and each.lever not in AFTER_SCORING
        and not each.lever.startswith(PREFIX)  # what stages add comes on top of fused scores
        for each in changes
    )


def has_effect(config: RetrievalConfig, lever: str, available: Means, metric: str) -> bool:
    """Whether changing the lever can change the metric in this configuration."""
    if lever.startswith(PREFIX):
        return _stage_has_effect(config, lever, available, metric)
    if not possible(lever, available) or (lever in _ANSWERING and is_ranking(metric)):
        return False
    if lever.startswith("weight_"):
        view = lever.removeprefix("weight_")
        reads = config.fusion in _WEIGHTED and (view in VIEWS or config.fusion != "rrf")
        return reads and (view not in VIEWS or _view_on(config, view))
    view = lever.removesuffix("_k")
    alone = _SINGLE.get(config.fusion, view)
    if view in VIEWS and alone != view and Held("fusion") in available:
        return False  # another view than the one that fusion reads needs another fusion
    routed = config.fusion == ROUTED
    if routed and (lever in _VIEWS_ONLY or view in VIEWS):
        return False
    needs_on = {
        # a router weighs the routes of one fusion
        "fusion": config.router is None,
        "route_pool": routed,
        "route_prior": routed and config.self_routing == "off",
        "q_rank_weight": routed,
        "self_routing": (routed or config.router is not None) and Use.REWRITE in available,
        "router_strength": config.router is not None and not routed,
        "value_shrink": config.utility_weight > 0 or (routed and config.q_rank_weight > 0),
        # its words come from a diagnosis (`focused`); no proposer can draw them
        "extraction_focus": False,
        "window": _view_on(config, "window"),
        "lexical_drop_names": _view_on(config, "lexical"),
        "max_df": _view_on(config, "lexical"),
        "dense_drop_names": _view_on(config, "dense"),
        "dense_center": _view_on(config, "dense"),
        "dense_content_words": _view_on(config, "dense"),
        "entity_swap_k": config.entity_swap,
        "half_life_days": config.recency_weight > 0,
        "extraction_window": config.extraction != "off",
        "extraction_tail": config.extraction != "off",
        "extraction_chunk": config.extraction != "off",
        "coverage_pass": config.extraction != "off",
        "decomposition_max": config.decomposition,
        "rerank_k": config.rerank != "off",
        "verification_threshold": config.verification != "off",
    }
    return needs_on.get(lever, True)


def may_differ_by_type(config: RetrievalConfig, lever: str) -> bool:
    """Whether the lever may have a value of its own for one question type. Learned weights are
    fitted once for all types, so an override must leave them valid."""
    if lever.startswith(PREFIX):
        return False
    return lever not in _WHOLE and (config.fusion != LEARNED or lever in AFTER_SCORING)


def possible(lever: str, available: Means) -> bool:
    """Whether what the lever needs is there at all, and nothing holds it or what goes with it."""
    if any(Held(name) in available for name in (lever, *_WITH.get(lever, ()))):
        return False
    needs = levers()[lever].needs
    if Need.LLM in needs and use_of(lever) not in available:
        return False
    return all(need in available for need in needs if need is not Need.LLM)


def _view_on(config: RetrievalConfig, view: str) -> bool:
    if config.fusion == ROUTED:
        return view in _ROUTES
    return getattr(config, f"{view}_k") > 0 and _SINGLE.get(config.fusion, view) == view


def same_settings(config: RetrievalConfig, changes: Sequence[Change]) -> bool:
    """Whether the changes would set nothing new."""
    for each in changes:
        if each.lever.startswith(PREFIX):
            if PlacedStage(_stage_of(config, each), each.value) not in config.stages:
                return False
            continue
        known = config.per_type.get(each.question_type, {}) if each.question_type else {}
        for name, value in {each.lever: each.value, **each.companions}.items():
            if known.get(name, getattr(config, name)) != levers()[name].checked(value):
                return False
    return True


def _stage_of(config: RetrievalConfig, change: Change) -> Stage:
    """The stage that a change adds, or the one whose strength it sets."""
    if change.stage is not None:
        return change.stage
    for placed in config.stages:
        if PREFIX + placed.name == change.lever:
            return placed.stage
    raise ConfigError(
        f"{change.lever} cannot be set: the configuration has no such stage; add the stage first"
    )


def _stage_has_effect(config: RetrievalConfig, lever: str, available: Means, metric: str) -> bool:
    """A stage of the configuration that nothing holds; one for answers, where answers count."""
    kinds = {PREFIX + placed.name: placed.stage.kind for placed in config.stages}
    if lever not in kinds or Held(lever) in available:
        return False
    return kinds[lever] is not StageKind.ANSWER or not is_ranking(metric)
