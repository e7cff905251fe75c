"""What a language model is to memgene: messages in, text and usage out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Protocol

from memgene.core import InputError

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One turn of a conversation with a model."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One call. Equal requests to one model are answered from the cache.

    `schema` is a JSON schema the reply must fit; a model that `constrains` is held to it while it
    writes, others are told of it by whoever asks (`memgene.llm.structured`). `temperature` 0 and a
    seed make a reply repeatable where the provider can. `max_tokens` bounds the reply.
    """

    messages: tuple[ChatMessage, ...]
    schema: Mapping[str, Any] | None = None
    temperature: float = 0.0
    max_tokens: int = 1024
    seed: int | None = 0
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.messages:
            raise InputError("a request to a language model needs at least one message")
        if self.max_tokens < 1:
            raise InputError(f"max_tokens must be at least 1, got {self.max_tokens}")
        if not 0 <= self.temperature <= 2:
            raise InputError(f"temperature must lie between 0 and 2, got {self.temperature}")


class Finish(StrEnum):
    """Why a reply ended. Only `stop` is a whole reply; `length` was cut at max_tokens."""

    STOP = "stop"
    LENGTH = "length"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. Tokens are the provider's count, or an estimate where it gives none."""

    text: str
    finish: Finish = Finish.STOP
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    cached: bool = False


class LLM(Protocol):
    """A language model. Thread-safe; retries of failed calls happen inside."""

    @property
    def name(self) -> str:
        """As settings spell it: `openai/NAME`, `local/NAME`, `command:…`, …; holds no secret."""
        ...

    @property
    def identity(self) -> str:
        """What the cache knows it by: everything that decides its replies (name, server, weights),
        and no secret."""
        ...

    @property
    def constrains(self) -> bool:
        """Whether `Request.schema` is enforced while the reply is written."""
        ...

    @property
    def concurrency(self) -> int:
        """How many calls at once make sense (≥ 1); more wait inside."""
        ...

    def complete(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            ModelError: no reply after the retries (unreachable, timed out, broken);
                RequestRefusedError where this request will never get one.
            ConfigError: no call can ever succeed as configured (bad key, unknown model).
        """
        ...

    def close(self) -> None:
        """Release connections or weights."""
        ...
