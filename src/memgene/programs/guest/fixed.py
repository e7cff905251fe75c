"""Clocks that stand still and random numbers from a seed: a program does the same in every run.

Each function gives a module that a program gets in place of the real one.
"""

from __future__ import annotations

import datetime as real
import random
import sqlite3
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np


class Facade(ModuleType):
    """Another module with some names replaced."""

    def __init__(self, name: str, behind: ModuleType, replaced: Mapping[str, Any]) -> None:
        super().__init__(name, behind.__doc__)
        self.__dict__.update(replaced)
        self.__dict__["_behind"] = behind

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *dir(self._behind)})


def fixed_datetime(now: real.datetime) -> ModuleType:
    """`datetime` where it is always `now` (taken as UTC where it names no zone).

    `datetime` and `date` are subclasses; objects of the real classes, which arithmetic and SQLite
    can give, are instances of them too.
    """
    moment = now if now.tzinfo else now.replace(tzinfo=real.UTC)

    class Looks(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, cls.__mro__[1])

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, cls.__mro__[1])

    class datetime(real.datetime, metaclass=Looks):  # noqa: N801
        @classmethod
        def now(cls, tz: real.tzinfo | None = None) -> Any:
            if tz is None:
                return cls.utcnow()
            at = moment.astimezone(tz)
            return cls.combine(at.date(), at.timetz())

        @classmethod
        def utcnow(cls) -> Any:
            at = moment.astimezone(real.UTC)
            return cls.combine(at.date(), at.time())

        @classmethod
        def today(cls) -> Any:
            return cls.utcnow()

        def __conform__(self, protocol: object) -> str | None:
            return self.isoformat(" ") if protocol is sqlite3.PrepareProtocol else None

    class date(real.date, metaclass=Looks):  # noqa: N801
        @classmethod
        def today(cls) -> Any:
            at = moment.astimezone(real.UTC)
            return cls(at.year, at.month, at.day)

        def __conform__(self, protocol: object) -> str | None:
            return self.isoformat() if protocol is sqlite3.PrepareProtocol else None

    for made in (datetime, date):
        made.__module__, made.__qualname__ = "datetime", made.__name__
    return Facade("datetime", real, {"datetime": datetime, "date": date})


def seeded_random(seed: int) -> ModuleType:
    """`random` whose functions share one generator of this seed; `Random()` begins with it too."""

    class Random(random.Random):
        def __init__(self, x: Any = None) -> None:
            super().__init__(seed if x is None else x)

        def seed(self, a: Any = None, version: int = 2) -> None:
            super().seed(seed if a is None else a, version)

    shared = Random()
    functions = {name: getattr(shared, name) for name in random.__all__ if name[0].islower()}
    return Facade("random", random, {**functions, "Random": Random, "SystemRandom": Random})


def seeded_numpy(seed: int) -> ModuleType:
    """`numpy` whose `random` begins with this seed wherever a program gives none."""
    shared = np.random.RandomState(seed)
    functions = {
        name: getattr(shared, name)
        for name in np.random.__all__
        if name[0].islower() and hasattr(shared, name)
    }

    def default_rng(given: Any = None) -> np.random.Generator:
        return np.random.default_rng(seed if given is None else given)

    def random_state(given: Any = None) -> np.random.RandomState:
        return np.random.RandomState(seed if given is None else given)

    def reseed(given: Any = None) -> None:
        shared.seed(seed if given is None else given)

    numbers = Facade(
        "numpy.random",
        np.random,
        {**functions, "default_rng": default_rng, "RandomState": random_state, "seed": reseed},
    )
    return Facade("numpy", np, {"random": numbers})
