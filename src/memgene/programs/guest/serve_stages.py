"""The guest module of retrieval stages: loads them as they are called.

First message: `seed`. Its method `run` takes `name`, `digest`, `method`, `params` and, the first
time, `source`. It makes no host calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memgene.programs.guest.modules import load_allowed
from memgene.programs.guest.stages import LoadedStages
from memgene.retrieval.stages.stage import Stage
from memgene.sandbox.guest import Host


def prepare() -> None:
    """Import what stages may; afterwards nothing more can be read from disk."""
    load_allowed()


def begin(
    first: Mapping[str, Any], host: Host
) -> tuple[Any, Mapping[str, Callable[[Mapping[str, Any]], Any]]]:
    """The method that runs stages."""
    loaded = LoadedStages(first["seed"], copies=False)
    known: dict[tuple[str, str], Stage] = {}

    def run(params: Mapping[str, Any]) -> Any:
        key = params["name"], params["digest"]
        if key not in known:
            known[key] = Stage(params["name"], params["source"])
        return loaded.call(known[key], params["method"], params["params"])

    return None, {"run": run}
