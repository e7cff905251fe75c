"""The language models of a process, by the part they play."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self

from memgene.core import ConfigError, InputError, Usage
from memgene.llm.cache import OFF, ReplyCache
from memgene.llm.ledger import Ledger
from memgene.llm.prices import FREE, Prices
from memgene.llm.protocol import LLM
from memgene.llm.registry import Waiting, load_llm
from memgene.llm.role import RoleDefaults, RoleLLM
from memgene.settings.model import LLM_ROLES, LLMRoles, LLMSettings
from memgene.settings.paths import user_cache_dir

FALLBACKS: Mapping[str, str] = {
    "extract": "task",
    "diagnose": "reflector",
    "rewrite": "task",
    "attribute": "judge",
}
CACHE_FILE = "llm.sqlite"
_FREE_KINDS = ("local/", "replay:")

Loader = Callable[[LLMSettings], LLM]


@dataclass(frozen=True, slots=True)
class _Part:
    """How a role gets its model. Parts with equal keys share one."""

    key: Hashable
    load: Callable[[], LLM]
    defaults: RoleDefaults
    prices: Prices
    owned: bool


class RoleModels:
    """One model for each role, loaded when first asked for. Thread-safe; a context manager.

    Roles: task, reflector, judge, toolkit, and extract, diagnose, rewrite, attribute, which fall
    back to task, reflector, task, judge where they have no section of their own. Roles whose
    sections name the same model in the same way share it; calls count for the role that made them.

    Args:
        settings: the `[llm]` part of the settings.
        waiting: told in a line what a model of kind `files:` waits for.
        load: makes a model from a section; for tests.
        ledger: counts and limits the calls; a new one by default.
    """

    def __init__(
        self,
        settings: LLMRoles,
        *,
        waiting: Waiting | None = None,
        load: Loader | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        loader = load or (lambda section: load_llm(section, waiting))
        cache = str(user_cache_dir() / CACHE_FILE) if settings.cache is None else settings.cache
        parts = {
            role: _part(section, loader)
            for role in LLM_ROLES
            if not (section := section_of(settings, role)).offline
        }
        self._begin(parts, ReplyCache.named(cache), ledger or Ledger())

    @classmethod
    def of(
        cls,
        models: Mapping[str, LLM],
        *,
        cache: str | Path = OFF,
        prices: Mapping[str, Prices] | None = None,
        ledger: Ledger | None = None,
    ) -> Self:
        """Roles played by models made by the caller, who closes them too.

        Args:
            models: by role; the fallbacks hold as for settings, other roles are offline.
            cache: a file for replies, or `off`.
            prices: by role; free where absent.
        """
        known = prices or {}
        for role in (*models, *known):
            _check(role)
        parts: dict[str, _Part] = {}
        for role in LLM_ROLES:
            source = role if role in models else FALLBACKS.get(role, role)
            if source in models:
                model = models[source]
                price = known.get(role, known.get(source, FREE))
                parts[role] = _Part(id(model), _giver(model), RoleDefaults(), price, owned=False)
        made = cls.__new__(cls)
        made._begin(parts, ReplyCache.named(cache), ledger or Ledger())
        return made

    def _begin(self, parts: Mapping[str, _Part], cache: ReplyCache, ledger: Ledger) -> None:
        self._parts = parts
        self._cache = cache
        self._ledger = ledger
        self._lock = Lock()
        self._loaded: dict[Hashable, LLM] = {}
        self._roles: dict[str, RoleLLM] = {}
        self._closed = False

    @property
    def ledger(self) -> Ledger:
        """Who counts the calls; open a budget with `.ledger.limited(budget)`."""
        return self._ledger

    @property
    def usage(self) -> Usage:
        """What was used so far, by role."""
        return self._ledger.usage

    def get(self, role: str) -> LLM | None:
        """The role's model, loaded at the first call; None when the role is offline.

        Raises:
            InputError: there is no such role.
            ConfigError: the model cannot be loaded as configured.
            MissingDependencyError: its extra is not installed.
        """
        _check(role)
        part = self._parts.get(role)
        if part is None:
            return None
        with self._lock:
            if self._closed:
                raise InputError("these language models are closed")
            if role not in self._roles:
                if part.key not in self._loaded:
                    self._loaded[part.key] = part.load()
                self._roles[role] = RoleLLM(
                    self._loaded[part.key],
                    role,
                    self._ledger,
                    self._cache,
                    part.defaults,
                    part.prices,
                )
            return self._roles[role]

    def need(self, role: str, what: str) -> LLM:
        """The role's model, for something that cannot do without.

        Raises ConfigError when the role is offline; `what` begins its message ("agent 'llm'").
        """
        model = self.get(role)
        if model is not None:
            return model
        section = FALLBACKS.get(role, role)
        also = f" (or of its own: [llm.{role}])" if role in FALLBACKS else ""
        raise ConfigError(
            f"{what} needs a language model: set [llm.{section}] model = … in memgene.toml{also} "
            f"or MEMGENE_LLM_{section.upper()}_MODEL; `memgene doctor` tests it"
        )

    def close(self) -> None:
        """Close the models that were loaded here, and the cache. More closing does nothing."""
        with self._lock:
            self._closed = True
            owned = {part.key for part in self._parts.values() if part.owned}
            open_models = [model for key, model in self._loaded.items() if key in owned]
            self._loaded.clear()
            self._roles.clear()
        with ExitStack() as stack:  # every one is closed, even if another fails to
            stack.callback(self._cache.close)
            for model in open_models:
                stack.callback(model.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def section_of(settings: LLMRoles, role: str) -> LLMSettings:
    """The section that holds for a role: its own, or the one it falls back to."""
    _check(role)
    own: LLMSettings | None = getattr(settings, role)
    if own is None and role in FALLBACKS:
        fallback: LLMSettings = getattr(settings, FALLBACKS[role])
        return fallback
    return own or LLMSettings()


def _check(role: str) -> None:
    if role not in LLM_ROLES:
        raise InputError(f"there is no role {role!r} for a language model: {', '.join(LLM_ROLES)}")


def _giver(model: LLM) -> Callable[[], LLM]:
    return lambda: model


def _part(section: LLMSettings, load: Loader) -> _Part:
    # What is applied to requests here, and prices, do not make another model.
    here = ("temperature", "max_tokens", "seed", "price_in", "price_out")
    defaults = LLMSettings.model_fields
    shared = section.model_copy(update={name: defaults[name].default for name in here})
    return _Part(
        key=_key(shared),
        load=lambda: load(shared),
        defaults=RoleDefaults(section.temperature, section.max_tokens, section.seed),
        prices=_prices(section),
        owned=True,
    )


def _prices(section: LLMSettings) -> Prices:
    given = (section.price_in, section.price_out)
    known = section.model.startswith(_FREE_KINDS) or given != (None, None)
    return Prices(section.price_in or 0.0, section.price_out or 0.0, known)


def _key(section: LLMSettings) -> Hashable:
    """Equal for sections that name the same model in the same way."""
    return tuple(getattr(section, name) for name in type(section).model_fields)
