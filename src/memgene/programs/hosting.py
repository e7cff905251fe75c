"""What a worker may ask of this process: a few calls of the toolkit's language model, and vectors.

Everything that arrives here was written by an untrusted program and is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memgene.core import InputError, ModelError, RequestRefusedError
from memgene.embed.protocol import Embedder, WordVectors
from memgene.llm.protocol import LLM, ChatMessage, Request
from memgene.programs.guest.toolkit import encoded
from memgene.programs.reply_forms import unusable
from memgene.sandbox import HostCall, HostRefusal

MAX_TEXTS = 4096
"""Texts in one call for vectors."""
MAX_VECTOR_CALLS, MAX_VECTOR_CHARACTERS = 2_000, 20_000_000
"""Calls for vectors, and characters in them, in each write or read: they are not the program's own
time, so its deadline does not bound them."""
MAX_TOKENS, MOST_TOKENS = 1024, 8192
"""Of a reply, where the program does not say, and at most."""
MAX_PROMPT_CHARACTERS, MAX_MESSAGES = 200_000, 200
"""Of one call of the language model: somebody pays for them."""


class HostCalls:
    """The host calls of one worker. `fresh` begins a write or read: its allowance is full again.

    `failure` is the last ModelError of the call under way, which tells a failing model from a
    failing program. What a model refuses for good (too long a prompt) is the program's own.
    """

    def __init__(
        self,
        llm: LLM | None,
        embedder: Embedder | None,
        words: WordVectors | None,
        llm_calls: int,
    ) -> None:
        self._llm = llm
        self._embedder = embedder
        self._words = words
        self._allowed = llm_calls
        self._made = 0
        self._vector_calls = 0
        self._characters = 0
        self.failure: ModelError | None = None

    def fresh(self) -> None:
        """A new write or read begins."""
        self._made = self._vector_calls = self._characters = 0
        self.failure = None

    @property
    def table(self) -> Mapping[str, HostCall]:
        """The calls by name, as a sandbox takes them."""
        return {"llm": self.complete, "embed": self.embed, "words": self.words}

    def complete(self, params: Mapping[str, Any]) -> str:
        """One call of the toolkit's model: the reply's text."""
        if self._made >= self._allowed:
            raise HostRefusal(
                f"toolkit.llm_completion may be called {self._allowed} times in each write or read"
            )
        self._made += 1
        if self._llm is None:
            raise InputError(
                "there is no language model for programs here ([llm.toolkit] is not set); "
                "a program must do without toolkit.llm_completion, or catch this error"
            )
        request = _request(params)
        try:
            return self._llm.complete(request).text
        except RequestRefusedError:
            raise
        except ModelError as error:
            self.failure = error
            raise

    def embed(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Vectors of texts."""
        if self._embedder is None:
            raise InputError("there is no embedder for programs here; vectors cannot be made")
        texts = self._texts(params)
        try:
            return encoded(self._embedder.embed(texts))
        except ModelError as error:
            self.failure = error
            raise

    def words(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Vectors of single words."""
        if self._words is None:
            raise InputError("there are no word vectors for programs here")
        return encoded(self._words.words(self._texts(params)))

    def _texts(self, params: Mapping[str, Any]) -> list[str]:
        texts = _texts(params)
        self._vector_calls += 1
        self._characters += sum(map(len, texts))
        if self._vector_calls > MAX_VECTOR_CALLS or self._characters > MAX_VECTOR_CHARACTERS:
            raise HostRefusal(
                f"a write or read may ask for vectors {MAX_VECTOR_CALLS:,} times, of "
                f"{MAX_VECTOR_CHARACTERS:,} characters in all"
            )
        return texts


def _texts(params: Mapping[str, Any]) -> list[str]:
    texts = params.get("texts")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError("texts must be a list of str")
    if len(texts) > MAX_TEXTS:
        raise InputError(f"at most {MAX_TEXTS} texts at once, got {len(texts)}")
    return [_whole(text) for text in texts]


class _Message(BaseModel):
    model_config = ConfigDict(strict=True)

    role: Literal["system", "user", "assistant"]
    content: str


class _Completion(BaseModel):
    model_config = ConfigDict(strict=True)

    messages: Annotated[list[_Message], Field(max_length=MAX_MESSAGES)]
    temperature: float = 0.0
    max_tokens: Annotated[int, Field(le=MOST_TOKENS)] = MAX_TOKENS
    stop: str | list[str] = []
    form: dict[str, Any] | None = Field(None, alias="schema")


def _request(params: Mapping[str, Any]) -> Request:
    """The request a program asks for; InputError where it asks for something that is none."""
    try:
        asked = _Completion.model_validate(params)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"llm_completion: {place}: {first['msg']}") from error
    length = sum(len(message.content) for message in asked.messages)
    if length > MAX_PROMPT_CHARACTERS:
        raise InputError(
            f"llm_completion: the messages have {length:,} characters, at most "
            f"{MAX_PROMPT_CHARACTERS:,} are allowed"
        )
    fault = unusable(asked.form) if asked.form is not None else ""
    if fault:
        raise InputError(f"llm_completion: {fault}")
    return Request(
        tuple(ChatMessage(m.role, _whole(m.content)) for m in asked.messages),
        schema=asked.form,
        temperature=asked.temperature,
        max_tokens=asked.max_tokens,
        stop=(asked.stop,) if isinstance(asked.stop, str) else tuple(asked.stop),
    )


def _whole(text: str) -> str:
    """The text without half characters (lone surrogates), which no model takes."""
    return text.encode("utf-8", "replace").decode("utf-8")
