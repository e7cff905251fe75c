"""Files of a genome beside its head: the configuration with its router, the program, the learning.

A configuration's TOML names its router by digest; the router lies beside it in its own file.
"""

from __future__ import annotations

from pathlib import Path

from memgene.core import NotFoundError, StoredConfigError
from memgene.retrieval.config import RetrievalConfig, parsed
from memgene.retrieval.router.router import Router

RETRIEVAL = "retrieval.toml"
PROGRAM = "program.py"
ROUTER = "router.npz"
MEMORY = "memory.jsonl"


def read_config(path: Path) -> RetrievalConfig:
    """The configuration in a file, with the `router.npz` beside it where it names a router.

    Raises:
        NotFoundError: the file is not there, or the router it names is not.
        ConfigError: the file, or the router, is damaged or of another format, or the router is
            not the one that is named.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotFoundError(f"there is no configuration at {path}") from None
    except UnicodeDecodeError as error:
        raise StoredConfigError(f"{path} is damaged: {error}") from error
    values = parsed(text)
    if "router" not in values:
        return RetrievalConfig.from_dict(values)
    beside = path.parent / ROUTER
    try:
        content = beside.read_bytes()
    except FileNotFoundError:
        raise NotFoundError(f"{path} names a router, and there is no {beside}") from None
    return RetrievalConfig.from_dict(values, Router.from_bytes(content, str(beside)))
