"""Whether a bundle is vouched for, and by whom."""

from __future__ import annotations

from dataclasses import dataclass

from memgene.core import MissingDependencyError, StoredConfigError
from memgene.genome.keys import is_true, read_public
from memgene.genome.signature import Signature
from memgene.genome.stored import SIGNATURE, StoredFiles


@dataclass(frozen=True, slots=True)
class SignatureState:
    """Who signed a bundle, as text of the public key, and whether the signature is true; None
    where that cannot be told here, and `why`."""

    signer: str
    true: bool | None
    why: str = ""


def signature_state(stored: StoredFiles) -> SignatureState | None:
    """The signature of a bundle; None where it has none. Raises StoredConfigError when its file
    is damaged."""
    if SIGNATURE not in stored.files:
        return None
    signature = Signature.read(stored.files[SIGNATURE], f"{stored.path}/{SIGNATURE}")
    try:
        true = is_true(signature)
    except MissingDependencyError as error:
        return SignatureState(signature.signer, None, str(error))
    return SignatureState(
        signature.signer, true, "" if true else "it was not made with this key over this genome"
    )


def require_signer(stored: StoredFiles, key: str) -> None:
    """Refuse a bundle that this public key (`ed25519:…`, or its file) does not vouch for.

    Raises StoredConfigError, naming who does; MissingDependencyError where it cannot be told.
    """
    wanted = read_public(key)
    found = signature_state(stored)
    if found is None:
        raise StoredConfigError(f"{stored.path} is not signed; {wanted} was to vouch for it")
    if found.signer != wanted:
        raise StoredConfigError(f"{stored.path} is signed by {found.signer}, not by {wanted}")
    if found.true is None:
        raise MissingDependencyError(found.why)
    if not found.true:
        raise StoredConfigError(f"the signature of {stored.path} is not true: {found.why}")
