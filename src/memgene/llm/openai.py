"""Any server that speaks OpenAI's /chat/completions: OpenAI, Azure, vLLM, Ollama, llama.cpp, …"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from typing import Any, NoReturn

from pydantic import SecretStr

from memgene.core.errors import (
    MissingDependencyError,
    ModelError,
    RequestRefusedError,
    StoredConfigError,
)
from memgene.llm.counting import estimated_tokens
from memgene.llm.openai_wire import body_of, read_reply, refused_parameter
from memgene.llm.protocol import Reply, Request
from memgene.llm.retries import Backoff, TransientError, retry_after
from memgene.llm.sendable import check_sendable
from memgene.settings.model import checked_url

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_TIMEOUT = 120.0
DEFAULT_CONCURRENCY = 64
_PASSING = (408, 409, 429)
_REFUSING = (400, 413, 422)
_SPENT = "insufficient_quota"  # OpenAI's 429 that no waiting helps
_SHOWN = 300
_NO_KEY = "no key"  # the SDK wants one


class OpenAILLM:
    """A chat model behind an OpenAI-compatible server.

    Calls that fail in passing (408, 409, 429, 5xx, no connection, time-out, a broken body) are
    tried again. A parameter that the server refuses by name is left out from then on: `seed`,
    `temperature`, `stop`, `max_tokens` where it wants `max_completion_tokens`, and a schema's
    strictness before the schema.

    Args:
        model: its name on the server.
        base_url: the server's `/v1` address; by default OPENAI_BASE_URL, then OpenAI.
        api_key: by default the variable `api_key_env`; a server of one's own may need none.
        timeout: seconds one try may wait for the server.
        concurrency: calls at once; more wait.
        backoff: how often and when to try again.

    Raises:
        MissingDependencyError: the `openai` package is not installed.
        StoredConfigError: there is no key for OpenAI, or the address is unusable.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: SecretStr | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        timeout: float = DEFAULT_TIMEOUT,
        concurrency: int = DEFAULT_CONCURRENCY,
        backoff: Backoff | None = None,
    ) -> None:
        self._model = model
        self._key_env = api_key_env
        self._url = self._address(base_url)
        self._key = self._secret(api_key)
        self._timeout = timeout
        self._concurrency = concurrency
        self._slots = threading.BoundedSemaphore(concurrency)
        self._backoff = Backoff() if backoff is None else backoff
        self._refused: frozenset[str] = frozenset()
        self._lock = threading.Lock()
        self._client = self._connect()

    @property
    def name(self) -> str:
        """`openai/` and the model's name."""
        return f"openai/{self._model}"

    @property
    def identity(self) -> str:
        """The model's name and the server's address."""
        return f"{self.name}@{self._url}"

    @property
    def constrains(self) -> bool:
        """True until the server refuses `response_format`."""
        return "response_format" not in self._refused

    @property
    def concurrency(self) -> int:
        """Calls at once."""
        return self._concurrency

    def __repr__(self) -> str:
        return f"OpenAILLM({self.identity!r})"

    def complete(self, request: Request) -> Reply:
        """Answer one request; see `LLM.complete`."""
        check_sendable(request, self.name)
        with self._slots:
            start = time.perf_counter()
            reply = self._backoff.call(lambda: self._try(request), self._place)
            seconds = time.perf_counter() - start
        if reply.tokens_in:
            return replace(reply, seconds=seconds)
        asked = estimated_tokens("".join(message.content for message in request.messages))
        return replace(reply, seconds=seconds, tokens_in=asked)

    def close(self) -> None:
        """Close the connections to the server."""
        self._client.close()

    @property
    def _place(self) -> str:
        return f"{self.name} at {self._url}"

    def _address(self, base_url: str | None) -> str:
        url = base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL
        try:
            return checked_url(url).rstrip("/")
        except ValueError as error:
            raise StoredConfigError(f"{self.name}: the base_url {error}") from None

    def _secret(self, given: SecretStr | None) -> SecretStr:
        key = given or SecretStr(os.environ.get(self._key_env, ""))
        if key.get_secret_value().strip():
            return key
        if self._url == DEFAULT_URL:
            raise StoredConfigError(
                f"{self.name} needs a key: set the variable {self._key_env}, or base_url for a "
                "server of your own"
            )
        return SecretStr(_NO_KEY)

    def _connect(self) -> Any:
        try:
            from openai import OpenAI
        except ImportError as error:
            raise MissingDependencyError(
                f"the model {self.name!r} needs the openai package: pip install 'memgene[openai]'"
            ) from error
        return OpenAI(
            base_url=self._url,
            api_key=self._key.get_secret_value(),
            timeout=self._timeout,
            max_retries=0,
        )

    def _try(self, request: Request) -> Reply:
        """One call, and again for every parameter that the server refuses (five at most)."""
        import openai

        while True:
            body = body_of(self._model, request, self._refused)
            try:
                answer = self._client.chat.completions.with_raw_response.create(**body)
                return read_reply(answer.http_response.content, self._place)
            except TransientError as error:
                raise TransientError(self._shown(str(error))) from error
            except openai.APITimeoutError:
                raise TransientError(f"no answer within {self._timeout:g} s") from None
            except openai.APIConnectionError as error:
                cause = self._shown(str(error.__cause__ or error))
                raise TransientError(f"no connection: {cause}") from None
            except openai.APIStatusError as error:
                name = None
                if error.status_code in (400, 422):
                    name = refused_parameter(_message(error), error.param, body)
                if name is None:
                    self._fail(error)
                with self._lock:
                    self._refused |= {name}

    def _fail(self, error: Any) -> NoReturn:
        """Say what a status other than 2xx means, and whether to try again."""
        status = error.status_code
        said = f"HTTP {status}: {self._shown(_message(error))}"
        if status in (401, 403):
            raise StoredConfigError(
                f"{self._place} refused the key ({said}); set the variable {self._key_env} or "
                "api_key beside the model's name in the settings"
            ) from None
        if status == 404:
            raise StoredConfigError(
                f"{self._place} was not found ({said}); check the model's name and base_url, "
                "which usually ends in /v1"
            ) from None
        if (status in _PASSING or status >= 500) and error.code != _SPENT:
            wait = retry_after(error.response.headers.get("retry-after"))
            raise TransientError(said, wait) from None
        kind = RequestRefusedError if status in _REFUSING else ModelError
        raise kind(f"{self._place}: {said}") from None

    def _shown(self, text: str) -> str:
        """A server's words, short and without the key, which some servers repeat."""
        key = self._key.get_secret_value()
        hidden = text if key == _NO_KEY else text.replace(key, "***")
        return hidden if len(hidden) <= _SHOWN else f"{hidden[:_SHOWN]}…"


def _message(error: Any) -> str:
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error")
        said = body.get("message") or (inner if isinstance(inner, str) else None)
        if said:
            return str(said)
    return str(error.message)
