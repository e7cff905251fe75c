"""The guest module whose programs get chromadb itself (the extra `memgene[chroma]`).

Its sandbox allows what chromadb's event loop needs: `Sandbox(…, event_loop=True)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from memgene.programs.guest import serve
from memgene.programs.guest.chroma.real import RealChroma, load_chromadb, real_chroma_module
from memgene.programs.guest.toolkit import Host, Toolkit


def prepare() -> None:
    """Import what programs and their tools need. Raises MissingDependencyError."""
    serve.prepare()
    load_chromadb()


def begin(
    first: Mapping[str, Any], host: Host
) -> tuple[Any, Mapping[str, Callable[[Mapping[str, Any]], Any]]]:
    """As `serve.begin`."""
    toolkit = _Toolkit(host, first)
    return serve.load_served(first, toolkit, real_chroma_module(lambda: toolkit.chroma))


class _Toolkit(Toolkit):
    @cached_property
    def chroma(self) -> Any:
        """A client of chromadb, in memory."""
        return RealChroma(self.embed)
