"""Everything that can be told of a bundle's wholeness, without an end at the first fault."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memgene.core import ConfigError, NotFoundError
from memgene.genome import format1
from memgene.genome.bundle import GenomeBundle
from memgene.genome.head import Head
from memgene.genome.prompts import prompts_of, stored_prompts
from memgene.genome.reading import Deviation, deviations, read_head, read_values
from memgene.genome.stored import HEAD, SIGNATURE, StoredFiles, read_stored
from memgene.genome.trust import SignatureState, signature_state

DAMAGED = "damaged"


@dataclass(frozen=True)
class Checked:
    """What was found of a bundle. `bundle` is None where it cannot be loaded; `head` where it is
    of format 1, which has no manifest, or cannot be read. `signature` is None where it has none.
    `notes` are no faults."""

    path: Path
    deviations: tuple[Deviation, ...]
    bundle: GenomeBundle | None = None
    head: Head | None = None
    signature: SignatureState | None = None
    notes: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether every file is there and as it was stored."""
        return self.bundle is not None and not self.deviations


def check_bundle(path: Path) -> Checked:
    """Read a bundle and hold every file against the manifest; nothing of it is run.

    Raises NotFoundError when nothing is there.
    """
    if not path.exists():
        raise NotFoundError(f"there is no genome bundle at {path}")
    try:
        stored = read_stored(path)
    except ConfigError as error:
        return Checked(path, (Deviation(str(path), DAMAGED, str(error)),))
    try:
        values = read_values(stored)
    except (ConfigError, NotFoundError) as error:
        how = DAMAGED if HEAD in stored.files else "missing"
        return Checked(path, (Deviation(HEAD, how, str(error)),))
    if values["format"] == format1.FORMAT:
        bundle, fault = _loaded(path)
        return Checked(path, fault, bundle, notes=(_OLD,))
    return _against_manifest(stored, dict(values))


_OLD = (
    "a bundle of format 1 has no digests of its files and cannot be signed; "
    "`memgene genome pack` stores it anew"
)


def _against_manifest(stored: StoredFiles, values: dict[str, object]) -> Checked:
    path = stored.path
    try:
        head = Head.read(values, f"{path}/{HEAD}")
    except ConfigError as error:
        return Checked(path, (Deviation(HEAD, DAMAGED, str(error)),))
    found = deviations(stored, head)
    signature = None
    try:
        read_head(stored, values)
        signature = signature_state(stored)
    except ConfigError as error:
        found.append(Deviation(SIGNATURE, DAMAGED, str(error)))
    if found:
        return Checked(path, tuple(found), head=head, signature=signature)
    bundle, fault = _loaded(path)
    notes = () if bundle is None else _notes(stored, bundle)
    return Checked(path, fault, bundle, head, signature, notes)


def _loaded(path: Path) -> tuple[GenomeBundle | None, tuple[Deviation, ...]]:
    try:
        return GenomeBundle.load(path), ()
    except (ConfigError, NotFoundError) as error:
        return None, (Deviation(str(path), DAMAGED, str(error)),)


def _notes(stored: StoredFiles, bundle: GenomeBundle) -> tuple[str, ...]:
    """What is otherwise in this version than in the one that stored the genome."""
    now = prompts_of(bundle.config, bundle.program).styles
    then = stored_prompts(stored).styles
    return tuple(
        f"answer style {name} has other words in this version of memgene than when the genome was "
        "stored"
        for name in then
        if then[name] != now.get(name)
    )
