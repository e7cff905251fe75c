"""Every memory that can be evaluated, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from memgene.core import ConfigError
from memgene.embed.protocol import Embedder, WordVectors
from memgene.embed.registry import load_embedder, word_vectors
from memgene.harness.bank import BankHarnessFactory
from memgene.harness.baselines.full_context import FullContext
from memgene.harness.baselines.no_memory import NoMemory
from memgene.harness.baselines.recent import Recent
from memgene.harness.protocol import HarnessFactory
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
        "genome:PATH": "an evolved bundle",
    }
)


def harness_names() -> Mapping[str, str]:
    """Names and one line about each."""
    return _ABOUT


def make_factory(spec: str, *, embedder: str | Embedder = "static") -> HarnessFactory:
    """A factory for a harness name or `genome:PATH`.

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
        return _genome(spec, Path(spec.removeprefix("genome:")))
    if spec not in _CONFIGS:
        raise ConfigError(f"there is no harness {spec!r}; there are {', '.join(_ABOUT)}")
    return bank_factory(_CONFIGS[spec](), embedder, name=spec)


def bank_factory(
    config: RetrievalConfig, embedder: str | Embedder = "static", name: str = "bank"
) -> BankHarnessFactory:
    """Bank harnesses of a configuration, with the static word vectors for the soft match view."""
    loaded = load_embedder(embedder) if isinstance(embedder, str) else embedder
    words = loaded if isinstance(loaded, WordVectors) else word_vectors()
    return BankHarnessFactory(config, loaded, words, name)


def _genome(spec: str, path: Path) -> BankHarnessFactory:
    from memgene.genome import GenomeBundle

    bundle = GenomeBundle.load(path)
    return bank_factory(bundle.config, bundle.embedder, name=spec)
