"""The retrieval configuration: the structured action space that evolution searches.

Source: EvolveMem §3 (levers, ranges, minimal start); the levers that the paper does not have
(window, episode, soft match, speaker, length, neighbour bonus, learned fusion) are memgene's.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from memgene.core import ConfigError
from memgene.retrieval.levers import Lever, Need, Symptom, lever
from memgene.retrieval.question_type import QUESTION_TYPES
from memgene.retrieval.ranker import Ranker

FORMAT = 1
SWITCH = ("auto", "on", "off")
FUSIONS = ("lexical_only", "dense_only", "sum", "weighted_sum", "rrf", "learned")
_EMBED = (Need.EMBEDDINGS,)
_WORDS = (Need.WORD_VECTORS,)
_LLM = (Need.LLM,)
_STORED = (Symptom.NEVER_STORED,)
_WRONG = (Symptom.ANSWERED_WRONG,)
EXTRACTIONS = ("off", "facts", "both")
ANSWER_STYLES = ("concise", "explanatory", "verbatim", "list", "date", "choice")
VERIFICATIONS = ("off", "strict", "multi")
RERANKERS = ("off", "llm")
_POOL = (Symptom.NOT_RETRIEVED,)
_ORDER = (Symptom.RANKED_LOW,)


@dataclass(frozen=True, slots=True)
class RetrievalConfig:
    """One point of the action space. Immutable; every change is checked and clamped.

    `ranker` holds the learned weights (fusion `learned` needs it); `per_type` overrides levers
    for *predicted* question types, never for a gold category.
    """

    # candidates per view; 0 switches the view off
    lexical_k: int = lever(60, 5, 0, 100, treats=_POOL, about="candidates of the BM25 view")
    window_k: int = lever(60, 0, 0, 100, treats=_POOL, about="candidates of the ±window BM25 view")
    episode_k: int = lever(
        20, 0, 0, 100, treats=_POOL, about="candidates of the whole-episode view"
    )
    dense_k: int = lever(
        60, 0, 0, 100, needs=_EMBED, treats=_POOL, about="candidates of the dense view"
    )
    soft_k: int = lever(
        0, 0, 0, 100, needs=_WORDS, treats=_POOL, about="candidates of the soft word match view"
    )
    structured_k: int = lever(
        20,
        0,
        0,
        100,
        treats=(Symptom.NOT_RETRIEVED, Symptom.TEMPORAL),
        about="candidates of the view over persons, entities and dates",
    )
    # what a view looks at
    window: int = lever(
        1, 0, 0, 3, treats=(*_ORDER, Symptom.MULTI_HOP), about="± units of a window"
    )
    lexical_drop_names: bool = lever(
        True, False, treats=(Symptom.NAMES_MISLEAD,), about="person names out of the lexical query"
    )
    dense_drop_names: bool = lever(
        True,
        False,
        needs=_EMBED,
        treats=(Symptom.NAMES_MISLEAD,),
        about="person names out of the dense query",
    )
    dense_center: str = lever(
        "auto",
        "off",
        choices=SWITCH,
        needs=_EMBED,
        treats=_ORDER,
        about="subtract the memory's mean vector (auto: for static embedders)",
    )
    dense_content_words: str = lever(
        "auto",
        "off",
        choices=SWITCH,
        needs=_EMBED,
        treats=_ORDER,
        about="embed only the query's content words (auto: for static embedders)",
    )
    max_df: float = lever(
        0.03,
        1.0,
        0.001,
        1.0,
        treats=(Symptom.SLOW,),
        about="query words in over 100 units and a larger share of all leave the full-text search",
    )
    # fusion
    fusion: str = lever(
        "weighted_sum", "lexical_only", choices=FUSIONS, treats=_ORDER, about="how views are joined"
    )
    weight_lexical: float = lever(1.0, 1.0, 0, 3, treats=_ORDER, about="weight of the BM25 view")
    weight_window: float = lever(1.0, 0.0, 0, 3, treats=_ORDER, about="weight of the window view")
    weight_episode: float = lever(1.0, 0.0, 0, 3, treats=_ORDER, about="weight of the episode view")
    weight_dense: float = lever(
        1.0, 0.0, 0, 3, needs=_EMBED, treats=_ORDER, about="weight of the dense view"
    )
    weight_soft: float = lever(
        1.0, 0.0, 0, 3, needs=_WORDS, treats=_ORDER, about="weight of the soft word match view"
    )
    weight_structured: float = lever(
        0.0,
        0.0,
        0,
        3,
        treats=(*_ORDER, Symptom.TEMPORAL),
        about="weight of the structured view",
    )
    weight_speaker: float = lever(
        1.0, 0.0, 0, 3, treats=_ORDER, about="weight of: said by a person the question names"
    )
    weight_length: float = lever(1.0, 0.0, 0, 3, treats=_ORDER, about="weight of log length")
    # rescoring
    neighbour_bonus: float = lever(
        0.0,
        0.0,
        0,
        1,
        treats=(*_ORDER, Symptom.MULTI_HOP),
        about="add this share of the best neighbour's score",
    )
    importance_weight: float = lever(0.0, 0.0, 0, 2, treats=_ORDER, about="boost by importance")
    recency_weight: float = lever(
        0.0, 0.0, 0, 2, treats=(Symptom.TEMPORAL,), about="boost by recency of the event"
    )
    half_life_days: float = lever(
        30.0, 30.0, 1, 3650, treats=(Symptom.TEMPORAL,), about="days in which recency halves"
    )
    reinforcement_weight: float = lever(
        0.0, 0.0, 0, 2, treats=_ORDER, about="boost by reinforcement"
    )
    utility_weight: float = lever(
        0.0, 0.0, 0, 2, needs=(Need.VALUES,), treats=_ORDER, about="add this × (utility − ½)"
    )
    # expansion
    temporal_neighbours: int = lever(
        0, 0, 0, 3, treats=(*_POOL, Symptom.MULTI_HOP), about="± neighbours of the top units join"
    )
    entity_swap: bool = lever(
        False,
        False,
        treats=(Symptom.NAMES_MISLEAD, *_POOL),
        about="search again without person names and join the result as one more view",
    )
    entity_swap_k: int = lever(10, 10, 0, 25, treats=_POOL, about="candidates of the entity swap")
    mmr_lambda: float = lever(
        0.0, 0.0, 0, 0.9, needs=_EMBED, treats=(Symptom.MULTI_HOP,), about="weight of diversity"
    )
    # what the agent is given
    context_k: int = lever(
        10,
        5,
        1,
        50,
        treats=(Symptom.RANKED_LOW, Symptom.ANSWERED_WRONG),
        about="units given to the agent",
    )
    context_chars: int = lever(
        6000, 6000, 200, 20000, treats=(Symptom.ANSWERED_WRONG,), about="characters given"
    )
    # what needs a language model: what is stored, how a question is searched, how it is answered
    extraction: str = lever(
        "off",
        "off",
        choices=EXTRACTIONS,
        needs=_LLM,
        treats=_STORED,
        about="store what was said (off), extracted facts, or both",
    )
    extraction_window: int = lever(
        40, 40, 10, 80, needs=_LLM, treats=_STORED, about="turns a model extracts from at once"
    )
    extraction_tail: int = lever(
        3, 3, 0, 10, needs=_LLM, treats=_STORED, about="last facts shown to the next window"
    )
    extraction_chunk: int = lever(
        15, 15, 5, 40, needs=_LLM, treats=_STORED, about="turns of a chunk when a window fails"
    )
    coverage_pass: bool = lever(
        True,
        True,
        needs=_LLM,
        treats=_STORED,
        about="ask again for names, numbers and dates that no fact mentions",
    )
    extraction_focus: str = lever(
        "",
        "",
        needs=_LLM,
        treats=_STORED,
        about="topics that are looked for once more in every window, between semicolons",
    )
    decomposition: bool = lever(
        False,
        False,
        needs=_LLM,
        treats=(*_POOL, Symptom.MULTI_HOP),
        about="search for sub-questions and merge the lists",
    )
    decomposition_max: int = lever(
        3, 3, 1, 5, needs=_LLM, treats=(Symptom.MULTI_HOP,), about="most sub-questions"
    )
    intent_planning: bool = lever(
        False,
        False,
        needs=_LLM,
        treats=(*_POOL, Symptom.MULTI_HOP),
        about="search for each fact the answer needs and merge the lists",
    )
    rerank: str = lever(
        "off",
        "off",
        choices=RERANKERS,
        needs=_LLM,
        treats=_ORDER,
        about="a language model orders the first units anew",
    )
    rerank_k: int = lever(20, 20, 2, 50, needs=_LLM, treats=_ORDER, about="units reranked")
    answer_style: str = lever(
        "concise",
        "concise",
        choices=ANSWER_STYLES,
        needs=_LLM,
        treats=_WRONG,
        about="how the answer should look",
    )
    verification: str = lever(
        "off",
        "off",
        choices=VERIFICATIONS,
        needs=_LLM,
        treats=_WRONG,
        about="a second call checks drafts that abstain or are unsure",
    )
    verification_threshold: float = lever(
        0.5, 0.5, 0, 1, needs=_LLM, treats=_WRONG, about="confidence below which a draft is checked"
    )
    ranker: Ranker | None = None
    per_type: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, declared in levers().items():
            object.__setattr__(self, name, declared.checked(getattr(self, name)))
        checked = {}
        for kind, overrides in sorted(self.per_type.items()):
            if kind not in QUESTION_TYPES:
                raise ConfigError(
                    f"question type {kind!r} is unknown; there are {', '.join(QUESTION_TYPES)}"
                )
            checked[kind] = {n: _lever(n).checked(v) for n, v in sorted(overrides.items())}
        object.__setattr__(self, "per_type", {k: v for k, v in checked.items() if v})
        fusions = (self.fusion, *(o.get("fusion") for o in self.per_type.values()))
        if "learned" in fusions and self.ranker is None:
            raise ConfigError(
                "fusion 'learned' needs fitted weights: evolve or fit on dev questions first"
            )

    @classmethod
    def minimal(cls) -> RetrievalConfig:
        """The weak start of EvolveMem's experiments: BM25, five candidates, nothing else."""
        return cls(**{name: declared.minimal for name, declared in levers().items()})

    def changed(self, **changes: Any) -> RetrievalConfig:
        """A copy with some levers (or `ranker`, `per_type`) changed; unknown names are refused.

        `per_type` is merged deeply: `{"when": {"recency_weight": 1.0}}` adds to what is there.
        """
        for name in changes:
            if name not in ("ranker", "per_type"):
                _lever(name)
        if "per_type" in changes:
            merged = {kind: dict(overrides) for kind, overrides in self.per_type.items()}
            for kind, overrides in changes["per_type"].items():
                merged.setdefault(kind, {}).update(overrides)
            changes = {**changes, "per_type": merged}
        return replace(self, **changes)

    def for_type(self, question_type: str) -> RetrievalConfig:
        """The configuration that serves a predicted question type."""
        overrides = self.per_type.get(question_type)
        return replace(self, per_type={}, **overrides) if overrides else self

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as stored in `retrieval.toml` and journals."""
        values: dict[str, Any] = {"format": FORMAT}
        values.update({name: getattr(self, name) for name in levers()})
        if self.per_type:
            values["per_type"] = {kind: dict(o) for kind, o in self.per_type.items()}
        if self.ranker is not None:
            values["ranker"] = self.ranker.to_dict()
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RetrievalConfig:
        """Inverse of `to_dict`; levers that are absent take their defaults."""
        values = dict(values)
        found = values.pop("format", None)
        if found != FORMAT:
            raise ConfigError(
                f"retrieval configuration has format {found!r}; this version reads {FORMAT}"
            )
        ranker = values.pop("ranker", None)
        per_type = values.pop("per_type", {})
        for name in values:
            _lever(name)
        return cls(
            **values,
            per_type=per_type,
            ranker=None if ranker is None else Ranker.from_dict(ranker),
        )

    def to_toml(self) -> str:
        """The text of `retrieval.toml`."""
        import tomli_w

        return tomli_w.dumps(self.to_dict())

    @classmethod
    def from_toml(cls, text: str) -> RetrievalConfig:
        """Read the text of a `retrieval.toml`."""
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"retrieval configuration is not TOML: {error}") from error
        return cls.from_dict(values)

    @property
    def digest(self) -> str:
        """Name of the configuration: a hash of all its values."""
        text = json.dumps(self.to_dict(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def difference(self, other: RetrievalConfig) -> dict[str, tuple[Any, Any]]:
        """Levers whose values differ: name → (here, there); `ranker` and `per_type.…` included."""
        changed = {
            name: (getattr(self, name), getattr(other, name))
            for name in levers()
            if getattr(self, name) != getattr(other, name)
        }
        if self.ranker != other.ranker:
            changed["ranker"] = (
                self.ranker and self.ranker.digest,
                other.ranker and other.ranker.digest,
            )
        for kind in QUESTION_TYPES:
            here, there = self.per_type.get(kind, {}), other.per_type.get(kind, {})
            for name in sorted({*here, *there}):
                if here.get(name) != there.get(name):
                    changed[f"per_type.{kind}.{name}"] = (here.get(name), there.get(name))
        return changed


@lru_cache(maxsize=1)
def levers() -> Mapping[str, Lever]:
    """Every declared lever by name, in declaration order."""
    return MappingProxyType(
        {
            f.name: replace(f.metadata["lever"], name=f.name)
            for f in fields(RetrievalConfig)
            if "lever" in f.metadata
        }
    )


def _lever(name: str) -> Lever:
    try:
        return levers()[name]
    except KeyError:
        raise ConfigError(f"there is no lever {name!r}; see `memgene levers`") from None
