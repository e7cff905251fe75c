"""The language models an engine may call."""

from __future__ import annotations

from dataclasses import dataclass

from memgene.core import ConfigError
from memgene.llm.protocol import LLM
from memgene.llm.roles import RoleModels
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.needs import needs_llm


@dataclass(frozen=True, slots=True)
class EngineModels:
    """`extract` turns episodes into facts at write time; `rewrite` plans and reranks at read time.

    None: that part works without a model, and a configuration that needs it is refused.
    """

    extract: LLM | None = None
    rewrite: LLM | None = None

    @classmethod
    def of(cls, roles: RoleModels | None, config: RetrievalConfig) -> EngineModels:
        """The models that a configuration calls, by their roles; others stay unloaded.

        Raises ConfigError when one of them cannot be loaded as configured.
        """
        needed = needs_llm(config) if roles is not None else {}
        found = {
            part: roles.get(part)
            for part in ("extract", "rewrite")
            if roles is not None and part in needed
        }
        return cls(found.get("extract"), found.get("rewrite"))

    def check(self, config: RetrievalConfig) -> None:
        """Raises ConfigError when the configuration needs a model that is not there."""
        have = {"extract": self.extract, "rewrite": self.rewrite}
        for part, names in needs_llm(config).items():
            if part in have and have[part] is None:
                raise ConfigError(
                    f"{', '.join(names)} needs a language model, and there is none for {part}: "
                    f"set model in [llm.{part}] or [llm.task] of memgene.toml, or switch it off"
                )
