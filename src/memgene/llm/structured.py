"""Typed replies: ask a model for a pydantic value, check what comes back, ask again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from memgene.core import InputError, ReplyError
from memgene.llm.json_text import documents, load, preferred
from memgene.llm.prompts.structured import AGAIN, FORM
from memgene.llm.protocol import LLM, ChatMessage, Finish, Reply, Request
from memgene.llm.schemas import (
    cut_off,
    json_schema,
    kind_of,
    model_of,
    opening_of,
    outline,
    sketch,
)

__all__ = ["Structured", "ask", "json_schema", "model_of", "parse"]

M = TypeVar("M", bound=BaseModel)

_HEAD, _TAIL = 600, 200  # characters of an unusable reply that are shown to the model again
_RETRY_TEMPERATURE = 0.5  # at 0 another seed would give the same reply
_MAX_FINDINGS = 5
_MAX_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Structured(Generic[M]):
    """A value that fits, the number of the attempt that gave it (≥ 1), whether its JSON was
    repaired, and what was wrong with the attempts before."""

    value: M
    attempts: int
    repaired: bool
    faults: tuple[str, ...] = ()


def ask(
    llm: LLM,
    messages: Sequence[ChatMessage],
    into: type[M],
    *,
    max_tokens: int = 1024,
    attempts: int = 3,
    temperature: float = 0.0,
    seed: int | None = 0,
    feedback: bool = True,
    repair: bool = True,
) -> Structured[M]:
    """Ask until a reply fits `into`, at most `attempts` times.

    The fields are described in the last user message; a model that `constrains` is held to the
    JSON schema besides. After an unusable reply the model is shown it (shortened) with what is
    wrong. Without `feedback`, or when that brings the same reply again, the next seed is tried at
    a temperature of at least 0.5. A reply that was cut off is never used, whatever it holds.

    Raises:
        ReplyError: no attempt gave a usable reply; tells what was wrong with each.
        ModelError: the model gave no reply at all.
        InputError: `into` is neither a JSON object nor an array, or `attempts` is below 1.
    """
    if attempts < 1:
        raise InputError(f"attempts must be at least 1, got {attempts}")
    schema = json_schema(into)
    first = Request(
        _told(tuple(messages), schema),
        schema=schema if llm.constrains else None,
        temperature=temperature,
        max_tokens=max_tokens,
        seed=seed,
    )
    request, faults, texts = first, list[str](), list[str]()
    for attempt in range(1, attempts + 1):
        reply = llm.complete(request)
        try:
            value, repaired = _read(reply, into, request, repair)
        except ReplyError as error:
            faults.append(str(error))
            stuck = not feedback or reply.text in texts
            texts.append(reply.text)
            if feedback:
                request = _corrected(first, reply, str(error), kind_of(opening_of(schema)))
            if stuck:
                request = _varied(request, first, attempt)
        else:
            return Structured(value, attempt, repaired, tuple(faults))
    listed = "; ".join(f"{n}. {fault}" for n, fault in enumerate(faults, 1))
    raise ReplyError(f"{llm.name} gave no usable {into.__name__} in {attempts} attempts: {listed}")


def parse(text: str, into: type[M], repair: bool = True) -> tuple[M, bool]:
    """The value a reply holds, and whether its JSON had to be repaired.

    The JSON may stand in a code fence or in prose. The last fenced document counts; without
    fences the last one that fits.

    Raises:
        ReplyError: the reply is empty, was cut off, holds no JSON of the kind, or does not fit.
    """
    if not text.strip():
        raise ReplyError("it is empty")
    opening = opening_of(json_schema(into))
    found = documents(text)
    fitting = preferred(found, opening)
    if not fitting:
        other = " of that kind" if found else ""
        raise ReplyError(f"it holds no JSON{other}; an {kind_of(opening)} is asked for")
    fault: ReplyError | None = None
    for document in fitting:
        try:
            value, repaired = load(document, repair=repair)
            return into.model_validate(value), repaired
        except ReplyError as error:
            fault = fault or error
        except ValidationError as error:
            fault = fault or ReplyError(_findings(error))
    assert fault is not None
    raise fault


def _told(messages: tuple[ChatMessage, ...], schema: dict[str, Any]) -> tuple[ChatMessage, ...]:
    """The messages with the fields described in the last one of the user."""
    kind = kind_of(opening_of(schema))
    form = FORM.render(kind=kind, sketch=sketch(schema), fields=outline(schema))[-1].content
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        if message.role == "user":
            told = replace(message, content=f"{message.content}\n\n{form}")
            return (*messages[:position], told, *messages[position + 1 :])
    return (*messages, ChatMessage("user", form))


def _corrected(first: Request, reply: Reply, fault: str, kind: str) -> Request:
    said = ChatMessage("assistant", _shortened(reply.text))
    return replace(first, messages=(*first.messages, said, *AGAIN.render(fault=fault, kind=kind)))


def _varied(request: Request, first: Request, attempt: int) -> Request:
    return replace(
        request,
        seed=None if first.seed is None else first.seed + attempt,
        temperature=max(first.temperature, _RETRY_TEMPERATURE),
    )


def _shortened(text: str) -> str:
    if not text.strip():
        return "(empty)"
    if len(text) <= _HEAD + _TAIL:
        return text
    return f"{text[:_HEAD]} […] {text[-_TAIL:]}"


def _read(reply: Reply, into: type[M], request: Request, repair: bool) -> tuple[M, bool]:
    if reply.finish is Finish.LENGTH:
        raise ReplyError("it was cut off at the limit of tokens; be shorter")
    if reply.finish is not Finish.STOP:
        raise ReplyError("it was interrupted before its end")
    value, repaired = parse(reply.text, into, repair)
    if request.schema is not None:
        stopped = list(cut_off(value.model_dump(mode="json", by_alias=True), request.schema))
        if stopped:
            raise ReplyError("; ".join(stopped[:_MAX_FINDINGS]))
    return value, repaired


def _findings(error: ValidationError) -> str:
    """What does not fit, in words a model can act on; the values are shown in short."""
    found = error.errors(include_url=False, include_context=False)
    shown = [_finding(e["loc"], e["msg"], e["type"], e["input"]) for e in found[:_MAX_FINDINGS]]
    more = f"; and {len(found) - _MAX_FINDINGS} more" if len(found) > _MAX_FINDINGS else ""
    return "; ".join(shown) + more


def _finding(place: tuple[int | str, ...], message: str, kind: str, given: object) -> str:
    path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(".")
    if kind == "missing":
        return f"{path} is missing"
    if kind == "extra_forbidden":
        return f"{path} is not a field"
    shown = ascii(given) if not isinstance(given, str) else repr(given)
    if len(shown) > _MAX_SHOWN:
        shown = shown[:_MAX_SHOWN] + "…"
    return f"{path or 'it'}: {message[:1].lower()}{message[1:]}, got {shown}"
