"""A GGUF file run by llama.cpp in this process, through `xllamacpp`."""

from __future__ import annotations

import os
import secrets
import threading
import time
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from memgene.core.errors import (
    MissingDependencyError,
    ModelError,
    RequestRefusedError,
    StoredConfigError,
)
from memgene.llm.gguf_files import find_gguf, fingerprint
from memgene.llm.llamacpp_stream import Stream
from memgene.llm.openai_wire import response_format
from memgene.llm.protocol import Reply, Request
from memgene.llm.sendable import check_sendable

DEFAULT_CONTEXT = 8192


class LlamaCppLLM:
    """A local chat model: no server to start, no network, no key.

    The file is read at the first call, once in a process for all who name it; calls wait for each
    other. Messages go through the chat template in the file (ChatML, where it holds none). A
    schema constrains every token. A prompt that does not fit the context is refused, never cut.

    Args:
        name: path of a GGUF file, or a name that `find_gguf` knows.
        context: tokens of prompt and reply together; a model trained for less gets what it was
            trained for.
        threads: by default all cores but one. With every core taken, llama.cpp's threads wait for
            each other as soon as anything else runs, and a call takes many times as long.
        timeout: seconds that one reply may take, looked at with every token.

    Raises:
        MissingDependencyError: `xllamacpp` is not installed.
        StoredConfigError: there is no such file.
    """

    def __init__(
        self,
        name: str,
        *,
        context: int = DEFAULT_CONTEXT,
        threads: int | None = None,
        timeout: float | None = None,
    ) -> None:
        _import(name)
        self._name = name
        self._path = find_gguf(name)
        self._context = context
        self._threads = threads or default_threads()
        self._timeout = timeout
        self._weights: _Weights | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """`local/` and the path or name."""
        return f"local/{self._name}"

    @cached_property
    def identity(self) -> str:
        """The file's name, size and fingerprint, and the context."""
        return f"local/{fingerprint(self._path)}@{self._context}"

    @property
    def constrains(self) -> bool:
        """True."""
        return True

    @property
    def concurrency(self) -> int:
        """One: a second call at the same time would only halve the speed of both."""
        return 1

    def complete(self, request: Request) -> Reply:
        """Answer one request; see `LLM.complete`."""
        check_sendable(request, self.name)
        weights = self._loaded()
        with weights.lock:
            start = time.perf_counter()
            deadline = None if self._timeout is None else start + self._timeout
            stream = Stream(deadline)
            stream.run(weights.server.handle_chat_completions, _body(request))
            reply = stream.reply(time.perf_counter() - start)
        if isinstance(reply, Reply):
            return reply
        kind = RequestRefusedError if stream.refused else ModelError
        raise kind(f"{self.name}: {reply}")

    def close(self) -> None:
        """Let go of the weights; they leave memory with the last who uses them."""
        with self._lock:
            self._weights = None

    def _loaded(self) -> _Weights:
        with self._lock:
            if self._weights is None:
                self._weights = _shared(self._path, self._context, self._threads)
            return self._weights


def default_threads() -> int:
    """All cores this process may use but one, at least one."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, cores - 1)


class _Weights:
    """A model in memory; one call at a time holds `lock`."""

    def __init__(self, path: Path, context: int, threads: int) -> None:
        self.lock = threading.Lock()
        xllamacpp = _import(path.name)
        wanted = xllamacpp.CommonParams()
        wanted.model.path = str(path)
        wanted.n_ctx = context
        wanted.n_parallel = 1
        wanted.cpuparams.n_threads = threads
        wanted.cpuparams_batch.n_threads = threads
        wanted.fit_params = False  # would shrink the context to the memory it finds free
        wanted.cache_ram_mib = 0
        wanted.verbosity = -1
        # xllamacpp listens on a local port; nobody knows this key.
        wanted.api_keys = [secrets.token_urlsafe()]
        try:
            self.server = xllamacpp.Server(wanted)
        except RuntimeError as error:
            raise StoredConfigError(
                f"llama.cpp cannot load {path}: the file is damaged, of an unknown kind, or "
                f"memory does not suffice for it and a context of {context} tokens"
            ) from error


# Weights are the process's, like its memory: whoever names the same file shares them.
_SHARED: WeakValueDictionary[tuple[Path, int, int], _Weights] = WeakValueDictionary()
_SHARED_LOCK = threading.Lock()


def _shared(path: Path, context: int, threads: int) -> _Weights:
    key = (path, context, threads)
    with _SHARED_LOCK:
        weights = _SHARED.get(key)
        if weights is None:
            weights = _SHARED[key] = _Weights(*key)
        return weights


def _import(name: str) -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise MissingDependencyError(
            f"the model 'local/{name}' needs the xllamacpp package: pip install 'memgene[local]'"
        ) from error
    return xllamacpp


def _body(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = {
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
        # A prefix kept from the call before changes the batches, and with them the last digits:
        # a reply would depend on what was asked earlier.
        "cache_prompt": False,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if request.stop:
        body["stop"] = list(request.stop)
    if request.schema is not None:
        body["response_format"] = response_format(request.schema, strict=True)
    return body
