"""One way in: the right bank for a path or a URL."""

from __future__ import annotations

import re
from pathlib import Path

from memgene.bank.protocol import Bank
from memgene.bank.sqlite import SqliteBank
from memgene.core import BankError, Clock, InputError, MissingDependencyError

_SCHEME = re.compile(r"([a-z][a-z0-9+]+):(.*)", re.DOTALL)
_POSTGRES = ("postgres", "postgresql")


def open_bank(where: str | Path, clock: Clock | None = None, busy_timeout: float = 30.0) -> Bank:
    """Open a bank, or create it: `:memory:`, a path, `sqlite:PATH` or `sqlite:///PATH`.

    `sqlite:///agent.db` is relative, `sqlite:////srv/agent.db` absolute, as in other tools.
    Raises MissingDependencyError for PostgreSQL, InputError for any other URL and what is no path,
    BankError where the system does not let it be used.
    """
    if not isinstance(where, str | Path):
        raise InputError(f"a bank needs a path, sqlite: or :memory:, got {where!r}")
    if not str(where).strip() or "\0" in str(where):
        raise InputError(f"{str(where)!r} names no file; give a path, sqlite: or :memory:")
    try:
        return _opened(where, clock, busy_timeout)
    except OSError as error:
        raise BankError(f"{where} cannot be opened: {error.strerror}") from error


def _opened(where: str | Path, clock: Clock | None, busy_timeout: float) -> Bank:
    found = _SCHEME.fullmatch(where) if isinstance(where, str) else None
    if found is None:
        return SqliteBank(where, clock, busy_timeout)
    scheme, rest = found.groups()
    if scheme == "sqlite":
        path = rest.removeprefix("///") if rest.startswith("///") else rest
        if not path or path.startswith("//"):
            raise InputError(f"{where!r} names no file; write sqlite:PATH or sqlite:///PATH")
        return SqliteBank(path, clock, busy_timeout)
    if scheme.split("+")[0] in _POSTGRES:
        raise MissingDependencyError(
            "banks on PostgreSQL are not part of this version yet; use a file path, "
            "which needs no server"
        )
    raise InputError(f"no bank is known for {scheme}: URLs; use a file path, sqlite: or :memory:")
