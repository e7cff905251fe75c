"""What `import chromadb` gives a program: the toolkit's own client behind chromadb's names."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Generic, TypeVar

from memgene.programs.guest.chroma import errors
from memgene.programs.guest.chroma.client import ChromaClient, DefaultEmbeddingFunction
from memgene.programs.guest.chroma.collection import Collection

Input = TypeVar("Input")
_ERRORS = (
    "ChromaError",
    "DuplicateIDError",
    "InternalError",
    "InvalidArgumentError",
    "InvalidDimensionException",
    "NotFoundError",
)
_EMBEDDING_FUNCTIONS = (
    "DefaultEmbeddingFunction",
    "SentenceTransformerEmbeddingFunction",
    "ONNXMiniLM_L6_V2",
    "OpenAIEmbeddingFunction",
)


class Settings:
    """Takes any settings; there is nothing to set."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.__dict__.update(kwargs)


class EmbeddingFunction(Generic[Input]):
    """Base for embedding functions of a program, which define `__call__(self, input)`."""


def chroma_module(client: Callable[[], Any]) -> ModuleType:
    """A module `chromadb` whose clients are all `client()`, in memory: of files too.

    It has `errors`, `config`, `api` (with `types` and `models`) and `utils.embedding_functions`
    with the names that programs use; clients of servers refuse to be made.
    """

    def memory_client(*args: Any, **kwargs: Any) -> Any:
        return client()

    def server_client(*args: Any, **kwargs: Any) -> ChromaClient:
        raise errors.InvalidArgumentError(
            "a memory program has no network; use toolkit.chroma, which is in memory"
        )

    types = _module(
        "chromadb.api.types",
        EmbeddingFunction=EmbeddingFunction,
        Documents=list[str],
        Embeddings=list[Any],
        Metadata=dict[str, Any],
        Where=dict[str, Any],
        WhereDocument=dict[str, Any],
        GetResult=dict[str, Any],
        QueryResult=dict[str, Any],
    )
    functions = _module(
        "chromadb.utils.embedding_functions",
        EmbeddingFunction=EmbeddingFunction,
        **dict.fromkeys(_EMBEDDING_FUNCTIONS, DefaultEmbeddingFunction),
    )
    models = _module("chromadb.api.models", Collection=Collection)
    kinds = _module("chromadb.errors", **{name: getattr(errors, name) for name in _ERRORS})
    shared = {name: value for name, value in vars(types).items() if not name.startswith("_")}
    return _module(
        "chromadb",
        **shared,
        Client=memory_client,
        EphemeralClient=memory_client,
        PersistentClient=memory_client,
        HttpClient=server_client,
        AsyncHttpClient=server_client,
        CloudClient=server_client,
        ClientAPI=ChromaClient,
        Collection=Collection,
        Settings=Settings,
        api=_module("chromadb.api", types=types, models=models, ClientAPI=ChromaClient),
        config=_module("chromadb.config", Settings=Settings),
        errors=kinds,
        utils=_module("chromadb.utils", embedding_functions=functions),
    )


def _module(name: str, **names: Any) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(names)
    return module
