"""How `toolkit.bank` retrieves, in a worker's first message: configuration, router, stages."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.router.router import Router
from memgene.retrieval.stages.stage import Stage


def sent(config: RetrievalConfig | None) -> dict[str, Any]:
    """`config`, `router` and `stages` (name → source) of the first message, as JSON; None stands
    for the default and for no router."""
    router = None if config is None else config.router
    return {
        "config": None if config is None else config.to_toml(),
        "router": None if router is None else b64encode(router.to_bytes()).decode("ascii"),
        "stages": {} if config is None else {p.name: p.stage.source for p in config.stages},
    }


def received(first: Mapping[str, Any]) -> RetrievalConfig:
    """The configuration of a first message."""
    if first["config"] is None:
        return RetrievalConfig()
    router = first.get("router")
    given = None if router is None else Router.from_bytes(b64decode(router))
    stages = [Stage(name, source) for name, source in first.get("stages", {}).items()]
    return RetrievalConfig.from_toml(first["config"], given, stages)
