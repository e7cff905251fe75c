"""The files of a bundle as they lie in a folder or a zip, read with suspicion and written alike.

A bundle may come from anyone. What is read here is bounded in size and number, lies in no other
place than the bundle, and is never run.
"""

from __future__ import annotations

import io
import re
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memgene.core import InputError, NotFoundError, StoredConfigError
from memgene.genome.parts import MEMORY, PROGRAM, PROMPTS, RETRIEVAL, ROUTER, STAGES

HEAD = "genome.toml"
SIGNATURE = "signature.toml"
ARCHIVES = (".zip", ".memgene")
"""Endings of bundles in one file."""

LARGEST = 64 * 1024 * 1024
"""Bytes of one file of a bundle, at most."""
LARGEST_WHOLE = 256 * 1024 * 1024
"""Bytes of all of them, and of the archive, at most."""
MOST_FILES = 500

_ORDER = (HEAD, RETRIEVAL, PROMPTS, PROGRAM, ROUTER, MEMORY)
_STAGE = re.compile(rf"{STAGES}/[a-z][a-z0-9_]{{0,39}}\.py")
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_ENCRYPTED = 0x1
_FIRST, _LAST, _LAST_BYTES = b"PK\x03\x04", b"PK\x05\x06", 22
"""How an archive begins, and how its last record does, which is that long without a comment."""
_COUNT = slice(10, 12)
"""Where the last record counts the entries."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
)
"""What zipfile raises for bytes that are no whole archive; they are in memory when it looks."""


@dataclass(frozen=True)
class StoredFiles:
    """What lies at `path`. `files`: those that a bundle may have, by name; `foreign`: the others,
    which are not read from a folder."""

    path: Path
    files: Mapping[str, bytes]
    foreign: tuple[str, ...] = ()

    def content(self, name: str) -> bytes:
        """A file. Raises NotFoundError when it is not there."""
        try:
            return self.files[name]
        except KeyError:
            raise NotFoundError(
                f"{self.path} has no {name}: it is not a genome bundle, or not a whole one"
            ) from None


def belongs(name: str) -> bool:
    """Whether a bundle may have a file of this name."""
    return name in _ORDER or name == SIGNATURE or _STAGE.fullmatch(name) is not None


def in_order(names: Iterable[str]) -> list[str]:
    """Names as they stand in a bundle: what is read first, the stages by name, the signature."""
    places = {name: place for place, name in enumerate(_ORDER)} | {SIGNATURE: len(_ORDER) + 1}
    return sorted(names, key=lambda name: (places.get(name, len(_ORDER)), name))


def read_stored(path: Path) -> StoredFiles:
    """The files of a folder or an archive. In a folder, names that begin with a dot are not looked
    at.

    Raises:
        NotFoundError: nothing is there.
        StoredConfigError: no archive, a damaged one, or one with a file too large, too many, a
            link, a name twice, or a name that leads out of it.
    """
    if path.is_dir():
        return _from_folder(path)
    if path.is_file():
        return _from_archive(path)
    raise NotFoundError(f"there is no genome bundle at {path}")


# -- folders


def _from_folder(path: Path) -> StoredFiles:
    files, foreign = {}, []
    room = _Room(path)
    for name, file in _inside(path):
        if file.is_symlink():
            raise StoredConfigError(f"{path}: {name} is a link; a genome bundle holds files alone")
        if not (belongs(name) and stat.S_ISREG(file.lstat().st_mode)):
            foreign.append(name)
            continue
        room.take(name, file.stat().st_size)
        files[name] = file.read_bytes()
    return StoredFiles(path, {name: files[name] for name in in_order(files)}, tuple(foreign))


def _inside(path: Path) -> Iterator[tuple[str, Path]]:
    """Entries of the folder and of its stages, by name."""
    for file in sorted(path.iterdir()):
        if file.name.startswith("."):
            continue
        if file.name == STAGES and file.is_dir() and not file.is_symlink():
            inner = sorted(each for each in file.iterdir() if not each.name.startswith("."))
            yield from ((f"{STAGES}/{each.name}", each) for each in inner)
        else:
            yield file.name, file


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Make the folder hold these files; those of a bundle that was there go.

    Raises InputError, and changes nothing, when it holds anything else.
    """
    path.mkdir(parents=True, exist_ok=True)
    there = [name for name, _ in _inside(path)]
    foreign = [name for name in there if not belongs(name)]
    if foreign:
        raise InputError(
            f"{path} holds {foreign[0]}, which is no part of a genome: save it to a folder of its "
            "own"
        )
    for name in there:
        if name not in files:
            (path / name).unlink()
    for name, content in files.items():
        file = path / name
        if file.is_symlink():  # writing through it would change a file elsewhere
            file.unlink()
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
    if not any(name.startswith(f"{STAGES}/") for name in files) and (path / STAGES).is_dir():
        shutil.rmtree(path / STAGES)


