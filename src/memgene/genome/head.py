"""`genome.toml` of format 2: where a genome came from, and a digest of every file beside it.

`content` names the whole bundle: it hashes everything the head says, the digests included, so
that it can be signed.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memgene.core import StoredConfigError
from memgene.genome.stored import in_order

FORMAT = 2
Plain = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Score:
    """A result with its interval: on which split, over how many questions."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Origin:
    """Where a genome came from. `scores` are named `split/metric`; `fingerprints` names the data;
    `provenance` says how it was evolved."""

    strategy: str
    embedder: str
    parents: tuple[str, ...] = ()
    scores: Mapping[str, Score] = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, Plain] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of the manifest: the SHA-256 of its bytes, 64 hex digits, and their number."""

    sha256: str
    bytes: int


def entry_of(content: bytes) -> FileEntry:
    """The manifest's entry of a file."""
    return FileEntry(hashlib.sha256(content).hexdigest(), len(content))


@dataclass(frozen=True)
class Head:
    """What `genome.toml` says. `files` is the manifest: every file but the head itself and the
    signature over it."""

    id: str
    origin: Origin
    files: Mapping[str, FileEntry]
    content: str

    @classmethod
    def of(cls, name: str, origin: Origin, files: Mapping[str, bytes]) -> Head:
        """The head of a genome with this id and these files."""
        entries = {file: entry_of(content) for file, content in files.items()}
        return cls(name, origin, entries, content_of(_values(name, origin, entries)))

    def to_bytes(self) -> bytes:
        """The text of `genome.toml`; equal heads give equal bytes."""
        import tomli_w

        values = _values(self.id, self.origin, self.files)
        first = {"format": FORMAT, "id": self.id, "content": self.content}
        return tomli_w.dumps({**first, **values}).encode()

    @classmethod
    def read(cls, values: Mapping[str, Any], where: str) -> Head:
        """From the parsed text; `where` names the file.

        Raises StoredConfigError when an entry is missing, unknown or of another type, and when the
        head does not say what was stored.
        """
        try:
            found = _Head.model_validate(values)
            content = content_of(values)
        except ValidationError as error:
            first = error.errors()[0]
            at = ".".join(map(str, first["loc"]))
            raise StoredConfigError(f"{where} is damaged: {at}: {first['msg']}") from error
        except (TypeError, ValueError) as error:  # a date, which no entry of a head is
            raise StoredConfigError(f"{where} is damaged: {error}") from error
        if content != found.content:
            raise StoredConfigError(
                f"{where} does not say what was stored as genome {found.id}: it was edited"
            )
        return cls(found.id, found.origin(), found.entries(), found.content)


def parsed_head(content: bytes, where: str) -> dict[str, Any]:
    """The values of a `genome.toml` of any format, unchecked but for being TOML."""
    try:
        return tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise StoredConfigError(f"{where} is damaged: {error}") from error


def content_of(values: Mapping[str, Any]) -> str:
    """The content hash, 64 hex digits: SHA-256 of the head without `content`, as JSON with sorted
    keys and no spaces, in UTF-8."""
    said = {name: value for name, value in values.items() if name != "content"}
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _values(name: str, origin: Origin, files: Mapping[str, FileEntry]) -> dict[str, Any]:
    """All entries but `content`, in the order in which they are written."""
    return {
        "format": FORMAT,
        "id": name,
        "strategy": origin.strategy,
        "embedder": origin.embedder,
        "parents": list(origin.parents),
        "fingerprints": dict(sorted(origin.fingerprints.items())),
        "provenance": dict(sorted(origin.provenance.items())),
        "scores": {
            key: {
                "mean": float(score.mean),
                "low": float(score.low),
                "high": float(score.high),
                "n": score.n,
            }
            for key, score in sorted(origin.scores.items())
        },
        "files": {file: asdict(files[file]) for file in in_order(files)},
    }


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Score(_Strict):
    mean: float
    low: float
    high: float
    n: int


class _File(_Strict):
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)


class _Head(_Strict):
    """The form of format 2."""

    format: int = Field(ge=FORMAT, le=FORMAT)
    id: str = Field(pattern=r"^[0-9a-f]{12}$")
    content: str = Field(pattern=r"^[0-9a-f]{64}$")
    strategy: str
    embedder: str
    parents: list[str]
    fingerprints: dict[str, str]
    provenance: dict[str, Plain]
    scores: dict[str, _Score]
    files: dict[str, _File]

    def origin(self) -> Origin:
        """Where the genome came from."""
        scores = {name: Score(s.mean, s.low, s.high, s.n) for name, s in self.scores.items()}
        return Origin(
            self.strategy,
            self.embedder,
            tuple(self.parents),
            scores,
            self.fingerprints,
            self.provenance,
        )

    def entries(self) -> dict[str, FileEntry]:
        """The manifest."""
        return {name: FileEntry(file.sha256, file.bytes) for name, file in self.files.items()}
