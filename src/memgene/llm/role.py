"""A language model in a role: its settings applied, its replies kept, its calls counted."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from memgene.llm.cache import ReplyCache
from memgene.llm.ledger import Ledger
from memgene.llm.prices import FREE, Prices
from memgene.llm.protocol import LLM, Reply, Request
from memgene.llm.request_key import request_key

_BYTES_PER_TOKEN = 3  # English has about four: a prompt is rather over- than underestimated
_PER_MESSAGE = 8


@dataclass(frozen=True, slots=True)
class RoleDefaults:
    """What a role's settings change in each request. None leaves the request as it is.

    `temperature` takes the request's place, `max_tokens` caps it, `seed` is added to it, so that
    a request made again with another seed stays another request.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None

    def applied(self, request: Request) -> Request:
        """The request as the role makes it."""
        limit = request.max_tokens if self.max_tokens is None else self.max_tokens
        return replace(
            request,
            temperature=request.temperature if self.temperature is None else self.temperature,
            max_tokens=min(request.max_tokens, limit),
            seed=request.seed if self.seed is None else self.seed + (request.seed or 0),
        )


class RoleLLM:
    """The LLM protocol over a provider: defaults → cache → single flight → ledger → provider.

    Args:
        inner: the provider; the role does not close it.
        role: whom calls count for.
        ledger, cache: shared by all roles.
        defaults, prices: of the role.
    """

    def __init__(
        self,
        inner: LLM,
        role: str,
        ledger: Ledger,
        cache: ReplyCache,
        defaults: RoleDefaults | None = None,
        prices: Prices = FREE,
    ) -> None:
        self.role = role
        self._inner = inner
        self._ledger = ledger
        self._cache = cache
        self._defaults = defaults or RoleDefaults()
        self._prices = prices

    @property
    def name(self) -> str:
        """The provider's."""
        return self._inner.name

    @property
    def identity(self) -> str:
        """The provider's."""
        return self._inner.identity

    @property
    def constrains(self) -> bool:
        """The provider's."""
        return self._inner.constrains

    @property
    def concurrency(self) -> int:
        """The provider's."""
        return self._inner.concurrency

    def complete(self, request: Request) -> Reply:
        """Answer from the cache, from an equal call under way, or by a fresh call.

        Raises:
            BudgetExhaustedError: a budget forbids the fresh call.
            ModelError, ConfigError: as the provider does, or the cache's file is unusable.
        """
        asked = self._defaults.applied(request)
        if not self._cache.on:
            return self._fresh(asked)
        key = request_key(self.identity, asked)
        reply = self._cache.flights.join(key, lambda: self._stored_or_fresh(key, asked))
        if reply.cached:
            self._ledger.count_cached(self.role)
        return reply

    def close(self) -> None:
        """Nothing: the provider belongs to RoleModels."""

    def _stored_or_fresh(self, key: str, request: Request) -> Reply:
        stored = self._cache.get(key)
        if stored is not None:
            return stored
        reply = self._fresh(request)
        self._cache.put(key, reply)
        return reply

    def _fresh(self, request: Request) -> Reply:
        reply = self._ledger.run(
            self.role,
            lambda: self._inner.complete(request),
            tokens_in=prompt_tokens(request),
            tokens_out=request.max_tokens,
            prices=self._prices,
        )
        # Half a character, which a model may write, could be kept in no file and sent to nobody.
        whole = reply.text.encode("utf-8", "replace").decode("utf-8")
        return replace(reply, text=whole, cached=False)


def prompt_tokens(request: Request) -> int:
    """Tokens to reserve for the prompt and schema of a request."""
    texts = [m.content for m in request.messages]
    if request.schema is not None:
        texts.append(json.dumps(request.schema))
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return -(-size // _BYTES_PER_TOKEN) + _PER_MESSAGE * len(texts)
