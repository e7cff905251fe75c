"""One short family of errors. Each message names what went wrong, where, and what to do."""

from __future__ import annotations


class MemgeneError(Exception):
    """Base of every error memgene raises on purpose."""


class InputError(MemgeneError, ValueError):
    """An argument is unusable: wrong type, out of range, unknown name."""


class ConfigError(InputError):
    """A setting or lever is unknown, of the wrong type, or contradicts another."""


class StoredConfigError(ConfigError):
    """A stored configuration is unusable (`memgene.toml`, a `MEMGENE_*` variable, a genome);
    no argument of the call is to blame."""


class DataError(MemgeneError):
    """A data set or task folder is absent or malformed."""


class BankError(MemgeneError):
    """The memory bank cannot do what was asked (corrupt, locked, wrong format)."""


class EmbedderMismatchError(BankError):
    """The bank's vectors were made by another embedder; `memgene reembed` replaces them."""


class NotFoundError(MemgeneError, LookupError):
    """A named memory, candidate, run or file does not exist."""


class MissingDependencyError(MemgeneError, ImportError):
    """An optional part is used whose extra is not installed."""


class BudgetExhaustedError(MemgeneError):
    """A budget ran out; what was done until then is kept."""


class ModelError(MemgeneError):
    """A language model gave no reply, after retries: unreachable, timed out, refused, broken."""


class RequestRefusedError(ModelError):
    """A language model refuses this very request, as it will each time: too long for it, words or
    a parameter it does not take."""


class ReplyError(ModelError):
    """A language model's reply cannot be used: cut off, not the form asked for, empty."""


class RunError(MemgeneError):
    """An evaluation or evolution run cannot start, continue or be read."""
