"""Genomes to hand on: packed into one file, signed, and the keys to sign with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgene.genome.keys import make_key, read_signer
from memgene.genome.packing import Packed, pack_bundle

__all__ = ["Packed", "SigningKey", "make_signing_key", "pack_genome"]


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key that was made: the file of its private half, and its public half as text."""

    path: Path
    public_key: str

    def model_dump(self) -> dict[str, Any]:
        """Plain values; the private half is in its file alone."""
        return {"path": str(self.path), "public_key": self.public_key}


def pack_genome(
    source: str | Path, target: str | Path, *, sign: str | Path | None = None
) -> Packed:
    """Write the bundle at `source` to `target`: one file where its name ends in `.memgene` or
    `.zip`, else a folder. A bundle of an older format is migrated on the way.

    `sign`: the file of a private key, as `make_signing_key` makes it, that signs it. Without it, a
    signature that is there stays.

    Raises NotFoundError or ConfigError for a bundle that is absent or unusable, NotFoundError or
    InputError for such a key, InputError for a target that holds anything else,
    MissingDependencyError for `sign` without that extra.
    """
    signer = None if sign is None else read_signer(Path(sign))
    return pack_bundle(Path(source), Path(target), signer)


def make_signing_key(path: str | Path) -> SigningKey:
    """Make an Ed25519 key: the private half in `path`, readable by its owner alone, the public half
    as text in `path`.pub.

    Raises InputError when one of the files is there, MissingDependencyError without the `sign`
    extra.
    """
    return SigningKey(Path(path), make_key(Path(path)))
