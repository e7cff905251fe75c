"""What an engine may call: language models, and who runs a configuration's stages."""

from __future__ import annotations

from dataclasses import dataclass

from memgene.core import ConfigError
from memgene.llm.protocol import LLM
from memgene.llm.roles import RoleModels
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.needs import needs_llm
from memgene.retrieval.stages.host import StageHost


@dataclass(frozen=True, slots=True)
class EngineModels:
    """`extract` turns episodes into facts at write time; `rewrite` plans, routes and reranks at
    read time; `attribute` says when learning which memories an answer rests on, and what to
    remember of it. `stages` runs the stages of a configuration that are code.

    None: that part works without a model, and a configuration that needs it is refused.
    """

    extract: LLM | None = None
    rewrite: LLM | None = None
    attribute: LLM | None = None
    stages: StageHost | None = None

    @classmethod
    def of(
        cls, roles: RoleModels | None, config: RetrievalConfig, *, learning: bool = False
    ) -> EngineModels:
        """The models that a configuration calls, by their roles, and, for `learning`, the one of
        the role attribute where there is one; others stay unloaded.

        Raises ConfigError when one of them cannot be loaded as configured.
        """
        if roles is None:
            return cls()
        needed = needs_llm(config)
        return cls(
            extract=roles.get("extract") if "extract" in needed else None,
            rewrite=roles.get("rewrite") if "rewrite" in needed else None,
            attribute=roles.get("attribute") if learning else None,
        )

    def check(self, config: RetrievalConfig) -> None:
        """Raises ConfigError when the configuration needs a model, or somebody to run its stages,
        that is not there."""
        running = [placed.name for placed in config.stages if placed.strength]
        if running and self.stages is None:
            raise ConfigError(
                f"stage {', '.join(running)} is code, and nothing here may run it: give the engine "
                "a StageHost (memgene.retrieval.stages.host), or leave the stage out"
            )
        have = {"extract": self.extract, "rewrite": self.rewrite}
        for part, names in needs_llm(config).items():
            if part in have and have[part] is None:
                raise ConfigError(
                    f"{', '.join(names)} needs a language model, and there is none for {part}: "
                    f"set model in [llm.{part}] or [llm.task] of memgene.toml, or switch it off"
                )
