"""SR-QR as a configuration asks for it: by rules, by a language model, or not at all."""

from __future__ import annotations

from dataclasses import replace

from memgene.engine.self_routing import self_route
from memgene.llm.protocol import LLM
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.router.observation import SelfRouting
from memgene.retrieval.router.self_routing import route_by_rules


def routing_of(
    llm: LLM | None, text: str, config: RetrievalConfig
) -> tuple[SelfRouting | None, tuple[str, ...]]:
    """The question's rewrites and prior (None: the raw question and `route_prior`), and what had to
    be done without (a model that gave no usable reply).

    Raises BudgetExhaustedError and ConfigError of the model's call.
    """
    if config.self_routing == "off":
        return None, ()
    if config.self_routing == "rules":
        return route_by_rules(text), ()
    assert llm is not None, "self_routing is llm, and the engine has checked that there is a model"
    return self_route(llm, text)


def looks_at_routing(config: RetrievalConfig) -> bool:
    """Whether a ranking depends on it: in fusion q_rrf, or through what a router sees."""
    return config.fusion == "q_rrf" or config.router is not None


def for_sub_question(routing: SelfRouting | None, text: str) -> SelfRouting | None:
    """A further search for the same question: its own words, the question's prior."""
    return None if routing is None else replace(routing, dense=text, sparse=text)
