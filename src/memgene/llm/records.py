"""Recorded calls: one JSON object a line, to be read by people and replayed by `replay:`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memgene.core.errors import StoredConfigError
from memgene.llm.protocol import ChatMessage, Finish, Reply, Request
from memgene.llm.request_key import request_key

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Recorded:
    """One call: the model's name, what it was asked, what it said."""

    model: str
    request: Request
    reply: Reply

    @property
    def key(self) -> str:
        """What the request is found by again."""
        return record_key(self.request)


def record_key(request: Request) -> str:
    """Everything in a request but its schema: whether that is sent depends on the model, and the
    messages tell of it."""
    return request_key("", replace(request, schema=None))


def to_line(recorded: Recorded) -> str:
    """The record as one line, ended by a newline."""
    request, reply = recorded.request, recorded.reply
    values = {
        "format": FORMAT,
        "key": recorded.key,
        "model": recorded.model,
        "messages": [[m.role, m.content] for m in request.messages],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "seed": request.seed,
        "stop": list(request.stop),
        "schema": request.schema,
        "reply": {
            "text": reply.text,
            "finish": str(reply.finish),
            "tokens_in": reply.tokens_in,
            "tokens_out": reply.tokens_out,
            "seconds": round(reply.seconds, 6),
        },
    }
    return json.dumps(values, ensure_ascii=True, separators=(",", ":")) + "\n"


def read_records(path: Path) -> Iterator[Recorded]:
    """The records in a file, in their order. A last line without its end is left out: whoever
    wrote it was stopped.

    Raises:
        StoredConfigError: the file cannot be read, or a line is not a record; names the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StoredConfigError(f"{path} cannot be read: {error}") from error
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if not line.endswith("\n"):
            return
        try:
            yield _from(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            what = f"{type(error).__name__}: {error}"
            raise StoredConfigError(f"{path}, line {number}: not a record ({what})") from error


def _from(values: dict[str, Any]) -> Recorded:
    if values["format"] != FORMAT:
        raise ValueError(f"format {values['format']}, this memgene reads {FORMAT}")
    request = Request(
        tuple(ChatMessage(role, content) for role, content in values["messages"]),
        schema=values["schema"],
        temperature=values["temperature"],
        max_tokens=values["max_tokens"],
        seed=values["seed"],
        stop=tuple(values["stop"]),
    )
    said = values["reply"]
    reply = Reply(
        said["text"], Finish(said["finish"]), said["tokens_in"], said["tokens_out"], said["seconds"]
    )
    return Recorded(values["model"], request, reply)
