"""The guest module of memory programs: loads one program and serves its writes and reads.

First message: `source`, `seed`, `now` (ISO time), `embedder` and `words` (see `models.described`),
`config` and `router` (see `configuring.sent`). Host calls it makes: `llm` (messages, temperature,
max_tokens, stop, schema → text), `embed` and `words` (texts → rows, see `toolkit.encoded`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from types import ModuleType
from typing import Any

from memgene.programs.guest.chroma import chroma_module
from memgene.programs.guest.loading import Loaded, load
from memgene.programs.guest.modules import load_allowed
from memgene.programs.guest.recalled import packed
from memgene.programs.guest.toolkit import Host, Toolkit


def prepare() -> None:
    """Import what programs and their tools need; afterwards nothing more can be read from disk."""
    from memgene.programs.guest.bank import prepare_bank

    load_allowed()
    prepare_bank()


def begin(
    first: Mapping[str, Any], host: Host
) -> tuple[Any, Mapping[str, Callable[[Mapping[str, Any]], Any]]]:
    """Load the program of the first message: its contract as JSON, and its methods.

    `write {item, raw_text}` gives `{logs}`, `read {query}` gives `{text, type, logs}`, where `text`
    is None if the program returned something that is no str, and `type` says what it returned. A
    text that is made of hits of the bank comes with `{hits, shown}` (see `recalled`).
    """
    toolkit = Toolkit(host, first)
    return load_served(first, toolkit, chroma_module(lambda: toolkit.chroma))


def load_served(
    first: Mapping[str, Any], toolkit: Toolkit, chromadb: ModuleType
) -> tuple[Any, Mapping[str, Callable[[Mapping[str, Any]], Any]]]:
    """The same with this toolkit, and what the program gets as `chromadb`."""
    now = datetime.fromisoformat(first["now"])
    program = load(first["source"], toolkit, first["seed"], now, chromadb)
    served = _Served(program, toolkit)
    return program.described(), {"write": served.write, "read": served.read}


class _Served:
    """The methods of a loaded program. What it said before it failed comes with the next reply."""

    def __init__(self, program: Loaded, toolkit: Toolkit) -> None:
        self._program = program
        self._toolkit = toolkit
        self._logger = toolkit.logger

    def write(self, params: Mapping[str, Any]) -> dict[str, Any]:
        item = self._program.item.filled(params["item"])
        self._program.write(item, params["raw_text"])
        return {"logs": self._logger.drained()}

    def read(self, params: Mapping[str, Any]) -> dict[str, Any]:
        found = self._program.read(self._program.query.filled(params["query"]))
        text = str(found) if isinstance(found, str) else None
        reply: dict[str, Any] = {
            "text": text,
            "type": type(found).__name__,
            "logs": self._logger.drained(),
        }
        told = self._toolkit.recalled(text or "")
        if told is not None:
            reply |= {"hits": [packed(hit) for hit in told[0]], "shown": told[1]}
        return reply
