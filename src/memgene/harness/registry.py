"""Every memory that can be evaluated, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Lock
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Self

from memgene.core import ConfigError, DataError
from memgene.embed.protocol import Embedder, WordVectors
from memgene.embed.registry import load_embedder, word_vectors
from memgene.engine.learned import LearnedMemory
from memgene.engine.models import EngineModels
from memgene.harness.bank import BankHarnessFactory
from memgene.harness.baselines.full_context import FullContext
from memgene.harness.baselines.no_memory import NoMemory
from memgene.harness.baselines.recent import Recent
from memgene.harness.protocol import HarnessFactory
from memgene.llm.roles import RoleModels
from memgene.retrieval.config import RetrievalConfig
from memgene.sandbox import Level
from memgene.settings import SandboxSettings

if TYPE_CHECKING:
    from memgene.programs.program import Program
    from memgene.programs.runtime import ProgramRuntime
    from memgene.programs.stage_host import SandboxedStages

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
        "program:FILE": "a memory program: a file, or the name of one that is shipped",
    }
)


def harness_names() -> Mapping[str, str]:
    """Names and one line about each."""
    return _ABOUT


class LoadedModels:
    """Embedders, word vectors and language models (by role; None = offline) for several harnesses,
    and the sandboxes that their programs and stages run in, each loaded when first asked for.

    Whoever makes several factories makes one of these, hands it to each, and closes it (a context
    manager) when their harnesses are done. `sandbox` says how programs are to run.
    """

    def __init__(
        self,
        llms: RoleModels | None = None,
        *,
        sandbox: SandboxSettings = SandboxSettings(),  # noqa: B008 - frozen
    ) -> None:
        self._llms = llms
        self._sandbox = sandbox
        self._embedders: dict[str, Embedder] = {}
        self._words: WordVectors | None = None
        self._programs: dict[str, ProgramRuntime] = {}
        self._stages: SandboxedStages | None = None
        self._lock = Lock()

    def engine(self, config: RetrievalConfig) -> EngineModels:
        """The language models that an engine with this configuration calls, and who runs its
        stages, where it has some."""
        models = EngineModels.of(self._llms, config)
        return replace(models, stages=self.stages()) if config.stages else models

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

    def programs(self, embedder: str | Embedder = "static") -> ProgramRuntime:
        """What runs memory programs, with the toolkit's language model where there is one.

        Raises SandboxUnavailableError when this machine cannot isolate them.
        """
        from memgene.programs.runtime import ProgramRuntime

        loaded = self.embedder(embedder)
        with self._lock:
            if loaded.name not in self._programs:
                self._programs[loaded.name] = ProgramRuntime(
                    llm=self._llms.get("toolkit") if self._llms else None,
                    embedder=loaded,
                    words=self.words(loaded),
                    require=Level.named(self._sandbox.level),
                    chroma=self._sandbox.chroma,
                )
            return self._programs[loaded.name]

    def stages(self) -> SandboxedStages:
        """What runs retrieval stages; nothing is started before the first of them is called."""
        from memgene.programs.stage_host import SandboxedStages

        with self._lock:
            if self._stages is None:
                self._stages = SandboxedStages(require=Level.named(self._sandbox.level))
            return self._stages

    @property
    def sandbox(self) -> SandboxSettings | None:
        """How programs run, with the isolation that was achieved; None where none were made."""
        with self._lock:
            levels = [runtime.level for runtime in self._programs.values()]
        return self._sandbox.model_copy(update={"level": min(levels).label}) if levels else None

    def close(self) -> None:
        """End programs and stages. The language models belong to whoever gave them."""
        with ExitStack() as stack:
            if self._stages is not None:
                stack.callback(self._stages.close)
                self._stages = None
            while self._programs:
                stack.callback(self._programs.popitem()[1].close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def make_factory(
    spec: str, *, embedder: str | Embedder = "static", models: LoadedModels | None = None
) -> HarnessFactory:
    """A factory for a harness name, `genome:PATH` or `program:FILE`. `models` are shared with other
    factories; programs need them, for it is them that end the sandbox.

    Raises:
        ConfigError: the name is unknown.
        DataError: the program's file cannot be read.
    """
    if spec == "no-memory":
        return NoMemory
    if spec == "full-context":
        return FullContext
    if spec == "recent":
        return Recent
    if spec.startswith("genome:"):
        return _genome(spec, Path(spec.removeprefix("genome:")), models)
    if spec.startswith("program:"):
        return _program(spec, embedder, models)
    if spec not in _CONFIGS:
        raise ConfigError(f"there is no harness {spec!r}; there are {', '.join(_ABOUT)}")
    return bank_factory(_CONFIGS[spec](), embedder, spec, models)


def bank_factory(
    config: RetrievalConfig,
    embedder: str | Embedder = "static",
    name: str = "bank",
    models: LoadedModels | None = None,
    learned: LearnedMemory | None = None,
) -> BankHarnessFactory:
    """Bank harnesses of a configuration, with the static word vectors for the soft match view, and
    what an earlier life of the memory learned."""
    shared = models or LoadedModels()
    loaded = shared.embedder(embedder)
    return BankHarnessFactory(
        config,
        loaded,
        shared.words(loaded),
        name,
        models=shared.engine(config),
        learned=learned,
    )


def _genome(spec: str, path: Path, models: LoadedModels | None) -> HarnessFactory:
    from memgene.genome import GenomeBundle

    bundle = GenomeBundle.load(path)
    if bundle.program is not None:
        from memgene.harness.program import ProgramHarnessFactory
        from memgene.programs.program import Program

        runtime = _needed(spec, models).programs(bundle.embedder)
        return ProgramHarnessFactory(Program(bundle.program), runtime, spec, bundle.config)
    return bank_factory(bundle.config, bundle.embedder, spec, models, bundle.memory)


def _program(spec: str, embedder: str | Embedder, models: LoadedModels | None) -> HarnessFactory:
    from memgene.harness.program import ProgramHarnessFactory

    program = find_program(spec.removeprefix("program:"))
    return ProgramHarnessFactory(program, _needed(spec, models).programs(embedder), spec)


def _needed(spec: str, models: LoadedModels | None) -> LoadedModels:
    if models is None:
        raise ConfigError(f"harness {spec!r} needs LoadedModels, which end its sandbox when closed")
    return models


def find_program(given: str) -> Program:
    """The program in a file, or the one that is shipped under this name.

    Raises ConfigError when there is none, DataError when the file cannot be read.
    """
    from memgene.programs.examples import example, example_names
    from memgene.programs.program import Program
    from memgene.programs.seeds import seed, seed_names

    for names, get in ((seed_names(), seed), (example_names(), example)):
        if given in names:
            return get(given)
    path = Path(given)
    if not path.is_file() and path.suffix != ".py":
        known = ", ".join((*seed_names(), *example_names()))
        raise ConfigError(f"there is no program {given!r}: name a file, or one of {known}")
    try:
        return Program(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the program {given} cannot be read: {error}") from error
