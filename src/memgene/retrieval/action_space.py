"""Every lever of the retrieval configuration: type, bounds, default, and its weakest value.

Source: EvolveMem §3 (levers, ranges, minimal start) and CoEvo-Mem §3 (routes); the levers that the
papers do not have (window, episode, soft match, speaker, length, neighbour bonus, learned fusion)
are memgene's.
"""

from __future__ import annotations

from dataclasses import dataclass

from memgene.retrieval.levers import Need, Symptom, lever

SWITCH = ("auto", "on", "off")
FUSIONS = ("lexical_only", "dense_only", "sum", "weighted_sum", "rrf", "learned", "q_rrf")
EXTRACTIONS = ("off", "facts", "both")
ANSWER_STYLES = ("concise", "explanatory", "verbatim", "list", "date", "choice")
VERIFICATIONS = ("off", "strict", "multi")
RERANKERS = ("off", "llm")
SELF_ROUTINGS = ("off", "rules", "llm")
_EMBED = (Need.EMBEDDINGS,)
_WORDS = (Need.WORD_VECTORS,)
_VALUES = (Need.VALUES,)
_LLM = (Need.LLM,)
_STORED = (Symptom.NEVER_STORED,)
_WRONG = (Symptom.ANSWERED_WRONG,)
_POOL = (Symptom.NOT_RETRIEVED,)
_ORDER = (Symptom.RANKED_LOW,)


@dataclass(frozen=True, slots=True)
class ActionSpace:
    """The values of all levers. `RetrievalConfig` checks them and adds what was learned."""

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
    # fusion q_rrf: two routes, dense and sparse, and the rank of a memory's learned value
    route_pool: int = lever(
        30, 30, 5, 100, treats=_POOL, about="q_rrf: candidates of each route's ranking"
    )
    route_prior: float = lever(
        0.5,
        0.5,
        0,
        1,
        needs=_EMBED,
        treats=_ORDER,
        about="q_rrf: share of the dense route while self_routing is off",
    )
    q_rank_weight: float = lever(
        0.5, 0.5, 0, 2, needs=_VALUES, treats=_ORDER, about="q_rrf: weight of the rank by value"
    )
    self_routing: str = lever(
        "off",
        "off",
        choices=SELF_ROUTINGS,
        treats=(*_POOL, *_ORDER),
        about="rewrite the question for each route and say which to trust, by rules or by a model",
    )
    router_strength: float = lever(
        1.0,
        1.0,
        0,
        5,
        treats=_ORDER,
        about="share of a trained router's correction in fusions other than q_rrf",
    )
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
        0.6, 0.0, 0, 2, needs=_VALUES, treats=_ORDER, about="add this × (learned value − ½)"
    )
    value_shrink: float = lever(
        2.0,
        2.0,
        0,
        50,
        needs=_VALUES,
        treats=_ORDER,
        about="uses after which a value for the kind of question counts as much as that for all",
    )
    # expansion
    temporal_neighbours: int = lever(
        0, 0, 0, 3, treats=(*_POOL, Symptom.MULTI_HOP), about="± neighbours of the top units join"
    )
    graph_expansion: bool = lever(
        False,
        False,
        needs=(Need.LINKS,),
        treats=(*_POOL, Symptom.MULTI_HOP),
        about="units linked in time to the top units join",
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
