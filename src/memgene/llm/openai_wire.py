"""What is said to and heard from /chat/completions, as plain functions over plain JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from memgene.llm.counting import estimated_tokens
from memgene.llm.protocol import Finish, Reply, Request
from memgene.llm.retries import TransientError

_NEWER = "max_completion_tokens"
_SAYS_OF_SCHEMA = ("response_format", "json_schema", "guided_json", "grammar")
_WHOLE = frozenset({"stop", "eos", "eos_token", "end_turn", "stop_sequence"})
_CUT = frozenset({"length", "max_tokens", "model_length"})


def body_of(model: str, request: Request, refused: frozenset[str]) -> dict[str, Any]:
    """The body of a call, without the parameters that the server has refused before."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if request.stop:
        body["stop"] = list(request.stop)
    if request.schema is not None:
        strict = "strict" not in refused and strict_fits(request.schema)
        body["response_format"] = response_format(request.schema, strict)
    limit = body["max_tokens"]
    body = {key: value for key, value in body.items() if key not in refused}
    if "max_tokens" in refused:
        body[_NEWER] = limit
    return body


def response_format(schema: Mapping[str, Any], strict: bool) -> dict[str, Any]:
    """OpenAI's wrapping of a JSON schema. Strict mode holds the model to every letter of it, and
    takes only a part of JSON schema."""
    inner = {"name": "reply", "schema": dict(schema), "strict": strict}
    return {"type": "json_schema", "json_schema": inner}


def strict_fits(schema: object) -> bool:
    """Whether OpenAI's strict mode takes a schema: every object closed, every property required."""
    if isinstance(schema, list):
        return all(map(strict_fits, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        closed = schema.get("additionalProperties") is False
        if not closed or set(properties) != set(schema.get("required", ())):
            return False
        rest = [value for key, value in schema.items() if key != "properties"]
        return all(map(strict_fits, [*rest, *properties.values()]))
    return all(map(strict_fits, schema.values()))


def refused_parameter(message: str, parameter: str | None, sent: Mapping[str, Any]) -> str | None:
    """Which of the optional parameters in a call its refusal (400 or 422) is about.

    A refused schema is `strict` as long as it was sent so, then `response_format`. `max_tokens`
    counts only where the server names its successor: that a limit is too high, or
    that the prompt leaves no room for it, is no refusal of the parameter.
    """
    said = f"{parameter or ''} {message}".lower()
    form = sent.get("response_format")
    if form is not None and any(word in said for word in _SAYS_OF_SCHEMA):
        return "strict" if form["json_schema"]["strict"] else "response_format"
    if "max_tokens" in sent and _NEWER in said:
        return "max_tokens"
    named = ("seed", "temperature", "stop")
    if parameter in named and parameter in sent:
        return parameter
    refuses = any(word in said for word in ("support", "unrecognized", "unknown", "not permitted"))
    return next((n for n in named if refuses and n in sent and re.search(rf"\b{n}\b", said)), None)


def read_reply(content: bytes, place: str) -> Reply:
    """The reply in the body of an answer from `place`.

    Raises:
        TransientError: it is not JSON, not the JSON of a chat completion, or holds no choice.
    """
    try:
        body = json.loads(content)
    except ValueError as error:
        raise TransientError(f"the reply is not JSON ({error})") from error
    if not isinstance(body, dict):
        raise TransientError("the reply is JSON, but no chat completion")
    choices: Any = body.get("choices")
    if choices == []:
        raise TransientError(f"{place} replied with no choice")
    try:
        return _read(choices[0], body.get("usage") or {})
    except (TypeError, KeyError, AttributeError, IndexError) as error:
        raise TransientError(f"the reply is no chat completion: {_start(content)}") from error


def _read(choice: Any, usage: Any) -> Reply:
    message = choice["message"]
    refusal = message.get("refusal")
    given = _text(refusal or message.get("content"))
    return Reply(
        given,
        Finish.OTHER if refusal else _finish(choice.get("finish_reason")),
        tokens_in=int(usage.get("prompt_tokens") or 0),
        tokens_out=int(usage.get("completion_tokens") or estimated_tokens(given)),
    )


def _text(content: Any) -> str:
    """Content as text; some servers send a list of parts."""
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content)
    if content is not None and not isinstance(content, str):
        raise TypeError("content is no text")
    return content or ""


def _finish(reason: str | None) -> Finish:
    if reason in _WHOLE:
        return Finish.STOP
    return Finish.LENGTH if reason in _CUT else Finish.OTHER


def _start(content: bytes) -> str:
    return content[:200].decode("utf-8", "replace")
