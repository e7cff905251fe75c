"""The genome bundle: everything that evolved, as a folder or a .zip. Loading runs no code."""

from __future__ import annotations

import hashlib
import io
import json
import tomllib
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memgene.core import ConfigError, DataError, NotFoundError, StoredConfigError, stable_id
from memgene.engine.learned import LearnedMemory
from memgene.genome.parts import MEMORY, PROGRAM, RETRIEVAL, ROUTER
from memgene.retrieval.config import RetrievalConfig, parsed
from memgene.retrieval.router.router import Router

FORMAT = 1
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_HEAD = "genome.toml"
_OPTIONAL = (PROGRAM, ROUTER, MEMORY)
_LARGEST = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Score:
    """A result with its interval: on which split, over how many questions."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class GenomeBundle:
    """An evolved memory. `scores` are named `split/metric`; `fingerprints` names the data.

    `program` is the source of an evolved program (None: the bank alone, by `config`); it is text
    here and runs in the sandbox only, where `config` says how its `toolkit.bank` retrieves.
    `memory` is what learning added to the memory it was learned with; it goes on where units of
    that memory are. The router of `config`, if any, is a file of its own.

    Equal content gives equal bytes: nothing here depends on the clock, the machine or a path.
    """

    config: RetrievalConfig
    embedder: str
    strategy: str
    parents: tuple[str, ...] = ()
    scores: Mapping[str, Score] = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    program: str | None = None
    memory: LearnedMemory | None = None

    @property
    def id(self) -> str:
        """A hash of what decides the memory's behaviour: the embedder, the levers that are not at
        their defaults, overrides, learned weights, the router. A lever that is new and off by
        default changes no id (docs/decisions/012). A program counts by its text, what the memory
        learned by its digest."""
        changed = self.config.difference(RetrievalConfig())
        own = {name: value for name, (value, _) in changed.items()}
        program = () if self.program is None else (self.program,)
        memory = () if self.memory is None else ("memory", self.memory.digest)
        return stable_id(json.dumps(own, sort_keys=True), self.embedder, *program, *memory)[:12]

    def files(self) -> dict[str, bytes]:
        """File names and contents, in order."""
        import tomli_w

        retrieval = self.config.to_toml()
        beside = self._beside()
        head: dict[str, Any] = {
            "format": FORMAT,
            "id": self.id,
            "content": _content(self.id, retrieval, self.embedder, beside),
            "strategy": self.strategy,
            "embedder": self.embedder,
            "parents": list(self.parents),
            "fingerprints": dict(sorted(self.fingerprints.items())),
            "provenance": dict(sorted(self.provenance.items())),
            "scores": {
                name: {"mean": s.mean, "low": s.low, "high": s.high, "n": s.n}
                for name, s in sorted(self.scores.items())
            },
        }
        if beside:
            head["files"] = list(beside)
        return {_HEAD: tomli_w.dumps(head).encode(), RETRIEVAL: retrieval.encode(), **beside}

    def _beside(self) -> dict[str, bytes]:
        """What is there beside the configuration, in a fixed order."""
        files: dict[str, bytes] = {}
        if self.program is not None:
            files[PROGRAM] = self.program.encode()
        if self.config.router is not None:
            files[ROUTER] = self.config.router.to_bytes()
        if self.memory is not None:
            files[MEMORY] = self.memory.to_jsonl().encode()
        return files

    def save(self, path: Path) -> Path:
        """Write the bundle to a folder, or to a `.zip` by its name. Existing files of the bundle
        are replaced."""
        path = Path(path)
        if path.suffix == ".zip":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self._zipped())
            return path
        path.mkdir(parents=True, exist_ok=True)
        for name, content in self.files().items():
            (path / name).write_bytes(content)
        return path

    def _zipped(self) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in self.files().items():
                entry = zipfile.ZipInfo(name, _ZIP_TIME)
                entry.external_attr = 0o644 << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, content)
        return buffer.getvalue()

    @classmethod
    def load(cls, path: Path) -> GenomeBundle:
        """Read a folder or a .zip.

        Raises:
            NotFoundError: nothing there, or a file of the bundle is missing.
            StoredConfigError: made by another format, damaged, or edited since it was stored.
        """
        path = Path(path)
        try:
            head = tomllib.loads(_text(path, _HEAD))
        except tomllib.TOMLDecodeError as error:
            raise StoredConfigError(f"{path}/{_HEAD} is damaged: {error}") from error
        if head.get("format") != FORMAT:
            raise StoredConfigError(
                f"{path} is a genome of format {head.get('format')!r}; this version reads {FORMAT}"
            )
        retrieval = _text(path, RETRIEVAL)
        try:
            beside = {name: _read(path, name) for name in _OPTIONAL if name in _listed(head)}
            bundle = cls(
                config=_config(path, retrieval, beside.get(ROUTER)),
                embedder=head["embedder"],
                strategy=head["strategy"],
                parents=tuple(head["parents"]),
                scores={n: Score(**s) for n, s in head["scores"].items()},
                fingerprints=head["fingerprints"],
                provenance=head["provenance"],
                program=_decoded(path, PROGRAM, beside),
                memory=_memory(path, beside),
            )
            unedited = _is_as_written(head, retrieval, beside)
        except (KeyError, TypeError, AttributeError) as error:
            raise StoredConfigError(f"{path}/{_HEAD} is damaged: {error!r}") from error
        if not unedited:
            raise StoredConfigError(
                f"{path} does not hold what was stored as genome {head['id']}: it was edited"
            )
        return bundle


def _listed(head: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(head.get("files", ()))


def _config(path: Path, retrieval: str, router: bytes | None) -> RetrievalConfig:
    where = f"{path}/{ROUTER}"
    given = None if router is None else Router.from_bytes(router, where)
    try:
        return RetrievalConfig.from_toml(retrieval, given)
    except ConfigError as error:
        raise StoredConfigError(f"{path}/{RETRIEVAL}: {error}") from error


def _memory(path: Path, beside: Mapping[str, bytes]) -> LearnedMemory | None:
    text = _decoded(path, MEMORY, beside)
    if text is None:
        return None
    try:
        return LearnedMemory.from_jsonl(text)
    except DataError as error:
        raise StoredConfigError(f"{path}/{MEMORY}: {error}") from error


def _content(name: str, retrieval: str, embedder: str, beside: Mapping[str, bytes]) -> str:
    """A hash of all that is stored, under a genome's id. Files that are no text count by their
    bytes' digest, so that a program counts by its text."""
    said = (
        hashlib.sha256(content).hexdigest() if name == ROUTER else content.decode()
        for name, content in beside.items()
    )
    return stable_id(name, retrieval, embedder, *said)[:12]


