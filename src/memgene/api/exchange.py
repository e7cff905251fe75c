"""Export and import of a memory: files and streams around `memgene.bank.portable`."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import IO

from memgene.api.results import ImportReceipt
from memgene.bank import open_bank
from memgene.bank.portable import export_jsonl, import_jsonl
from memgene.bank.protocol import Bank, EmbedderInfo
from memgene.core import DataError, InputError
from memgene.engine import MemoryEngine


def export(bank: Bank, target: str | Path | IO[str]) -> int:
    """Write the whole bank to a file or text stream; returns the number of units."""
    with opened(target, "w") as out:
        return export_jsonl(bank, out)


def read(engine: MemoryEngine, origin: str | Path | IO[str]) -> ImportReceipt:
    """Store what an export holds, in one transaction; one receipt per unit, in file order.

    Vectors of the engine's embedder are taken as they are; units with none, or another's, are
    embedded. Raises DataError naming the line that cannot be read; then nothing is stored.
    """
    own = engine.embedder
    made_by = None if own is None else EmbedderInfo(own.name, own.dimension)
    with opened(origin, "r") as lines:
        found = import_jsonl(engine.bank, lines, embedder=made_by, write=engine.write)
    return ImportReceipt.of(found)


def check(lines: IO[str]) -> None:
    """Read an export without keeping it. Raises DataError naming the line that cannot be read."""
    with closing(open_bank(":memory:")) as nowhere:
        import_jsonl(nowhere, lines)


def opened(place: str | Path | IO[str], mode: str) -> AbstractContextManager[IO[str]]:
    """The place to read ("r") or write ("w"); a stream is the caller's to close."""
    if isinstance(place, str | Path):
        if not str(place).strip():
            raise InputError("an export needs a file's name, got a blank one")
        try:
            return Path(place).open(mode, encoding="utf-8", newline="\n" if mode == "w" else None)
        except OSError as error:
            raise DataError(f"{place} cannot be opened: {error.strerror}") from error
    needed = "write" if mode == "w" else "read"
    if not callable(getattr(place, needed, None)):
        raise InputError(f"an export is a path or an open text file, not {place!r}")
    return nullcontext(place)
