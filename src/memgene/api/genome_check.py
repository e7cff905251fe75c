"""Whether a genome bundle is whole, who signed it, and whether it can be used here."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memgene.api.opening import load
from memgene.core import MemgeneError, MissingDependencyError
from memgene.genome.checking import Checked, check_bundle
from memgene.genome.keys import read_public
from memgene.genome.reading import Deviation
from memgene.genome.trust import SignatureState


@dataclass(frozen=True, slots=True)
class GenomeCheck:
    """What was found. `problems` say why it is not to be used, in words, one each; `deviations`
    those of them that are files missing, extra, changed or damaged; `notes` are no faults.

    `id`, `content` and `embedder` are None where they cannot be read; `signature` where there is
    none.
    """

    path: Path
    id: str | None
    content: str | None
    embedder: str | None
    deviations: tuple[Deviation, ...]
    signature: SignatureState | None
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against using it here."""
        return not self.problems

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "ok": self.ok,
            "path": str(self.path),
            "id": self.id,
            "content": self.content,
            "embedder": self.embedder,
            "deviations": [asdict(each) for each in self.deviations],
            "signature": None if self.signature is None else asdict(self.signature),
            "problems": list(self.problems),
            "notes": list(self.notes),
        }


def verify_genome(path: str | Path, *, key: str | Path | None = None) -> GenomeCheck:
    """Hold every file of a bundle against its manifest, its signature against its content, and
    load its embedder. Nothing of the bundle is run.

    `key`: the public key that must have signed it, as `ed25519:…` or the file that holds it.

    Raises NotFoundError when there is nothing at `path`, InputError or NotFoundError for a `key`
    that is none, MissingDependencyError for a `key` without the `sign` extra.
    """
    wanted = None if key is None else read_public(key)
    found = check_bundle(Path(path))
    problems = [_said(each) for each in found.deviations]
    problems += _signature_problems(found, wanted)
    problems += _use_problems(found)
    return GenomeCheck(
        path=Path(path),
        id=found.bundle.id if found.bundle else found.head.id if found.head else None,
        content=found.head.content if found.head else None,
        embedder=found.bundle.embedder if found.bundle else None,
        deviations=found.deviations,
        signature=found.signature,
        problems=tuple(problems),
        notes=found.notes,
    )


def _said(found: Deviation) -> str:
    if found.how == "damaged":
        return found.detail
    return f"{found.file} is {found.how}" + (f": {found.detail}" if found.detail else "")


def _signature_problems(found: Checked, wanted: str | None) -> list[str]:
    """A signature that is not true is a problem whoever asks; who must have signed, only where it
    is said."""
    signature = found.signature
    if signature is None:
        return [] if wanted is None else [f"it is not signed; {wanted} was to vouch for it"]
    problems = []
    if signature.true is False:
        problems.append(f"its signature is not true: {signature.why}")
    if wanted is not None and signature.true is None:
        raise MissingDependencyError(signature.why)
    if wanted is not None and signature.signer != wanted:
        problems.append(f"it is signed by {signature.signer}, not by {wanted}")
    return problems


def _use_problems(found: Checked) -> list[str]:
    if found.bundle is None:
        return []
    try:
        load(found.bundle.embedder)
    except MemgeneError as error:
        return [f"its embedder cannot be used here: {error}"]
    return []
