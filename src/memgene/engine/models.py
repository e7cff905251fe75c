"""The language models an engine may call."""

from __future__ import annotations

from dataclasses import dataclass

from memgene.core import ConfigError
from memgene.llm.protocol import LLM
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.needs import needs_llm


@dataclass(frozen=True, slots=True)
class EngineModels:
    """`extract` turns episodes into facts at write time; `rewrite` plans and reranks at read time.

    None: that part works without a model, and a configuration that needs it is refused.
    """

    extract: LLM | None = None
    rewrite: LLM | None = None

    def check(self, config: RetrievalConfig) -> None:
        """Raises ConfigError when the configuration needs a model that is not there."""
        have = {"extract": self.extract, "rewrite": self.rewrite}
        for part, names in needs_llm(config).items():
            if part in have and have[part] is None:
                raise ConfigError(
                    f"{', '.join(names)} needs a language model, and there is none for {part}: "
                    f"set model in [llm.{part}] or [llm.task] of memgene.toml, or switch it off"
                )
