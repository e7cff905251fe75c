"""The router that a bank learned in use, and which configuration it serves."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass

from memgene.bank.protocol import Bank
from memgene.core import BankError
from memgene.embed.protocol import Embedder
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.router.router import Router

STATE = "router"
"""Name of the bank state that holds it."""

FORMAT = 1


@dataclass(frozen=True, slots=True)
class LearnedRouter:
    """A router with the configuration (its digest) and the embedder (its name) that it was trained
    with; with others its weights mean something else."""

    router: Router
    config: str
    embedder: str

    @classmethod
    def of(
        cls, router: Router, config: RetrievalConfig, embedder: Embedder | None
    ) -> LearnedRouter:
        """A router trained with this configuration, which has none itself."""
        return cls(router, config.digest, "" if embedder is None else embedder.name)

    def serves(self, config: RetrievalConfig, embedder: Embedder | None) -> bool:
        """Whether searches with this configuration can use it."""
        name = "" if embedder is None else embedder.name
        return config.router is None and (self.config, self.embedder) == (config.digest, name)

    def to_bytes(self) -> bytes:
        """What the bank keeps: a line of JSON, then the router's file."""
        head = {"format": FORMAT, "config": self.config, "embedder": self.embedder}
        return json.dumps(head).encode() + b"\n" + self.router.to_bytes()

    @classmethod
    def read(cls, bank: Bank) -> LearnedRouter | None:
        """The bank's router, None while it has none. Raises BankError for what cannot be read."""
        content = bank.state(STATE)
        if content is None:
            return None
        head, _, packed = content.partition(b"\n")
        where = f"the learned router of {bank.location}"
        try:
            said = json.loads(head)
            if said["format"] != FORMAT:
                raise BankError(f"{where} has format {said['format']}, not {FORMAT}")
            return cls(Router.from_bytes(packed, where), said["config"], said["embedder"])
        except (ValueError, KeyError, TypeError) as error:
            raise BankError(
                f"{where} cannot be read ({error}); take back the lesson that made it"
            ) from error


class ServedRouter:
    """The bank's router at read time, level with the bank."""

    def __init__(self, bank: Bank, embedder: Embedder | None) -> None:
        self._bank = bank
        self._embedder = embedder
        self._lock = threading.Lock()
        self._version = -1
        self._learned: LearnedRouter | None = None
        self._last: tuple[RetrievalConfig, RetrievalConfig] | None = None

    def into(self, config: RetrievalConfig) -> RetrievalConfig:
        """The configuration with the bank's router, where it has none itself and that one was
        trained with it; else the configuration as it is."""
        if config.router is not None:
            return config
        with self._lock:
            version = self._bank.version()
            if version != self._version:
                self._learned, self._version = LearnedRouter.read(self._bank), version
                self._last = None
            if self._learned is None:
                return config
            if self._last is None or self._last[0] is not config:
                serves = self._learned.serves(config, self._embedder)
                served = config.changed(router=self._learned.router) if serves else config
                self._last = config, served
            return self._last[1]
