"""Stages that evolution found, shipped as they were accepted: `docs/runs/stages` has their runs.

`own_words` was found over full text alone, `rare_words` over vectors alone. Over the learned fusion
neither helps: it holds what they know.
"""

from __future__ import annotations

from importlib.resources import files

from memgene.core import ConfigError
from memgene.retrieval.stages.stage import Stage


def shipped_names() -> tuple[str, ...]:
    """Names of all, sorted."""
    found = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(n.removesuffix(".py") for n in found if _is_stage(n)))


def shipped(name: str) -> Stage:
    """A shipped stage by name. Its text is read, never imported.

    Raises ConfigError when there is none of this name.
    """
    if name not in shipped_names():
        known = ", ".join(shipped_names())
        raise ConfigError(f"there is no stage {name!r} here; choose one of {known}")
    return Stage(name, (files(__name__) / f"{name}.py").read_text(encoding="utf-8"))


def _is_stage(name: str) -> bool:
    return name.endswith(".py") and not name.startswith("_")