def _is_as_written(head: Mapping[str, Any], retrieval: str, beside: Mapping[str, bytes]) -> bool:
    """Whether the stored values are those that were hashed when they were written, whatever this
    version would write. Bundles without `content` hashed them into their id."""
    import tomli_w

    values = tomli_w.dumps(parsed(retrieval))
    if "content" in head:
        return bool(_content(head["id"], values, head["embedder"], beside) == head["content"])
    return bool(stable_id(values, head["embedder"])[:12] == head["id"])


def _decoded(path: Path, name: str, files: Mapping[str, bytes]) -> str | None:
    if name not in files:
        return None
    try:
        return files[name].decode()
    except UnicodeDecodeError as error:
        raise StoredConfigError(f"{path}/{name} is damaged: {error}") from error


def _text(path: Path, name: str) -> str:
    text = _decoded(path, name, {name: _read(path, name)})
    assert text is not None
    return text


def _read(path: Path, name: str) -> bytes:
    try:
        if path.is_dir():
            return (path / name).read_bytes()
        if path.is_file():
            with zipfile.ZipFile(path) as archive:
                if archive.getinfo(name).file_size > _LARGEST:
                    raise StoredConfigError(f"{path}: {name} is larger than {_LARGEST} bytes")
                return archive.read(name)
    except (FileNotFoundError, KeyError):
        raise NotFoundError(f"{path} has no {name}: it is not a genome bundle") from None
    except (zipfile.BadZipFile, zlib.error) as error:
        raise StoredConfigError(f"{path} is not a zip file, or a damaged one: {error}") from error
    raise NotFoundError(f"there is no genome bundle at {path}")
