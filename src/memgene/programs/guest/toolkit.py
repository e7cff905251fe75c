"""What a program is handed: a database, a vector store, a language model, a logger, a bank."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memgene.programs.guest.database import Database, open_database
from memgene.programs.guest.recalled import recalled

if TYPE_CHECKING:
    from memgene.core import Hit
    from memgene.programs.guest.bank import BankTool
    from memgene.programs.guest.chroma import ChromaClient

MAX_LINES, MAX_LINE = 200, 500
_TEXTS_AT_ONCE, _CHARACTERS_AT_ONCE = 512, 1 << 20
_ROLES = ("system", "user", "assistant")


class Host(Protocol):
    """The way to the process outside."""

    def call(self, name: str, params: Mapping[str, Any]) -> Any:
        """Ask it; raises RuntimeError with its reason when it refuses."""
        ...


class Logger:
    """Keeps what a program says: of one call the last MAX_LINES lines, MAX_LINE characters each."""

    def __init__(self) -> None:
        self.logs: list[str] = []

    def debug(self, message: object = "", *args: object, **_: object) -> None:
        """Keep one line; `args` fill its `%` places, as `logging` does."""
        text = str(message)
        if args:
            try:
                text %= args
            except (TypeError, ValueError):
                text = " ".join(map(str, (message, *args)))
        line = text if len(text) <= MAX_LINE else text[:MAX_LINE] + "…"
        self.logs.append(line.encode("utf-8", "backslashreplace").decode("utf-8"))
        del self.logs[:-MAX_LINES]

    log = info = warning = error = exception = critical = debug

    def show(self, *args: object, sep: str | None = " ", **_: object) -> None:
        """What `print` does in a program."""
        self.debug((" " if sep is None else sep).join(map(str, args)))

    def clear(self) -> None:
        """Forget what was said."""
        self.logs.clear()

    def drained(self) -> list[str]:
        """What was said since the last call of this."""
        said, self.logs = self.logs, []
        return said


class Toolkit:
    """Resources of one program (M* §2). Everything is made when first used.

    `first` is the worker's first message, which the bank is made from.
    """

    def __init__(self, host: Host, first: Mapping[str, Any]) -> None:
        self._host = host
        self._first = first
        self.logger = Logger()

    @cached_property
    def db(self) -> Database:
        """An in-memory SQLite connection."""
        return open_database()

    @cached_property
    def chroma(self) -> ChromaClient:
        """A client with chromadb's methods."""
        from memgene.programs.guest.chroma import ChromaClient

        return ChromaClient(self.embed)

    @cached_property
    def bank(self) -> BankTool:
        """The memory engine over an in-memory bank."""
        from memgene.programs.guest.bank import BankTool

        return BankTool(self._first, self.embed, self.words)

    def recalled(self, text: str) -> tuple[list[Hit], int] | None:
        """The bank's hits that a text is made of (see `recalled`), of the searches since this was
        last asked; None where it was not searched, or the text is the program's own."""
        bank: BankTool | None = self.__dict__.get("bank")
        found = None if bank is None else bank.drained()
        if found is None:
            return None
        return recalled(text, found)

    def llm_completion(
        self, messages: str | Sequence[str | Mapping[str, Any]], **options: Any
    ) -> str:
        """Ask the language model; the reply's text. Few calls are allowed in each write or read.

        `messages` is a prompt or a list of `{"role", "content"}`. Of the options `temperature`,
        `max_tokens`, `stop` and a `response_format` with a JSON schema count; others do not.
        Raises RuntimeError when there is no model, the call fails, or no call is left.
        """
        params: dict[str, Any] = {"messages": _messages(messages)}
        for name in ("temperature", "max_tokens", "stop"):
            if options.get(name) is not None:
                params[name] = options[name]
        params.setdefault("max_tokens", options.get("max_completion_tokens"))
        schema = _schema(options.get("response_format"))
        if schema is not None:
            params["schema"] = schema
        return str(self._host.call("llm", {k: v for k, v in params.items() if v is not None}))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts, shape (n, dimension), of unit length, by the run's embedder."""
        return self._vectors("embed", texts)

    def words(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of single words, shape (n, dimension), of unit length or zero."""
        return self._vectors("words", words)

    def _vectors(self, method: str, texts: Sequence[str]) -> NDArray[np.float32]:
        parts = [
            decoded(self._host.call(method, {"texts": part})) for part in _batches(list(texts))
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def encoded(rows: NDArray[np.float32]) -> dict[str, Any]:
    """Rows as JSON: little-endian float32 in base64 (floats in digits take ten times as long)."""
    data = np.ascontiguousarray(rows, dtype="<f4").tobytes()
    return {"shape": list(rows.shape), "float32": base64.b64encode(data).decode("ascii")}


def decoded(given: Mapping[str, Any]) -> NDArray[np.float32]:
    """The rows that `encoded` put into JSON."""
    flat = np.frombuffer(base64.b64decode(given["float32"]), dtype="<f4")
    return flat.astype(np.float32).reshape(given["shape"])


def _batches(texts: list[str]) -> list[list[str]]:
    """Texts in messages of bounded size; one empty message for no texts."""
    batches: list[list[str]] = [[]]
    size = 0
    for text in texts:
        size += len(text)
        if len(batches[-1]) == _TEXTS_AT_ONCE or (batches[-1] and size > _CHARACTERS_AT_ONCE):
            batches.append([])
            size = len(text)
        batches[-1].append(text)
    return batches


def _messages(given: str | Sequence[str | Mapping[str, Any]]) -> list[dict[str, str]]:
    if isinstance(given, (str, Mapping)):
        given = [given]
    return [_message(one) for one in given]


def _message(given: str | Mapping[str, Any]) -> dict[str, str]:
    if isinstance(given, str):
        return {"role": "user", "content": given}
    content = given.get("content") or ""
    if isinstance(content, (list, tuple)):  # parts, as OpenAI words them
        texts = [p if isinstance(p, str) else str(p.get("text") or "") for p in content]
        content = "\n".join(texts)
    role = given.get("role")
    return {"role": role if role in _ROLES else "user", "content": str(content)}


def _schema(form: Any) -> Any:
    """The JSON schema in a `response_format`; None where it names none."""
    if not isinstance(form, Mapping) or form.get("type") != "json_schema":
        return None
    inner = form.get("json_schema")
    return inner.get("schema") if isinstance(inner, Mapping) else None