# -- archives


def zipped(files: Mapping[str, bytes]) -> bytes:
    """The archive of these files: equal files give equal bytes, whatever the platform, the clock
    and its zlib, for which nothing is compressed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _ZIP_TIME)
            entry.create_system = 3  # the same on every platform
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def _from_archive(path: Path) -> StoredFiles:
    if path.stat().st_size > LARGEST_WHOLE:
        raise StoredConfigError(f"{path} is larger than {LARGEST_WHOLE:,} bytes")
    content = path.read_bytes()
    _refuse_company(path, content)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _refuse_hidden(path, content, archive)
            found = dict(_members(path, archive))
    except StoredConfigError:
        raise
    except _BROKEN as error:
        raise StoredConfigError(f"{path} is not a zip file, or a damaged one: {error}") from error
    mine = in_order(name for name in found if belongs(name))
    foreign = tuple(name for name in found if not belongs(name))
    return StoredFiles(path, {name: found[name] for name in mine}, foreign)


def _refuse_company(path: Path, content: bytes) -> None:
    """An archive is all there is: a file that is also something else is not what it seems."""
    if not content.startswith(_FIRST):
        raise StoredConfigError(f"{path} is not a zip file, or a damaged one")
    if content[-_LAST_BYTES:][: len(_LAST)] != _LAST:
        raise StoredConfigError(
            f"{path} is damaged, or has something behind the archive: get the bundle anew"
        )


def _refuse_hidden(path: Path, content: bytes, archive: zipfile.ZipFile) -> None:
    """Entries are as many as the last record counts: a length in one of them may hide others."""
    counted = int.from_bytes(content[-_LAST_BYTES:][_COUNT], "little")
    if counted != len(archive.infolist()):
        raise StoredConfigError(
            f"{path} is damaged: it shows {len(archive.infolist())} of its {counted} entries"
        )


def _members(path: Path, archive: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise StoredConfigError(f"{path} holds {len(entries):,} files, more than {MOST_FILES}")
    seen: set[str] = set()
    room = _Room(path)
    for entry in entries:
        _refuse_entry(path, entry, seen)
        seen.add(entry.filename)
        if entry.filename == f"{STAGES}/":
            continue
        room.take(entry.filename, entry.file_size)
        with archive.open(entry) as file:
            content = file.read(entry.file_size + 1)
        if len(content) != entry.file_size:
            raise StoredConfigError(f"{path}: {entry.filename} is not as long as it says")
        yield entry.filename, content


def _refuse_entry(path: Path, entry: zipfile.ZipInfo, seen: set[str]) -> None:
    name = entry.orig_filename
    shown = f"{path}: the archive's entry {name!r}"
    parts = re.split(r"[/\\]", name)
    if name != entry.filename or ".." in parts or not parts[0] or ":" in name or "\\" in name:
        raise StoredConfigError(f"{shown} leads out of the bundle; do not use it")
    if name in seen:
        raise StoredConfigError(f"{shown} is there twice; one of the two is not what was stored")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG) and not entry.is_dir():
        raise StoredConfigError(f"{shown} is a link or device; a genome bundle holds files alone")
    if entry.flag_bits & _ENCRYPTED or entry.compress_type not in _METHODS:
        raise StoredConfigError(f"{shown} is encrypted, or compressed in a way that is not used")


class _Room:
    """How much of a bundle was read, against what it may hold."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files = 0
        self._bytes = 0

    def take(self, name: str, size: int) -> None:
        """Count a file before it is read. Raises StoredConfigError when it is too much."""
        self._files += 1
        self._bytes += size
        if size > LARGEST:
            raise StoredConfigError(f"{self._path}: {name} is larger than {LARGEST:,} bytes")
        if self._bytes > LARGEST_WHOLE or self._files > MOST_FILES:
            raise StoredConfigError(
                f"{self._path} holds more than {LARGEST_WHOLE:,} bytes or {MOST_FILES} files"
            )
