"""A request as one plain text, for whoever reads text: a program's stdin, a prompt file."""

from __future__ import annotations

import json

from memgene.llm.prompts.plain_schema import PLAIN_SCHEMA
from memgene.llm.protocol import ChatMessage, Request

_SPEAKERS = {"user": "User", "assistant": "Assistant"}


def rendered(request: Request) -> str:
    """System texts first, then the turns (named when there are several), then the schema."""
    system = [m.content for m in request.messages if m.role == "system"]
    turns = [m for m in request.messages if m.role != "system"]
    parts = (
        [*system, *map(_turn, turns)] if len(turns) > 1 else [*system, *(t.content for t in turns)]
    )
    if request.schema is not None:
        schema = json.dumps(request.schema, ensure_ascii=False, indent=2)
        parts.extend(message.content for message in PLAIN_SCHEMA.render(schema=schema))
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _turn(message: ChatMessage) -> str:
    return f"{_SPEAKERS[message.role]}:\n{message.content}"
