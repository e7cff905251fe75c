"""A program that answers a prompt on stdin with a real, tiny model: what `command:` may start."""

from __future__ import annotations

import sys

from memgene.llm.llamacpp import LlamaCppLLM
from memgene.llm.protocol import ChatMessage, Request


def main() -> None:
    """Read a prompt, print a reply."""
    llm = LlamaCppLLM("smollm2", context=2048, threads=1)
    asked = Request((ChatMessage("user", sys.stdin.read()),), max_tokens=192)
    sys.stdout.write(llm.complete(asked).text)
    llm.close()


if __name__ == "__main__":
    main()
