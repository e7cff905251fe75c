"""A bundle to another place or form, signed or migrated on the way."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memgene.genome import format1
from memgene.genome.bundle import GenomeBundle
from memgene.genome.keys import Signer
from memgene.genome.reading import read_genome, read_head, read_values
from memgene.genome.signature import Signature
from memgene.genome.stored import HEAD, SIGNATURE, StoredFiles, in_order, read_stored
from memgene.genome.writing import write_files


@dataclass(frozen=True, slots=True)
class Packed:
    """Where a genome went: its id, its content hash, bytes of its files, the signer's public key
    (None: not signed), and the format it had before, where that was an older one."""

    path: Path
    id: str
    content: str
    bytes: int
    signer: str | None
    migrated_from: int | None

    def model_dump(self) -> dict[str, Any]:
        """Plain values, as `memgene genome pack --json` prints them."""
        return {**asdict(self), "path": str(self.path)}


def pack_bundle(source: Path, target: Path, signer: Signer | None = None) -> Packed:
    """Write the bundle at `source` to `target`: a folder, or one file where the name ends in
    `.memgene` or `.zip`. It is checked first; nothing of it is run.

    A bundle of this format keeps every file, its content hash and its signature, which `signer`
    replaces; one of an older format is stored as this version stores it.

    Raises:
        NotFoundError, StoredConfigError: as `GenomeBundle.load` does of `source`.
        InputError: `target` is a folder that holds anything else.
    """
    stored = read_stored(source)
    read_genome(stored)
    old = read_values(stored)["format"] == format1.FORMAT
    fresh = StoredFiles(source, GenomeBundle.load(source).files()) if old else stored
    head = read_head(fresh, read_values(fresh))
    files = {**fresh.files, HEAD: head.to_bytes()}
    if signer is not None:
        files[SIGNATURE] = signer.sign(head.content).to_bytes()
    write_files(target, {name: files[name] for name in in_order(files)})
    return Packed(
        path=target,
        id=head.id,
        content=head.content,
        bytes=sum(map(len, files.values())),
        signer=Signature.read(files[SIGNATURE], SIGNATURE).signer if SIGNATURE in files else None,
        migrated_from=format1.FORMAT if old else None,
    )
