"""Every memory that can be evaluated, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from memgene.core import ConfigError
from memgene.embed.protocol import Embedder, WordVectors
from memgene.embed.registry import load_embedder, word_vectors
from memgene.engine.models import EngineModels
from memgene.harness.bank import BankHarnessFactory
from memgene.harness.baselines.full_context import FullContext
from memgene.harness.baselines.no_memory import NoMemory
from memgene.harness.baselines.recent import Recent
from memgene.harness.protocol import HarnessFactory
from memgene.llm.roles import RoleModels
from memgene.retrieval.config import RetrievalConfig

STATIC = ("no-memory", "recent", "bm25", "vector", "hybrid-rrf", "bank")
"""The static rows that evolution is compared with by default."""

_PLAIN = RetrievalConfig.minimal().changed(context_k=10)


def _vector() -> RetrievalConfig:
    return _PLAIN.changed(lexical_k=0, dense_k=60, fusion="dense_only")


def _hybrid() -> RetrievalConfig:
    return _PLAIN.changed(lexical_k=60, dense_k=60, fusion="rrf", weight_dense=1.0)


_CONFIGS: Mapping[str, Callable[[], RetrievalConfig]] = MappingProxyType(
    {
        "bm25": lambda: _PLAIN.changed(lexical_k=60),
        "vector": _vector,
        "hybrid-rrf": _hybrid,
        "bank": RetrievalConfig,
        "bank-facts": lambda: RetrievalConfig(extraction="facts"),
        "bank-both": lambda: RetrievalConfig(extraction="both"),
    }
)
_ABOUT: Mapping[str, str] = MappingProxyType(
    {
        "no-memory": "answers without any memory",
        "full-context": "everything, newest kept, up to a character limit",
        "recent": "the last units, newest first",
        "bm25": "SQLite full text (Porter), stop words out of the query",
        "vector": "cosine of the raw question, uncentred",
        "hybrid-rrf": "reciprocal rank fusion of bm25 and vector",
        "bank": "the default retrieval configuration",
        "bank-facts": "the same over facts that a language model extracts",
        "bank-both": "the same over turns and extracted facts",
        "genome:PATH": "an evolved bundle",
    }
)


def harness_names() -> Mapping[str, str]:
    """Names and one line about each."""
    return _ABOUT


class LoadedModels:
    """Embedders, word vectors and language models (by role; None = offline) for several harnesses,
    each loaded when first asked for.

    Whoever makes several factories makes one of these and hands it to each.
    """

    def __init__(self, llms: RoleModels | None = None) -> None:
        self._llms = llms
        self._embedders: dict[str, Embedder] = {}
        self._words: WordVectors | None = None

    def engine(self, config: RetrievalConfig) -> EngineModels:
        """The language models that an engine with this configuration calls."""
        return EngineModels.of(self._llms, config)

    def embedder(self, given: str | Embedder) -> Embedder:
        """The embedder of that name, or the one given."""
        if not isinstance(given, str):
            return given
        if given not in self._embedders:
            self._embedders[given] = load_embedder(given)
        return self._embedders[given]

    def words(self, embedder: Embedder) -> WordVectors:
        """The embedder itself where it knows words, else the static word vectors."""
        if isinstance(embedder, WordVectors):
            return embedder
        if self._words is None:
            known = (e for e in self._embedders.values() if isinstance(e, WordVectors))
            self._words = next(known, None) or word_vectors()
        return self._words


def make_factory(
    spec: str, *, embedder: str | Embedder = "static", models: LoadedModels | None = None
) -> HarnessFactory:
    """A factory for a harness name or `genome:PATH`. `models` are shared with other factories.

    Raises:
        ConfigError: the name is unknown.
    """
    if spec == "no-memory":
        return NoMemory
    if spec == "full-context":
        return FullContext
    if spec == "recent":
        return Recent
    if spec.startswith("genome:"):
        return _genome(spec, Path(spec.removeprefix("genome:")), models)
    if spec not in _CONFIGS:
        raise ConfigError(f"there is no harness {spec!r}; there are {', '.join(_ABOUT)}")
    return bank_factory(_CONFIGS[spec](), embedder, spec, models)


def bank_factory(
    config: RetrievalConfig,
    embedder: str | Embedder = "static",
    name: str = "bank",
    models: LoadedModels | None = None,
) -> BankHarnessFactory:
    """Bank harnesses of a configuration, with the static word vectors for the soft match view."""
    shared = models or LoadedModels()
    loaded = shared.embedder(embedder)
    return BankHarnessFactory(
        config, loaded, shared.words(loaded), name, models=shared.engine(config)
    )


def _genome(spec: str, path: Path, models: LoadedModels | None) -> BankHarnessFactory:
    from memgene.genome import GenomeBundle

    bundle = GenomeBundle.load(path)
    return bank_factory(bundle.config, bundle.embedder, spec, models)
